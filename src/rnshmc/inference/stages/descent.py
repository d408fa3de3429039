"""From a start to the neighbourhood of a mode, keeping every gradient as knowledge of the Hessian."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.fall import Fall
from rnshmc.inference.stages.gradients import evaluate_with_gradients, slope_noise
from rnshmc.inference.stages.noise import NOISY, noise_at
from rnshmc.inference.stages.search import search_scales
from rnshmc.inference.surrogate.whitening import NEAR, THIRD_ORDER, Secants, Whitening, improved
from rnshmc.types import Array

STAGE = "mode"
CLOSE = 1.0
"""Descent ends where the whitened gradient is shorter: within a standard deviation of the mode."""
POOR, GOOD = 0.1, 0.7
"""Decrease over predicted decrease below which a step is not taken, and above which the next may be longer."""
FIRST_DECREASE = 10.0
SHORTEST = 1e-4
UNEVEN = 1e4
"""Ratio of components of the first gradient from which on the scale of each coordinate is searched."""
MOST_STEPS, MOST_NOISY_STEPS = (40, 2), (10, 1)
"""Steps of a descent at most, and more for each dimension; where the log density is noisy, more find no better mode."""
TRIES = 12
"""Shrinking first steps that may fail before the start is given up."""


@dataclass(frozen=True, eq=False)
class Mode:
    """Where a descent ended.

    Attributes
    ----------
    whitening
        Centred at the minimum that the last gradient predicts.
    value
        The lowest potential found.
    distance
        Length of the whitened gradient there.
    """

    whitening: Whitening
    value: float
    distance: float

    @property
    def converged(self) -> bool:
        """Whether it is nearer to a mode than draws are."""
        return bool(self.distance < np.sqrt(len(self.whitening.centre)))


@dataclass(frozen=True, eq=False)
class _Trust:
    """No step is to be longer than this one, in the coordinates of when it was set, and in those of now.

    A Hessian that gives way in some direction must not let the next step out there.
    """

    whitening: Whitening
    step: Array

    def share(self, whitening: Whitening, step: Array) -> float:
        """The share of a step that is within."""
        ratios = [metric.length(self.step) / metric.length(step) for metric in (whitening, self.whitening)]
        return min(1.0, *ratios)


def descend(archive: Archive, start: Array, coordinates: Whitening | None = None, *, doubtful: bool = False) -> Mode:
    """Quasi-Newton steps whose Hessian satisfies all secants in reach, within a trust region.

    Needs far fewer evaluations than line searches along BFGS directions: the first two gradients set the scale, and
    each further one is a secant for good. Without gradients, or where their components say that coordinates differ
    widely in scale, the scale of each coordinate is searched first.

    Parameters
    ----------
    coordinates
        Coordinates in which the posterior is thought to have a scale of one; None if nothing is known.
    doubtful
        Whether values and gradients disagreed at the start: the noise of values is measured then.

    Raises
    ------
    ParameterError
        If the potential or its gradient is not finite at the start, or next to it, or the potential falls without
        bound.
    """
    first = _first(archive, start)
    by_size = _by_size(start) if coordinates is None else coordinates.moved(start)
    units = Whitening(start, np.eye(archive.dim)) if coordinates is None else by_size
    if first.gradient is not None and doubtful:
        noise_at(archive, first, by_size.steps(np.eye(archive.dim)).sum(axis=0), STAGE)
    if first.gradient is not None and _uneven(units, first.gradient):
        units = by_size
    if first.gradient is None or _uneven(units, first.gradient):
        return _searched(archive, first, by_size)
    longest = max(1.0, float(np.linalg.norm(start))) if units is not by_size else 1.0
    second = _second(archive, first, _first_step(units, first.gradient, longest))
    step = units.whiten(second.point[None])[0]
    change = units.slopes((gradient_of(second) - first.gradient)[None])[0]
    if second.value == first.value and not change.any():
        return _searched(archive, first, by_size)
    curvature = abs(float(step @ change)) / float(step @ step)
    scale = np.sqrt(curvature if curvature > 0 else 1.0)
    return descend_on(archive, [first, second], Whitening(start, scale * units.factor))


def _searched(archive: Archive, first: Evaluation, coordinates: Whitening) -> Mode:
    """A descent in coordinates whose scales are searched."""
    whitening, first = search_scales(archive, first, coordinates, STAGE)
    return descend_on(archive, [first], whitening, cautious=True)


def descend_on(archive: Archive, path: list[Evaluation], whitening: Whitening, *, cautious: bool = False) -> Mode:
    """The same from the lowest of some evaluations with gradients, in given whitened coordinates.

    A cautious descent bounds its first step, too: by as far as secants are compared.
    """
    path, fall = list(path), Fall()
    best, trust = min(path, key=lambda found: found.value), None
    close = max(CLOSE, float(np.sqrt(archive.dim)) * slope_noise(archive))
    slack = 2.0 * float(np.sqrt(2.0)) * archive.noise
    most, each = MOST_STEPS if archive.noise < NOISY else MOST_NOISY_STEPS
    for _ in range(most + each * archive.dim):
        whitening = improved(whitening.moved(best.point), secants(whitening, best, path).hessian())
        slope = whitening.slopes(gradient_of(best)[None])[0]
        distance = float(np.linalg.norm(slope))
        if distance < close:
            break
        step = whitening.unwhiten(-slope[None])[0] - best.point
        if cautious and trust is None:
            trust = _Trust(whitening, min(1.0, NEAR * np.sqrt(archive.dim) / distance) * step)
        if trust is not None:
            step *= trust.share(whitening, step)
        if whitening.length(step) < SHORTEST * min(distance, 1.0):
            break
        (found,) = evaluate_with_gradients(archive, (best.point + step)[None], whitening, STAGE)
        share = whitening.length(step) / distance
        predicted = distance**2 * share * (1.0 - 0.5 * share)
        # Noise of the decrease must neither refuse a step nor shorten the next (Sun and Nocedal 2023).
        ratio = (best.value - found.value + slack) / (predicted + slack)
        if not ratio >= POOR:
            trust = _Trust(whitening, 0.3 * step)
        elif ratio > GOOD and trust is not None:
            trust = _Trust(whitening, 2.0 * step)
        if found.gradient is not None:
            path.append(found)
            fall = fall.after(best, found)
            best = found if ratio >= POOR else best
    centre = whitening.unwhiten(-slope[None])[0] if distance < close else best.point
    return Mode(whitening.moved(centre), best.value, distance)


def _by_size(start: Array) -> Whitening:
    """Coordinates in units of their size at the start, or of one where that is zero."""
    return Whitening(start, np.diag(1.0 / np.where(start == 0.0, 1.0, np.abs(start))))


def _uneven(units: Whitening, gradient: Array) -> bool:
    """Whether components of a gradient differ by so much that one step length cannot serve all."""
    sizes = np.abs(units.slopes(gradient[None])[0])
    sizes = sizes[sizes > 0.0]
    return bool(len(sizes) > 1 and sizes.max() > UNEVEN * sizes.min())


def _first_step(units: Whitening, gradient: Array, longest: float) -> Array:
    """Down the gradient by what should lower the potential by FIRST_DECREASE, of bounded length."""
    slope = units.slopes(gradient[None])[0]
    steepness = float(np.linalg.norm(slope))
    down = -slope / steepness * min(longest, FIRST_DECREASE / steepness) if steepness * longest > 1e-8 else None
    if down is None:
        down = np.full(slope.shape, 1e-2 * longest / np.sqrt(len(slope)))
    return np.asarray(units.steps(down[None])[0])


def secants(
    whitening: Whitening, best: Evaluation, others: list[Evaluation], third_order: float = THIRD_ORDER
) -> Secants:
    """Changes of the whitened gradient over the steps from ``best`` to other points."""
    apart = [found for found in others if not np.array_equal(found.point, best.point)]
    points = np.array([found.point for found in apart]).reshape(-1, len(best.point))
    slopes = whitening.slopes(np.array([gradient_of(found) for found in apart]).reshape(points.shape))
    origin = whitening.slopes(gradient_of(best)[None])
    steps = whitening.whiten(points) - whitening.whiten(best.point[None])
    rises = np.array([found.value for found in apart]) - best.value
    return Secants.over(steps, slopes - origin, rises - 0.5 * ((slopes + origin) * steps).sum(axis=1), third_order)


def gradient_of(found: Evaluation) -> Array:
    """The gradient of an evaluation that has one."""
    assert found.gradient is not None
    return found.gradient


def _first(archive: Archive, start: Array) -> Evaluation:
    (found,) = archive.evaluate(start[None], STAGE)
    if not np.isfinite(found.value) or (archive.has_gradient and found.gradient is None):
        reason = found.failure or "the density is zero there"
        raise ParameterError(f"start: the potential cannot be evaluated at {start}: {reason}; start elsewhere")
    return found


def _second(archive: Archive, first: Evaluation, step: Array) -> Evaluation:
    """A point near the first, nearer if that fails."""
    for _ in range(TRIES):
        (found,) = archive.evaluate((first.point + step)[None], STAGE)
        if found.gradient is not None and np.isfinite(found.gradient).all():
            return found
        step = 0.2 * step
    raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
