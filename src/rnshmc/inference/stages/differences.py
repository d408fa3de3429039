"""Differences of values: the scale of each coordinate, the noise of values, and gradients where there are none.

A step of given length may be a millionth of an unknown standard deviation, or a million of them. Steps along each
coordinate therefore grow or shrink until the potential changes by about one, or by more than its rounding, and no step
is predicted to change it more.
"""

import logging
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.surrogate.gradient_kernel import NUGGETS, GradientKernel
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_result import Judging
from rnshmc.inference.tuning_shared import BATCH, SURPRISE, TOLERATED
from rnshmc.inference.tuning_start import Differences, Noise, Search
from rnshmc.types import Array

_log = logging.getLogger(__name__)

FELT = (0.5 * Differences.step) ** 2
"""Standard deviation of noise above which differences and descents allow for it: see `difference_step`."""


@dataclass(frozen=True, eq=False)
class _Changes:
    """Changes of the potential over steps of ``sizes`` along each coordinate, ahead and behind, each (d,).

    ``floor`` is the largest change that may be noise or rounding.
    """

    sizes: Array
    ahead: Array
    behind: Array
    floor: float

    @property
    def slopes(self) -> Array:
        return np.asarray((self.ahead - self.behind) / (2.0 * self.sizes))

    @property
    def largest(self) -> Array:
        """The larger absolute change of the two sides; infinite where one of them is."""
        return np.maximum(np.abs(self.ahead), np.abs(self.behind))

    def factors(self) -> Array:
        """Factors by which to scale steps so that a quadratic potential changes by one."""
        linear, square = 0.5 * np.abs(self.ahead - self.behind), 0.5 * np.abs(self.ahead + self.behind)
        return np.asarray(2.0 / (linear + np.hypot(linear, 2.0 * np.sqrt(square)) + np.finfo(float).tiny))


def search_scales(
    archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str
) -> tuple[Whitening, Evaluation]:
    """Coordinates in which the potential has a curvature of about one along each axis, and the gradient at the start.

    A round of steps along the axes of ``coordinates``, in their units, takes 2 d values. Two or three rounds usually
    suffice. The start, ``first``, is returned with a gradient by central differences unless it has one. Raises
    ParameterError if the density is constant, or zero next to the start.
    """
    changes, search = _changes(archive, first, coordinates, tuning, stage), tuning.search
    finite, sizes = np.isfinite(changes.largest), changes.sizes
    if not finite.any():
        raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
    if (changes.largest <= changes.floor).all():
        raise ParameterError(
            f"target: the log density is {-first.value:g} at x0 and at all points around it, up to "
            f"{sizes.max():.3g} times the size of a parameter away: it does not depend on the parameters"
        )
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        curvatures = (changes.ahead + changes.behind) / sizes**2
        scales = np.clip(1.0 / np.sqrt(np.abs(curvatures)), search.shrinkage * sizes, search.growth * sizes)
        scales, slopes = np.where(finite, scales, sizes), np.where(finite, changes.slopes, 0.0)
    if first.gradient is None:
        first = Evaluation(first.point, first.value, coordinates.factor @ slopes, None)
        archive.keep_difference(first)
    return Whitening(first.point, coordinates.factor / scales), first


def search_decay_scales(
    archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str
) -> tuple[Whitening, float]:
    """Coordinates in which the density falls by a few units over a step of one along each axis, from a mode.

    Curvatures do not show that scale where the density has a kink, as |x| at 0. Also returns the length of the gradient
    in these coordinates, by differences over the steps.
    """
    changes = _changes(archive, first, coordinates, tuning, stage)
    resolved = np.isfinite(changes.largest) & (changes.largest > changes.floor)
    with np.errstate(invalid="ignore", over="ignore"):
        scales = np.where(resolved, changes.sizes * changes.factors(), changes.sizes)
        slopes = np.where(resolved, changes.slopes * scales, 0.0)
    return Whitening(first.point, coordinates.factor / scales), float(np.linalg.norm(slopes))


def _changes(archive: Archive, first: Evaluation, coordinates: Whitening, tuning: Tuning, stage: str) -> _Changes:
    """Changes over steps that change the potential by about one."""
    dim, search = archive.dim, tuning.search
    axes = coordinates.steps(np.eye(dim))
    sizes, too_long = np.full(dim, search.first), np.full(dim, np.inf)
    ahead, behind = np.zeros(dim), np.zeros(dim)
    noise = noise_at(archive, first, axes.sum(axis=0), tuning.noise, stage)
    rounding = search.resolved * (1.0 + abs(first.value))
    floor = max(rounding, SURPRISE * noise)
    low = max(search.low, search.above_noise * max(noise, rounding))
    active = np.arange(dim)
    for _ in range(search.rounds):
        steps = sizes[active, None] * axes[active]
        found = archive.evaluate(np.concatenate((first.point + steps, first.point - steps)), stage, gradient=False)
        values = np.array([one.value for one in found]) - first.value
        ahead[active], behind[active] = values[: len(active)], values[len(active) :]
        changes = _Changes(sizes, ahead, behind, floor)
        factors = _growth(changes, low, search)
        too_long = np.where(factors < 1.0, np.minimum(too_long, sizes), too_long)
        # The next step is between one that was too short and one that was too long.
        factors = np.where((factors > 1.0) & (factors * sizes >= too_long), np.sqrt(too_long / sizes), factors)
        done = (factors >= 1.0) & (factors < 2.0)
        active = np.flatnonzero(~done)
        if not len(active):
            break
        sizes = np.where(done, sizes, sizes * factors)
    return changes


