"""Scales of coordinates: the distance over which the potential changes by about one.

A step of given length may be a millionth of an unknown standard deviation, or a million of them. Steps along each
coordinate therefore grow or shrink until the potential changes by about one, or by more than its rounding, and no step
is predicted to change it more.
"""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.noise import noise_at
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_start import Search
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class _Sides:
    """Changes of the potential over the steps ``sizes`` along each coordinate, ahead and behind, shape (d,)."""

    sizes: Array
    ahead: Array
    behind: Array

    @property
    def slopes(self) -> Array:
        return np.asarray((self.ahead - self.behind) / (2.0 * self.sizes))

    @property
    def curvatures(self) -> Array:
        return np.asarray((self.ahead + self.behind) / self.sizes**2)

    @property
    def changes(self) -> Array:
        """The larger absolute change of the two sides; infinite where one of them is."""
        return np.maximum(np.abs(self.ahead), np.abs(self.behind))

    def factors(self) -> Array:
        """Factors with which steps would change a quadratic potential by one."""
        linear, square = 0.5 * np.abs(self.ahead - self.behind), 0.5 * np.abs(self.ahead + self.behind)
        return np.asarray(2.0 / (linear + np.hypot(linear, 2.0 * np.sqrt(square)) + np.finfo(float).tiny))


def search_scales(
    archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str
) -> tuple[Whitening, Evaluation]:
    """Coordinates in which the potential has a curvature of about one along each axis, and the gradient at the start.

    A round of steps takes 2 d values. Two or three rounds usually suffice.

    Parameters
    ----------
    first
        The start, of finite potential.
    coordinates
        Their axes are searched, and their units are those of the first steps.

    Returns
    -------
    The scaled coordinates, and ``first`` with a gradient by central differences unless it has one.

    Raises
    ------
    ParameterError
        If the density is the same everywhere.
    """
    sides, floor = _sides(archive, first, coordinates, tuning, stage)
    return _scaled(archive, first, coordinates, sides, floor, tuning.search)


def search_falls(
    archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str
) -> tuple[Whitening, float]:
    """Coordinates in which the density falls by a few units over a step of one along each axis, from a mode.

    Curvatures say nothing of that where the density has a kink, as |x| at 0. Parameters and errors are those
    of `search_scales`.

    Returns
    -------
    The coordinates, and the length of the gradient in them, by differences over these steps.
    """
    sides, floor = _sides(archive, first, coordinates, tuning, stage)
    felt = np.isfinite(sides.changes) & (sides.changes > floor)
    with np.errstate(invalid="ignore", over="ignore"):
        scales = np.where(felt, sides.sizes * sides.factors(), sides.sizes)
        slopes = np.where(felt, sides.slopes * scales, 0.0)
    return Whitening(first.point, coordinates.factor / scales), float(np.linalg.norm(slopes))


def _sides(
    archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str
) -> tuple[_Sides, float]:
    """Changes over steps that change the potential by about one, and the change that is no more than noise."""
    dim, search = archive.dim, tuning.search
    axes = coordinates.steps(np.eye(dim))
    sizes, most = np.full(dim, search.first), np.full(dim, np.inf)
    ahead, behind = np.zeros(dim), np.zeros(dim)
    noise = noise_at(archive, first, axes.sum(axis=0), tuning.noise, stage)
    rounding = search.resolved * (1.0 + abs(first.value))
    low = max(search.low, search.above_noise * max(noise, rounding))
    floor = max(rounding, 3.0 * noise)
    active = np.arange(dim)
    for _ in range(search.rounds):
        steps = sizes[active, None] * axes[active]
        found = archive.evaluate(np.concatenate((first.point + steps, first.point - steps)), stage, gradient=False)
        values = np.array([one.value for one in found]) - first.value
        ahead[active], behind[active] = values[: len(active)], values[len(active) :]
        sides = _Sides(sizes.copy(), ahead, behind)
        factors = _growth(sides, floor, low, search)
        most = np.where(factors < 1.0, np.minimum(most, sizes), most)
        # The next step is between one that was too short and one that was too long.
        factors = np.where((factors > 1.0) & (factors * sizes >= most), np.sqrt(most / sizes), factors)
        done = (factors == 1.0) | ((factors > 1.0) & (factors < 2.0))
        active = np.flatnonzero(~done)
        if not len(active):
            break
        sizes = np.where(done, sizes, sizes * factors)
    return sides, floor


def _growth(sides: _Sides, floor: float, lowest: float, tuning: Search) -> Array:
    """Factors for the next steps; one where the change of the potential is within the limits."""
    changes, factors = sides.changes, np.full(len(sides.sizes), tuning.shrinkage)
    finite = np.isfinite(changes)
    with np.errstate(invalid="ignore"):
        predicted = sides.factors()
    factors[finite] = np.clip(predicted[finite], 1.0 / tuning.most_growth**3, 0.5)
    low = finite & (changes < lowest)
    factors[low] = np.clip(predicted[low], tuning.least_growth, tuning.most_growth)
    factors[changes <= floor] = tuning.blind_growth
    factors[(changes >= lowest) & (changes <= tuning.high / tuning.low * lowest)] = 1.0
    return factors


def _scaled(
    archive: Archive, first: Evaluation, coordinates: Whitening, sides: _Sides, floor: float, tuning: Search
) -> tuple[Whitening, Evaluation]:
    finite = np.isfinite(sides.changes)
    if not finite.any():
        raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
    if (sides.changes <= floor).all():
        raise ParameterError(
            f"target: the log density is {-first.value:g} at x0 and at all points around it, up to "
            f"{sides.sizes.max():.3g} times the size of a parameter away: it does not depend on the parameters"
        )
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        scales = np.clip(np.abs(sides.curvatures) ** -0.5, tuning.narrow * sides.sizes, tuning.wide * sides.sizes)
    scales = np.where(finite, scales, sides.sizes)
    if first.gradient is None:
        with np.errstate(invalid="ignore"):
            slopes = np.where(finite, sides.slopes, 0.0)
        first = Evaluation(first.point, first.value, coordinates.factor @ slopes, None)
        archive.keep_difference(first)
    return Whitening(first.point, coordinates.factor / scales), first
