"""All evaluations of a run in some coordinates, as arrays for training."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.evaluation import Evaluation, Journal, Progress, Spent
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.forward_posterior import ForwardPosterior, Part, Runs
from rnshmc.inference.exact.likelihoods.compressed import Compression, make_compression
from rnshmc.inference.exact.placing import Floor, Placed
from rnshmc.inference.transforms import Transform
from rnshmc.inference.warp import Coordinates, Warp
from rnshmc.types import Array

REPORT_EVERY_S = 5.0
"""Seconds after which an incomplete batch reports its progress."""


@dataclass(frozen=True, eq=False)
class Training:
    """Points with finite values; a row of ``gradients`` is NaN where there is no gradient.

    ``runs`` at the points are the training data of an emulator of outputs; None where values are emulated.
    """

    points: Array
    values: Array
    gradients: Array
    runs: Runs | None = None

    def where(self, chosen: npt.NDArray[np.intp]) -> "Training":
        """The points with these indices."""
        runs = self.runs and self.runs.where(chosen)
        return Training(self.points[chosen], self.values[chosen], self.gradients[chosen], runs)


@dataclass(frozen=True, eq=False)
class Archive:
    """The exact potential in some coordinates, and all evaluations of a run, kept when it stops early."""

    evaluations: Evaluations
    coordinates: Coordinates
    """Coordinates of all points; ``evaluations`` are in the user's."""
    journal: Journal
    given: tuple[Evaluation, ...]
    """Evaluations known at the beginning of the run."""
    progress: Callable[[Progress], None]
    """Called after each batch, and regularly during a long one."""
    emulating: bool
    """Whether the outputs of a forward model are learnt."""
    compression: Compression | None
    """Compression of very many outputs; None where the outputs themselves are emulated."""
    _placed: Placed
    part: Part | None = None
    """Added to the potential, so that the density is a mode's part of the posterior; None for all of it."""
    left_out: frozenset[bytes] = frozenset()
    """Points, as bytes, that are not in `training`."""

    @classmethod
    def of(
        cls,
        evaluations: Evaluations,
        transform: Transform | None = None,
        *,
        given: tuple[Evaluation, ...] | None = None,
        progress: Callable[[Progress], None] = lambda _: None,
    ) -> "Archive":
        """The archive at the beginning of a run; transform and given evaluations are by default ``evaluations``'s."""
        forward_posterior, given = evaluations.forward_posterior, evaluations.given if given is None else given
        coordinates = Coordinates(evaluations.transform if transform is None else transform)
        compression = make_compression(forward_posterior.observed) if forward_posterior else None
        placed = Placed(coordinates, given, forward_posterior)
        emulating = forward_posterior is not None
        return cls(evaluations, coordinates, Journal(), given, progress, emulating, compression, placed)

    def seen(self, bend: Warp) -> "Archive":
        """All evaluations, and the whole density, in coordinates with another bend."""
        coordinates = replace(self.coordinates, bend=bend)
        placed = Placed(coordinates, self.evaluations.record, self.forward_posterior)
        return replace(self, coordinates=coordinates, _placed=placed, part=None, left_out=frozenset())

    def without(self, points: Array) -> "Archive":
        """The archive with exactly these points, rows of (k, d), left out of `training`."""
        return replace(self, left_out=frozenset(np.ascontiguousarray(point).tobytes() for point in points))

    @property
    def bend(self) -> Warp:
        """Bend of the coordinates."""
        return self.coordinates.bend

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return self.coordinates.dim

    @property
    def has_gradient(self) -> bool:
        """Whether gradients can be requested, and are used for training."""
        return self.evaluations.has_gradient and not self.emulating

    @property
    def forward_posterior(self) -> ForwardPosterior | None:
        """The posterior of a forward model; None where the target is a density."""
        return self.evaluations.forward_posterior

    def has_enough_runs(self, fewest: int) -> bool:
        """Whether outputs are learnt, and the given runs suffice for an emulator: ``fewest`` + d."""
        if self.forward_posterior is None or not self.emulating:
            return False
        return len({self.forward_posterior.key(one.point).tobytes() for one in self.given}) >= fewest + self.dim

    @property
    def lowest(self) -> Evaluation:
        """The known evaluation with the lowest potential."""
        return self._of_part([min(self._placed.by_point.values(), key=lambda one: one.value)], 1.0)[0]

    @property
    def noise(self) -> float:
        """Largest relevant standard deviation of the noise of values; 0 where none was measured."""
        known = self._placed.by_point.values()
        return max((sd for sd, to in self.journal.noise if all(one.value >= to for one in known)), default=0.0)

    @property
    def spent(self) -> Spent:
        """Evaluations made so far."""
        return self.evaluations.spent

    def note_error(self, error: float) -> None:
        """Keep sd(U - V) at draws of a surrogate."""
        self.journal.training_errors.append((self.spent.units, error))

    def affordable(self, points: Array) -> int:
        """Number of rows of ``points``, from the first on, whose values are known or that the budget still allows."""
        return self.evaluations.affordable(self._placed.parameters(points, gradient=False))

    @property
    def units_left(self) -> int:
        """Units that may still be spent."""
        return self.evaluations.units_left

    @property
    def failures(self) -> tuple[Counter[str], int]:
        """Counts of the reasons of failures, and the number of all evaluations, of this run and earlier ones."""
        known = self._placed.by_point.values()
        return Counter(one.failure for one in known if one.failure is not None), len(known)

    def zeros(self, *, failed: bool = False) -> Array:
        """Points where the density is zero, or with ``failed`` where the evaluation failed, too; shape (n, d)."""
        zero, known = self._placed.floor.repeated, self._placed.by_point.values()
        found = [one.point for one in known if one.value >= zero and (failed or not one.failed)]
        return np.array(found).reshape(-1, self.dim)

    @property
    def floor(self) -> Floor:
        """Height of potentials that stand for a density of zero."""
        return self._placed.floor

    @property
    def floored(self) -> tuple[float, int] | None:
        """Largest log density that stands for zero, and the number of such points; None where there is none."""
        values = [one.value for one in self._placed.by_point.values() if self.floor.level <= one.value < math.inf]
        return (-min(values), len(values)) if values else None

    def evaluate(self, points: Array, stage: str, *, gradient: bool = True) -> list[Evaluation]:
        """Evaluate the rows of ``points`` and return the evaluations in their order.

        Raises `BudgetSpent` if the budget does not suffice for all; completed evaluations are kept.
        """
        start, reported, gradient = self.spent, time.monotonic(), gradient and self.has_gradient
        points = np.ascontiguousarray(points)
        asked = self._placed.parameters(points, gradient=gradient)
        arrived: dict[bytes, Evaluation] = {}
        kept: list[Evaluation] = []
        try:
            for found in self.evaluations.evaluate(asked, gradient=gradient):
                arrived[found.point.tobytes()] = found
                if time.monotonic() - reported > REPORT_EVERY_S:
                    reported = time.monotonic()
                    self._report(stage)
        finally:
            # In the order of the points, not of arrival: surrogates are the same with any workers.
            for point, x in zip(points, asked, strict=True):
                if (key := x.tobytes()) in arrived:
                    kept.append(self._placed.add(arrived[key], point))
            by_stage = self.journal.by_stage
            by_stage[stage] = by_stage.get(stage, Spent()) + (self.spent - start)
            self._report(stage)
        return self._of_part(self._counted(kept), 1.0)

    def _report(self, stage: str) -> None:
        self.progress(Progress(stage, self.spent, self.journal.surrogate_error, self.journal.expected_units))

    def change(self, first: Evaluation, other: Evaluation) -> float:
        """Distance of the outputs of two runs, in units of their errors; NaN where one failed."""
        forward_posterior = self.forward_posterior
        if forward_posterior is None or first.run is None or other.run is None or not np.isfinite(other.value):
            return math.nan
        own = self.coordinates.parameters(first.point)[None, forward_posterior.inputs :]
        observed = forward_posterior.observed
        before, after = (observed.predictors(run.outputs[None]) for run in (first.run, other.run))
        weights = observed.curvatures(before, own)[0]
        return float(np.sqrt(weights @ (after - before)[0] ** 2))

    def keep_difference(self, found: Evaluation) -> None:
        """Keep a gradient computed from differences of values: for a Hessian, not for training."""
        self._placed.differences += self._of_part([found], -1.0)

    def whole(self, points: Array, values: Array) -> Array:
        """Potentials (k,) at the rows of ``points``, from those with the part added."""
        return values if self.part is None or not len(points) else values - self.part(points)[0]

    def training(self) -> Training:
        """All points with finite values that are not left out."""
        kept = self._counted(one for key, one in self._placed.by_point.items() if key not in self.left_out)
        there = [one for one in kept if np.isfinite(one.value)]
        arrays, forward_posterior = _arrays(self._of_part(there, 1.0), self.dim), self.forward_posterior
        if forward_posterior is None or not self.emulating:
            return arrays
        rows = [found.run.outputs for found in there if found.run]
        runs = Runs(rows, forward_posterior, self.coordinates.transform, self.compression, self.part)
        return replace(arrays, runs=runs)

    def slopes(self) -> Training:
        """Points with gradients or difference quotients."""
        known = self._counted((*self._placed.by_point.values(), *self._placed.differences))
        return _arrays(self._of_part([found for found in known if found.gradient is not None], 1.0), self.dim)

    def _counted(self, found: Iterable[Evaluation]) -> list[Evaluation]:
        """Evaluations with a density of zero where a huge negative log density stands for zero."""
        return [self.floor.without_density(one) for one in found]

    def _of_part(self, found: list[Evaluation], sign: float) -> list[Evaluation]:
        """Evaluations with the part added to the potential; subtracted if the sign is -1."""
        if self.part is None or not found:
            return found
        values, gradients = self.part(np.array([one.point for one in found]))
        return [
            replace(one, value=one.value + value, gradient=None if one.gradient is None else one.gradient + gradient)
            for one, value, gradient in zip(found, sign * values, sign * gradients, strict=True)
        ]


def _arrays(found: list[Evaluation], dim: int) -> Training:
    none = np.full(dim, np.nan)
    return Training(
        np.array([one.point for one in found]).reshape(-1, dim),
        np.array([one.value for one in found]),
        np.array([none if one.gradient is None else one.gradient for one in found]).reshape(-1, dim),
    )
