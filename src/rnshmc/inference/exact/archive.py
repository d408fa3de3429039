"""All evaluations of a run, as arrays for training."""

import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rnshmc.inference.bend import STRAIGHT, Bend, BentTransform
from rnshmc.inference.exact.account import REPORT_EVERY_S, Progress
from rnshmc.inference.exact.compression import make_compression
from rnshmc.inference.exact.evaluation import Evaluation, Spent, usable
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.floor import Floor
from rnshmc.inference.exact.posed import Posed
from rnshmc.inference.exact.runs import Runs
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Training:
    """Points with finite values; a row of ``gradients`` is NaN where there is no gradient.

    ``runs`` are those of a forward model at the points, where outputs are what is learnt; None where values are.
    """

    points: Array
    values: Array
    gradients: Array
    runs: Runs | None = None

    def where(self, chosen: npt.NDArray[np.intp]) -> "Training":
        """The points with these indices."""
        runs = self.runs and self.runs.where(chosen)
        return Training(self.points[chosen], self.values[chosen], self.gradients[chosen], runs)


class Archive:
    """Makes and keeps evaluations, so that none is lost when a run stops early.

    Parameters
    ----------
    evaluations
        The exact potential.
    progress
        Called after each batch, and during one that takes long.

    Attributes
    ----------
    training_errors
        Units spent so far and sd(U - V), of each batch of draws of a surrogate.
    part
        What is added to the potential, so that the density is the part of it that is a mode's; None where it is learnt
        as it is. What is kept is the potential itself.
    emulating
        Whether the outputs of a forward model are learnt; set to False when that has failed.
    """

    def __init__(self, evaluations: Evaluations, progress: Callable[[Progress], None]) -> None:
        self._evaluations = evaluations
        self._progress = progress
        self._by_point: dict[bytes, Evaluation] = {}
        self._floor = self._new_floor()
        for found in evaluations.known:
            self._keep(found)
        self._differences: list[Evaluation] = []
        self.by_stage: dict[str, Spent] = {}
        self.training_errors: list[tuple[int, float]] = []
        self._noise: tuple[tuple[float, float], ...] = ()
        self.part: Callable[[Array], tuple[Array, Array]] | None = None
        self.emulating = evaluations.posed is not None
        self._compression = make_compression(evaluations.posed.observed) if evaluations.posed else None
        self.expected_units: int | None = None
        self.bend = STRAIGHT
        self._left_out: frozenset[bytes] = frozenset()

    def go_over(self, bend: Bend) -> None:
        """Go over to bent coordinates: all points, of earlier and later evaluations, are in these from now on."""
        self._evaluations = self._evaluations.bounded(BentTransform.of(self._evaluations.transform, bend))
        self.bend = bend
        self._by_point, self._differences, self._floor = {}, [], self._new_floor()
        for found in self._evaluations.known:
            self._keep(found)

    def straight(self) -> Training:
        """`training` in coordinates without a bend."""
        plain = BentTransform.of(self._evaluations.transform, STRAIGHT)
        kept: dict[bytes, Evaluation] = {}
        for found in self._evaluations.bounded(plain).known:
            if found.point.tobytes() not in kept or found.gradient is not None:
                kept[found.point.tobytes()] = found
        return _arrays([one for one in self._counted(kept.values()) if np.isfinite(one.value)], self.dim)

    @property
    def dim(self) -> int:
        """Dimension of the unconstrained space."""
        return self._evaluations.dim

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be asked for, and are learnt from."""
        return self._evaluations.has_gradient and not self.emulating

    @property
    def posed(self) -> Posed | None:
        """How the potential is read off runs of a forward model; None where the target is a density."""
        return self._evaluations.posed

    @property
    def data(self) -> int:
        """Number of data of a forward model; 0 where the target is a density."""
        return 0 if self.posed is None else len(self.posed.observed.present)

    def served(self, fewest: int) -> bool:
        """Whether outputs are learnt, and known runs serve (`Evaluations.served`)."""
        return self.emulating and self._evaluations.served(fewest)

    @property
    def lowest(self) -> Evaluation:
        """Where the potential is lowest, of all that is known."""
        return self._shifted([min(self._by_point.values(), key=lambda one: one.value)], 1.0)[0]

    @property
    def noise(self) -> float:
        """Largest standard deviation of the noise of values that counts; 0 where none was measured."""
        known = self._by_point.values()
        return max((sd for sd, to in self._noise if all(one.value >= to for one in known)), default=0.0)

    def feel_noise(self, sd: float, *, down_to: float = -math.inf) -> None:
        """Keep a measured noise of values, which counts as long as no potential below ``down_to`` is known."""
        self._noise = (*self._noise, (sd, down_to))

    @property
    def spent(self) -> Spent:
        """What was spent so far."""
        return self._evaluations.spent

    @property
    def surrogate_error(self) -> float:
        """sd(U - V) at the latest draws of a surrogate; NaN before any."""
        return self.training_errors[-1][1] if self.training_errors else math.nan

    @surrogate_error.setter
    def surrogate_error(self, error: float) -> None:
        self.training_errors.append((self.spent.units, error))

    def affordable(self, points: Array) -> int:
        """Number of rows of ``points``, from the first on, whose values are known or that the budget still allows."""
        return self._evaluations.affordable(points, gradient=False)

    @property
    def units_left(self) -> int:
        """Units that the budget still allows; of any size without a budget."""
        return sys.maxsize if self._evaluations.budget is None else self._evaluations.budget - self.spent.units

    @property
    def failures(self) -> tuple[Counter[str], int]:
        """Reasons of failures, each with how often, and the number of all evaluations, of this run and earlier ones."""
        return Counter(one.failure for one in self._by_point.values() if one.failure is not None), len(self._by_point)

    def zeros(self, *, failed: bool = False) -> Array:
        """Points where the density is zero, and those where the evaluation failed if asked for, shape (n, d)."""
        zero, known = self._floor.repeated, self._by_point.values()
        found = [one.point for one in known if one.value >= zero and (failed or not one.failed)]
        return np.array(found).reshape(-1, self.dim)

    @property
    def floored(self) -> tuple[float, int] | None:
        """Largest log density that stands for zero, and the number of points with such; None where there is none."""
        values = [one.value for one in self._by_point.values() if self._floor.level <= one.value < math.inf]
        return (-min(values), len(values)) if values else None

    def evaluate(self, points: Array, stage: str, *, gradient: bool = True) -> list[Evaluation]:
        """Evaluate the rows of ``points`` and return the evaluations in their order.

        Raises
        ------
        BudgetSpent
            If the budget does not suffice for all; completed evaluations are kept.
        """
        start, reported = self.spent, time.monotonic()
        arrived: dict[bytes, Evaluation] = {}
        try:
            for arriving in self._evaluations.evaluate(points, gradient=gradient and self.has_gradient):
                found = usable(arriving)
                arrived[found.point.tobytes()] = found
                if time.monotonic() - reported > REPORT_EVERY_S:
                    reported = time.monotonic()
                    self._report(stage)
        finally:
            # In the order of the points, not of arrival: surrogates are the same with any workers.
            for point in points:
                if (key := np.ascontiguousarray(point).tobytes()) in arrived:
                    self._keep(arrived[key])
            self.by_stage[stage] = self.by_stage.get(stage, Spent()) + (self.spent - start)
            self._report(stage)
        found_there = self._counted(arrived[np.ascontiguousarray(point).tobytes()] for point in points)
        return self._shifted(found_there, 1.0)

    def change(self, first: Evaluation, other: Evaluation) -> float:
        """How far the outputs of two runs are apart, in units of their errors; NaN where there is a failed one."""
        posed = self._evaluations.posed
        if posed is None or first.run is None or other.run is None or not np.isfinite(other.value):
            return math.nan
        own = self._evaluations.transform.parameters(first.point)[None, posed.inputs :]
        before, after = (posed.observed.predictors(one.run.outputs[None]) for one in (first, other) if one.run)
        weights = posed.observed.curvatures(before, own)[0]
        return float(np.sqrt(weights @ (after - before)[0] ** 2))

    def keep_difference(self, found: Evaluation) -> None:
        """Keep a gradient computed from differences of values: good for a Hessian, not for training."""
        self._differences += self._shifted([found], -1.0)

    def whole(self, points: Array, values: Array) -> Array:
        """Potentials (k,) at the rows of ``points``, from those of the part that is learnt."""
        return values if self.part is None or not len(points) else values - self.part(points)[0]

    def leave_out(self, points: Array) -> None:
        """Leave points, the rows of (k, d), and no others, out of `training` from now on."""
        self._left_out = frozenset(np.ascontiguousarray(point).tobytes() for point in points)

    def training(self) -> Training:
        """All points with finite values that are not left out."""
        kept = self._counted(one for key, one in self._by_point.items() if key not in self._left_out)
        there = [one for one in kept if np.isfinite(one.value)]
        arrays, posed = _arrays(self._shifted(there, 1.0), self.dim), self.posed
        if posed is None or not self.emulating:
            return arrays
        rows = [found.run.outputs for found in there if found.run]
        return replace(arrays, runs=Runs(rows, posed, self._evaluations.transform, self._compression))

    def slopes(self) -> Training:
        """Points with gradients or difference quotients."""
        known = self._counted((*self._by_point.values(), *self._differences))
        return _arrays(self._shifted([found for found in known if found.gradient is not None], 1.0), self.dim)

    def _counted(self, found: Iterable[Evaluation]) -> list[Evaluation]:
        """With a density of zero where a huge negative log density stands for that."""
        return [self._floor.without_density(one) for one in found]

    def _new_floor(self) -> Floor:
        return Floor(outputs=self.posed is not None)

    def _shifted(self, found: list[Evaluation], sign: float) -> list[Evaluation]:
        """With what the part that is learnt adds to the potential, or with sign -1 without it."""
        if self.part is None or not found:
            return found
        values, gradients = self.part(np.array([one.point for one in found]))
        return [
            replace(one, value=one.value + value, gradient=None if one.gradient is None else one.gradient + gradient)
            for one, value, gradient in zip(found, sign * values, sign * gradients, strict=True)
        ]

    def _keep(self, found: Evaluation) -> None:
        """Keep one evaluation per point, preferably with a gradient."""
        self._floor.see(found)
        known = self._by_point.get(found.point.tobytes())
        if known is None or known.gradient is None:
            self._by_point[found.point.tobytes()] = found

    def _report(self, stage: str) -> None:
        self._progress(Progress(stage, self.spent, self.surrogate_error, self.expected_units))


def _arrays(found: list[Evaluation], dim: int) -> Training:
    none = np.full(dim, np.nan)
    return Training(
        np.array([one.point for one in found]).reshape(-1, dim),
        np.array([one.value for one in found]),
        np.array([none if one.gradient is None else one.gradient for one in found]).reshape(-1, dim),
    )
