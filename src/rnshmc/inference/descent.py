"""From a start to the neighbourhood of a mode, keeping every gradient as knowledge of the Hessian."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.archive import Archive
from rnshmc.inference.evaluations import Evaluation
from rnshmc.inference.gradients import evaluate_with_gradients
from rnshmc.inference.whitening import Whitening, improved, secant_hessian
from rnshmc.types import Array

STAGE = "mode"
CLOSE = 1.0
"""Descent ends where the whitened gradient is shorter: within a standard deviation of the mode."""
FIRST_DECREASE = 10.0
SMALLEST_RADIUS = 1e-3
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
        """Whether the descent came close to a mode."""
        return self.distance < CLOSE


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
    step, change = path[1].point - path[0].point, _gradient(path[1]) - _gradient(path[0])
    curvature = abs(float(step @ change)) / float(step @ step)
    scale = np.sqrt(curvature if curvature > 0 else 1.0)
    whitening = Whitening(start, scale * np.eye(archive.dim))
    return _iterate(archive, path, whitening)


def _iterate(archive: Archive, path: list[Evaluation], whitening: Whitening) -> Mode:
    radius = np.inf
    most = 40 + 2 * archive.dim
    while True:
        best = min(path, key=lambda found: found.value)
        whitening = whitening.moved(best.point)
        others = [found for found in path if found is not best and found.gradient is not None]
        steps, changes = secants(whitening, best, others)
        whitening = improved(whitening, secant_hessian(steps, changes))
        slope = whitening.slopes(_gradient(best)[None])[0]
        distance = float(np.linalg.norm(slope))
        if distance < CLOSE or len(path) >= most or radius < SMALLEST_RADIUS:
            centre = whitening.unwhiten(-slope[None])[0] if distance < CLOSE else best.point
            return Mode(whitening.moved(centre), best.value, distance)
        step = -slope * min(1.0, radius / distance)
        (found,) = evaluate_with_gradients(archive, whitening.unwhiten(step[None]), whitening, STAGE)
        predicted = float(slope @ step + 0.5 * step @ step)
        ratio = (found.value - best.value) / predicted if np.isfinite(found.value) else -np.inf
        if ratio < 0.1:
            radius = 0.3 * float(np.linalg.norm(step))
        elif ratio > 0.7:
            radius = max(radius, 2.0 * float(np.linalg.norm(step)))
        if found.gradient is not None:
            path.append(found)


def _first_step(first: Evaluation) -> Array:
    """Down the gradient by what should lower the potential by FIRST_DECREASE, whatever the units of the coordinates."""
    gradient = _gradient(first)
    slope = float(np.linalg.norm(gradient))
    longest = max(1.0, float(np.linalg.norm(first.point)))
    if slope * longest <= 1e-8:
        return np.full(gradient.shape, 1e-2 * longest / np.sqrt(len(gradient)))
    return np.asarray(-gradient / slope * min(longest, FIRST_DECREASE / slope))


def secants(whitening: Whitening, best: Evaluation, others: list[Evaluation]) -> tuple[Array, Array]:
    """Whitened steps from ``best`` and the changes of the whitened gradient over them, (n, d) each."""
    points = np.array([found.point for found in others])
    gradients = np.array([_gradient(found) for found in others])
    origin = whitening.slopes(_gradient(best)[None])
    steps = whitening.whiten(points) - whitening.whiten(best.point[None])
    moved = (steps**2).sum(axis=1) > 0
    return steps[moved], (whitening.slopes(gradients) - origin)[moved]


def _gradient(found: Evaluation) -> Array:
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
