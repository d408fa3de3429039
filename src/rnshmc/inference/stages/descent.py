"""From a start to the neighbourhood of a mode, keeping every gradient as knowledge of the Hessian."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.gradients import evaluate_with_gradients
from rnshmc.inference.surrogate.whitening import THIRD_ORDER, Secants, Whitening, improved
from rnshmc.types import Array

STAGE = "mode"
CLOSE = 1.0
"""Descent ends where the whitened gradient is shorter: within a standard deviation of the mode."""
POOR, GOOD = 0.1, 0.7
"""Decrease over predicted decrease below which a step is not taken, and above which the next may be longer."""
FIRST_DECREASE = 10.0
SHORTEST = 1e-4
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


def descend(archive: Archive, start: Array) -> Mode:
    """Quasi-Newton steps whose Hessian satisfies all secants in reach, within a trust region.

    Far fewer evaluations than by line searches along BFGS directions: the first two gradients set the scale, and each
    further one is a secant for good.

    Raises
    ------
    ParameterError
        If the potential or its gradient is not finite at the start, or next to it.
    """
    path = [_first(archive, start)]
    path.append(_second(archive, path[0], _first_step(path[0])))
    step, change = path[1].point - path[0].point, gradient_of(path[1]) - gradient_of(path[0])
    curvature = abs(float(step @ change)) / float(step @ step)
    scale = np.sqrt(curvature if curvature > 0 else 1.0)
    whitening = Whitening(start, scale * np.eye(archive.dim))
    return descend_on(archive, path, whitening)


def descend_on(archive: Archive, path: list[Evaluation], whitening: Whitening) -> Mode:
    """The same from the lowest of some evaluations with gradients, in given whitened coordinates."""
    path = list(path)
    best, trust = min(path, key=lambda found: found.value), None
    for _ in range(40 + 2 * archive.dim):
        whitening = improved(whitening.moved(best.point), secants(whitening, best, path).hessian())
        slope = whitening.slopes(gradient_of(best)[None])[0]
        distance = float(np.linalg.norm(slope))
        step = whitening.unwhiten(-slope[None])[0] - best.point
        if trust is not None:
            step *= trust.share(whitening, step)
        if distance < CLOSE or whitening.length(step) < SHORTEST * min(distance, 1.0):
            break
        (found,) = evaluate_with_gradients(archive, (best.point + step)[None], whitening, STAGE)
        share = whitening.length(step) / distance
        ratio = (best.value - found.value) / (distance**2 * share * (1.0 - 0.5 * share))
        if not ratio >= POOR:
            trust = _Trust(whitening, 0.3 * step)
        elif ratio > GOOD and trust is not None:
            trust = _Trust(whitening, 2.0 * step)
        if found.gradient is not None:
            path.append(found)
            best = found if ratio >= POOR else best
    centre = whitening.unwhiten(-slope[None])[0] if distance < CLOSE else best.point
    return Mode(whitening.moved(centre), best.value, distance)


def _first_step(first: Evaluation) -> Array:
    """Down the gradient by what should lower the potential by FIRST_DECREASE, whatever the units of the coordinates."""
    gradient = gradient_of(first)
    slope = float(np.linalg.norm(gradient))
    longest = max(1.0, float(np.linalg.norm(first.point)))
    if slope * longest <= 1e-8:
        return np.full(gradient.shape, 1e-2 * longest / np.sqrt(len(gradient)))
    return np.asarray(-gradient / slope * min(longest, FIRST_DECREASE / slope))


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
    (found,) = evaluate_with_gradients(archive, start[None], None, STAGE)
    if found.gradient is None:
        reason = found.failure or "the density is zero there"
        raise ParameterError(f"start: the potential cannot be evaluated at {start}: {reason}; start elsewhere")
    return found


def _second(archive: Archive, first: Evaluation, step: Array) -> Evaluation:
    """A point near the first, nearer if that fails."""
    for _ in range(TRIES):
        (found,) = evaluate_with_gradients(archive, (first.point + step)[None], None, STAGE)
        if found.gradient is not None and np.isfinite(found.gradient).all():
            return found
        step = 0.2 * step
    raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
