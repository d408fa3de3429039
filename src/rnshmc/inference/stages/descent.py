"""From a start to the neighbourhood of a mode, by quasi-Newton steps."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.gradients import evaluate_with_gradients, slope_noise
from rnshmc.inference.stages.noise import noise_at
from rnshmc.inference.stages.search import search_scales
from rnshmc.inference.stages.unbounded import UnboundedDescent
from rnshmc.inference.surrogate.whitening import Secants, Whitening, improved
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_start import Descent
from rnshmc.types import Array

STAGE = "mode"
STEEPEST = float(np.sqrt(np.finfo(float).max))
"""Lengths of gradients below this have squares: a density of noise has longer ones, and no step from them."""
Watch = Callable[[Whitening], bool]


def unwatched(_: Whitening) -> bool:
    """For a descent that goes to its end."""
    return False


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

    @property
    def log_mass(self) -> float:
        """log of the integral of exp(-U) by the normal density of its coordinates (Laplace), up to a constant."""
        return -self.value - float(np.log(np.abs(np.diag(self.whitening.factor))).sum())

    def heights(self, x: Array) -> tuple[Array, Array]:
        """Potential at the rows of x by the quadratic of its coordinates, (k,), and its gradients, (k, d).

        A potential that overflows is the largest number.
        """
        z = self.whitening.whiten(x)
        with np.errstate(over="ignore"):
            heights = self.value + 0.5 * (z**2).sum(axis=1)
        return np.minimum(heights, np.finfo(float).max), z @ self.whitening.factor.T

    def near(self, point: Array, value: float = np.inf, below: float = 0.0) -> bool:
        """Whether a point is nearer to it than draws are, and its potential, if given, not so far below this one's.

        In a wide mode a narrow one may be that near, and a potential far below shows that it is another.
        """
        reach = 2.0 + 0.5 * np.sqrt(len(point))
        return bool(np.linalg.norm(self.whitening.whiten(point[None])) < reach and value > self.value - below)


def far_below(archive: Archive, tuning: Tuning) -> float:
    """How far below a mode a potential shows that it is not of that mode."""
    return tuning.probing.lower + tuning.probing.noise * archive.noise


@dataclass(frozen=True, eq=False)
class _Trust:
    """Maximum step: in the coordinates in which it was set and in the current ones.

    A curvature estimate that drops in some direction must not lengthen the next step there.
    """

    whitening: Whitening
    step: Array

    def share(self, whitening: Whitening, step: Array) -> float:
        """Largest fraction of a step that is not longer, at most one."""
        ratios = [metric.length(self.step) / metric.length(step) for metric in (whitening, self.whitening)]
        return min(1.0, *ratios)


def descend(
    archive: Archive,
    start: Array,
    tuning: Tuning,
    coordinates: Whitening | None = None,
    *,
    doubtful: bool = False,
    known: tuple[Mode, ...] = (),
    watch: Watch = unwatched,
) -> Mode:
    """Quasi-Newton steps within a trust region, with a Hessian fitted to all secants.

    Two gradients set the scale, and each further one adds a secant. This takes far fewer evaluations than line searches
    along BFGS directions. The scale of each coordinate is searched first where there are no gradients, or where the
    components of the first one differ by orders of magnitude.

    Parameters
    ----------
    coordinates
        Coordinates in which the scale of the posterior is expected to be one; None if nothing is known.
    doubtful
        Whether values and gradients disagreed at the start: the noise of values is measured then.
    known
        Modes at which it ends as soon as it comes near one.

    Raises
    ------
    ParameterError
        If the potential or its gradient is not finite at or near the start, or the potential is unbounded below.
    """
    first = _first(archive, start)
    sized = by_size(start) if coordinates is None else coordinates.moved(start)
    units = Whitening(start, np.eye(archive.dim)) if coordinates is None else sized
    if first.gradient is not None and doubtful:
        noise_at(archive, first, sized.steps(np.eye(archive.dim)).sum(axis=0), tuning.noise, STAGE)
    if first.gradient is not None and _uneven(units, first.gradient, tuning.descent.uneven):
        units = sized
    if first.gradient is None or _uneven(units, first.gradient, tuning.descent.uneven):
        return _searched(archive, first, sized, tuning, known, watch)
    longest = max(1.0, float(np.linalg.norm(start))) if units is not sized else 1.0
    second = _second(archive, first, _first_step(units, first.gradient, longest, tuning.descent), tuning.descent.tries)
    step = units.whiten(second.point[None])[0]
    difference = gradient_of(second) - first.gradient
    change = units.slopes(difference[None])[0]
    # At a mode, the first gradient says nothing of scales.
    at_rest = not first.gradient.any() and _uneven(units, difference, tuning.descent.uneven)
    if at_rest or (second.value == first.value and not change.any()):
        return _searched(archive, first, sized, tuning, known, watch)
    curvature = abs(float(step @ change)) / float(step @ step)
    scale = np.sqrt(curvature if curvature > 0 else 1.0)
    whitening = Whitening(start, scale * units.factor)
    return descend_on(archive, [first, second], whitening, tuning, known=known, watch=watch)


def _searched(
    archive: Archive,
    first: Evaluation,
    coordinates: Whitening,
    tuning: Tuning,
    known: tuple[Mode, ...],
    watch: Watch,
) -> Mode:
    """`descend_on` in coordinates whose scales are searched first."""
    whitening, first = search_scales(archive, first, coordinates, tuning, STAGE)
    return descend_on(archive, [first], whitening, tuning, cautious=True, known=known, watch=watch)


def descend_on(
    archive: Archive,
    path: list[Evaluation],
    whitening: Whitening,
    tuning: Tuning,
    *,
    cautious: bool = False,
    known: tuple[Mode, ...] = (),
    watch: Watch = unwatched,
) -> Mode:
    """Quasi-Newton steps from the lowest of some evaluations with gradients, in given whitened coordinates.

    Parameters
    ----------
    path
        Evaluations with gradients, which are the first secants.
    cautious
        Whether the first step is bounded, too, by the distance over which secants are compared.
    known
        As in `descend`.
    """
    own, path = tuning.descent, list(path)
    fall = UnboundedDescent.from_start(path[0].point, own.falling_far)
    best, trust = min(path, key=lambda found: found.value), None
    lowest = float(archive.training().values.min(initial=best.value))
    close = max(own.close, float(np.sqrt(archive.dim)) * slope_noise(archive, tuning.differences))
    slack = own.slack * float(np.sqrt(2.0)) * archive.noise
    most, each = own.steps if archive.noise < tuning.noise.noisy else own.noisy_steps
    for _ in range(most + each * archive.dim):
        for mode in known:
            if mode.near(best.point, best.value, far_below(archive, tuning)):
                return mode
        seen = secants(whitening, best, path, tuning.curvatures.third_order, own.unexplained)
        whitening = improved(whitening.moved(best.point), seen.hessian(), tuning.curvatures)
        slope = whitening.slopes(gradient_of(best)[None])[0]
        distance = float(np.linalg.norm(slope))
        if distance < close or not distance < STEEPEST or watch(whitening):
            break
        step = whitening.unwhiten(-slope[None])[0] - best.point
        if cautious and trust is None:
            trust = _Trust(whitening, min(1.0, tuning.curvatures.near * np.sqrt(archive.dim) / distance) * step)
        if trust is not None:
            step *= trust.share(whitening, step)
        if whitening.length(step) < own.shortest * min(distance, 1.0):
            break
        (found,) = evaluate_with_gradients(archive, (best.point + step)[None], whitening, tuning.differences, STAGE)
        share = whitening.length(step) / distance
        predicted = distance**2 * share * (1.0 - 0.5 * share)
        # Noise of the decrease must neither refuse a step nor shorten the next (Sun and Nocedal 2023).
        ratio = (best.value - found.value + slack) / (predicted + slack)
        if not ratio >= own.poor:
            trust = _Trust(whitening, own.shorter * step)
        elif ratio > own.good and trust is not None:
            trust = _Trust(whitening, own.longer * step)
        if found.gradient is not None:
            path.append(found)
            # From far away a potential may fall for long, and be bounded all the same.
            fall = fall.after(best, found, own.falling) if found.value < lowest else fall.ended()
            best = found if ratio >= own.poor else best
    centre = whitening.unwhiten(-slope[None])[0] if distance < close else best.point
    return Mode(whitening.moved(centre), best.value, distance)


def by_size(start: Array) -> Whitening:
    """Coordinates in units of their absolute value at the start, or of one where that is zero."""
    return Whitening(start, np.diag(1.0 / np.where(start == 0.0, 1.0, np.abs(start))))


def _uneven(units: Whitening, gradient: Array, most: float) -> bool:
    """Whether components of a gradient differ by more than a factor of ``most``: all but a few small ones.

    One of twenty may be as small by chance, and that of a direction which the data do not inform.
    """
    sizes = np.abs(units.slopes(gradient[None])[0])
    sizes = sizes[sizes > 0.0]
    return bool(len(sizes) > 1 and sizes.max() > most * np.sort(sizes)[len(sizes) // 20])


def _first_step(units: Whitening, gradient: Array, longest: float, tuning: Descent) -> Array:
    """Step along the negative gradient, expected to lower the potential by `Descent.first_decrease`."""
    slope = units.slopes(gradient[None])[0]
    steepness = float(np.linalg.norm(slope))
    down = -slope / steepness * min(longest, tuning.first_decrease / steepness) if steepness * longest > 1e-8 else None
    if down is None:
        down = np.full(slope.shape, 1e-2 * longest / np.sqrt(len(slope)))
    return np.asarray(units.steps(down[None])[0])


def secants(
    whitening: Whitening, best: Evaluation, others: list[Evaluation], third_order: float, unexplained: float = np.inf
) -> Secants:
    """Changes of the whitened gradient over steps from ``best`` to other points, weighted as `Secants.over` does."""
    apart = [found for found in others if not np.array_equal(found.point, best.point)]
    points = np.array([found.point for found in apart]).reshape(-1, len(best.point))
    slopes = whitening.slopes(np.array([gradient_of(found) for found in apart]).reshape(points.shape))
    origin = whitening.slopes(gradient_of(best)[None])
    steps = whitening.whiten(points) - whitening.whiten(best.point[None])
    rises = np.array([found.value for found in apart]) - best.value
    remainders = rises - 0.5 * ((slopes + origin) * steps).sum(axis=1)
    return Secants.over(steps, slopes - origin, remainders, third_order, unexplained)


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


def _second(archive: Archive, first: Evaluation, step: Array, tries: int) -> Evaluation:
    """The evaluation at a step from the first; each failure shortens the step."""
    for _ in range(tries):
        (found,) = archive.evaluate((first.point + step)[None], STAGE)
        if found.gradient is not None and np.isfinite(found.gradient).all():
            return found
        step = 0.2 * step
    raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