def _growth(changes: _Changes, lowest: float, tuning: Search) -> Array:
    """Factors for the next steps; one where the change of the potential is within the limits."""
    largest, factors = changes.largest, np.full(len(changes.sizes), tuning.shrinkage)
    finite = np.isfinite(largest)
    with np.errstate(invalid="ignore"):
        predicted = changes.factors()
    factors[finite] = np.clip(predicted[finite], tuning.growth**-3, 0.5)
    low = finite & (largest < lowest)
    factors[low] = np.clip(predicted[low], tuning.least_growth, tuning.growth)
    factors[largest <= changes.floor] = tuning.growth
    factors[(largest >= lowest) & (largest <= tuning.low**-2 * lowest)] = 1.0
    return factors


def measure_noise(archive: Archive, posterior: SurrogatePosterior, rng: np.random.Generator, tuning: Noise) -> None:
    """Measure the noise of values by differences between neighbours, and note it in the archive.

    Only where the fit suggests noise: a fit alone does not show it.
    """
    kernel = posterior.kernel
    if not isinstance(kernel, GradientKernel) or kernel.nugget < NUGGETS[-1] or kernel.noise < Judging.noisy:
        return
    known = archive.training()
    lowest = np.argsort(known.values, kind="stable")[:BATCH]
    z = posterior.whitening.whiten(known.points[lowest])
    steps = rng.standard_normal(z.shape)
    steps *= tuning.apart / np.linalg.norm(steps, axis=1)[:, None]
    found = archive.evaluate(posterior.whitening.unwhiten(z + steps), "noise", gradient=False)
    changes = np.array([one.value for one in found]) - known.values[lowest]
    changes = changes[np.isfinite(changes)]
    sd = float(np.sqrt(0.5 * (changes**2).mean())) if len(changes) else 0.0
    archive.journal.noise.append((sd, -np.inf))


def noise_at(archive: Archive, first: Evaluation, axis: Array, tuning: Noise, stage: str) -> float:
    """Standard deviation of the noise of values at the start, from the residuals of a parabola through five neighbours.

    Takes four values, and four more at a shorter distance where these are noisy. Noise is as large there, and the mean
    square of both counts; a smooth change vanishes, and the second one counts alone. The archive notes it until values
    so much lower are found that it was only the relative accuracy of a large number. ``axis`` is a step in x of about
    the size of the coordinates, (d,).
    """
    noise = _residual(archive, first, tuning.neighbours * axis, stage)
    if noise > FELT:
        nearer = _residual(archive, first, tuning.nearer * tuning.neighbours * axis, stage)
        noise = float(np.hypot(noise, nearer) / np.sqrt(2.0)) if nearer > TOLERATED * noise else nearer
    if noise > FELT:
        archive.journal.noise.append((noise, first.value - noise / tuning.accuracy))
    if archive.noise >= noise > Judging.noisy:
        _log.warning("target: the log density is noisy: between neighbours of x0 it differs by about %.2g", noise)
    return noise


def _residual(archive: Archive, first: Evaluation, step: Array, stage: str) -> float:
    """Noise of five equidistant values, by their third and fourth differences; 0 where one is not finite."""
    found = archive.evaluate(first.point + np.array([[-2.0], [-1.0], [1.0], [2.0]]) * step, stage, gradient=False)
    u = np.array([one.value for one in found]) - first.value
    if not np.isfinite(u).all():
        return 0.0
    third, fourth = u[3] - 2.0 * u[2] + 2.0 * u[1] - u[0], u[3] - 4.0 * u[2] - 4.0 * u[1] + u[0]
    return float(np.hypot(third / np.sqrt(20.0), fourth / np.sqrt(140.0)))


def difference_step(noise: float, tuning: Differences) -> float:
    """Whitened step of differences of values with noise of a given standard deviation.

    Over a step h, noise leaves an error of 2^0.5 noise / h, and a curvature that is wrong by a factor of two one of
    h / 2. Their sum is smallest near h = 2 noise^0.5.
    """
    return float(np.clip(2.0 * np.sqrt(noise), tuning.step, tuning.longest))


def slope_noise(archive: Archive, tuning: Differences) -> float:
    """Standard deviation of the noise of a component of a whitened gradient by differences; 0 for exact gradients."""
    if archive.has_gradient:
        return 0.0
    return float(np.sqrt(2.0)) * archive.noise / difference_step(archive.noise, tuning)


def evaluate_with_gradients(
    archive: Archive, points: Array, whitening: Whitening, tuning: Differences, stage: str
) -> list[Evaluation]:
    """Evaluations of the rows of ``points``, in order, with gradients.

    A potential without gradients gets one-sided differences along the whitened axes: d more values for each point, all
    in one batch. The term of an identity Hessian is subtracted, so that they are exact for a whitened Gaussian.
    """
    if archive.has_gradient:
        return archive.evaluate(points, stage)
    d, step = archive.dim, difference_step(archive.noise, tuning)
    shifts = np.broadcast_to(whitening.unwhiten(step * np.eye(d)) - whitening.centre, (len(points), d, d))
    batch = np.concatenate((points[:, None], points[:, None] + shifts), axis=1).reshape(-1, d)
    found = archive.evaluate(batch, stage, gradient=False)
    differences = [_with_difference(found[k : k + d + 1], whitening, step) for k in range(0, len(found), d + 1)]
    for one in differences:
        archive.keep_difference(one)
    return differences


def _with_difference(found: list[Evaluation], whitening: Whitening, step: float) -> Evaluation:
    """The first evaluation, with a gradient by the others where all are finite."""
    centre, values = found[0], np.array([one.value for one in found[1:]])
    if not np.isfinite(centre.value) or not np.isfinite(values).all():
        return centre
    slopes = (values - centre.value) / step - 0.5 * step
    return Evaluation(centre.point, centre.value, whitening.factor @ slopes, None)
