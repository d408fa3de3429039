"""From a start to the neighbourhood of a mode, by quasi-Newton steps."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.factors import log_diagonal
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.differences import evaluate_with_gradients, noise_at, search_scales, slope_noise
from rnshmc.inference.surrogate.whitening import Whitening, gradient_of, improved, secants_from
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import DIFFERENT, SURPRISE, TRIES
from rnshmc.inference.tuning_start import Descent
from rnshmc.types import Array

STAGE = "mode"
STEEPEST = float(np.sqrt(np.finfo(float).max))
"""Lengths of gradients below this have squares: a density of noise has longer ones, and no step from them."""
Watch = Callable[[Whitening], bool]
"""Whether a descent in these coordinates may end early."""


def unwatched(_: Whitening) -> bool:
    """Never end a descent early."""
    return False


@dataclass(frozen=True, eq=False)
class Mode:
    """Where a descent ended."""

    whitening: Whitening
    """Centred at the minimum that the last gradient predicts."""
    value: float
    """The lowest potential found."""
    distance: float
    """Length of the whitened gradient there."""

    @property
    def converged(self) -> bool:
        """Whether it is nearer to a mode than draws are."""
        return bool(self.distance < np.sqrt(len(self.whitening.centre)))

    @property
    def log_mass(self) -> float:
        """log of the integral of exp(-U) by the normal density of its coordinates (Laplace), up to a constant."""
        return -self.value - float(log_diagonal(self.whitening.factor).sum())

    def heights(self, x: Array) -> tuple[Array, Array]:
        """Potential at the rows of x by the quadratic of its coordinates, (k,), and its gradients, (k, d).

        A potential that overflows is the largest number.
        """
        z = self.whitening.whiten(x)
        with np.errstate(over="ignore"):
            heights = self.value + 0.5 * (z**2).sum(axis=1)
        return np.minimum(heights, np.finfo(float).max), z @ self.whitening.factor.T

    def predicts(self, found: Evaluation, unpredicted: float) -> bool:
        """Whether the quadratic of its coordinates predicts a gradient, as where all other modes have less density.

        The squared whitened length of the rest is then at most ``unpredicted``.
        """
        rest = self.whitening.slopes(gradient_of(found)[None]) - self.whitening.whiten(found.point[None])
        return bool((rest**2).sum() < unpredicted)

    def near(self, point: Array, value: float = np.inf, below: float = 0.0) -> bool:
        """Whether a point is nearer to it than draws are, and not ``below`` lower than the mode in its potential.

        A narrow mode may be that near within a wide one; a potential far below shows it.
        """
        reach = 2.0 + 0.5 * np.sqrt(len(point))
        return bool(np.linalg.norm(self.whitening.whiten(point[None])) < reach and value > self.value - below)


def far_below(archive: Archive) -> float:
    """How far below a mode a potential belongs to another mode."""
    return DIFFERENT + SURPRISE * archive.noise


def _falling(decreases: Sequence[float], start: Evaluation, end: Evaluation, far: float) -> tuple[float, ...]:
    """Decreases of the potential over successive steps without positive curvature, each larger than the last.

    They begin anew with a step that has positive curvature, or lowers the potential by less than one or than the step
    before. A potential with a minimum has few of these in succession: heavy tails have no positive curvature either,
    but growing steps reach the mode. `TRIES` of them show a forgotten minus sign, which is a ParameterError, if the
    last step is longer than ``far``: where data are precise, first steps are so short that the potential is curved
    downwards over many doublings, and has a minimum all the same.
    """
    step, decrease = end.point - start.point, start.value - end.value
    straight = float(step @ (gradient_of(end) - gradient_of(start))) <= 0.0
    if not straight or not decrease > max([1.0, *decreases[-1:]]):
        return ()
    length = float(np.linalg.norm(step))
    if len(decreases) + 1 >= TRIES and length > far:
        raise ParameterError(
            f"target: the density grows without bound: its logarithm is {-end.value:.3g} after a step of length "
            f"{length:.3g}, and rises faster with each step. Is this minus the log density?"
        )
    return (*decreases, decrease)


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

    The scale of the posterior is expected to be one in ``coordinates``, if they are given. If values and gradients
    disagreed at the start, it is ``doubtful``, and the noise of values is measured. The descent ends as soon as it
    comes near a ``known`` mode, and at the start, where that predicts the gradient. Raises ParameterError if the
    potential or its gradient is not finite at or near the start, or the potential is unbounded below.
    """
    own, uneven = tuning.descent, 1.0 / tuning.search.first
    (first,) = archive.evaluate(start[None], STAGE)
    if not np.isfinite(first.value) or (archive.has_gradient and first.gradient is None):
        reason = first.failure or "the density is zero there"
        raise ParameterError(f"start: the potential cannot be evaluated at {start}: {reason}; start elsewhere")
    sized = Whitening.by_size(start) if coordinates is None else coordinates.moved(start)
    units = Whitening(start, np.eye(archive.dim)) if coordinates is None else sized

    def with_scales() -> Mode:
        whitening, begun = search_scales(archive, first, sized, tuning, STAGE)
        return descend_on(archive, [begun], whitening, tuning, cautious=True, known=known, watch=watch)

    if first.gradient is None:
        return with_scales()
    for mode in known:
        if mode.predicts(first, tuning.probing.predicted):
            return mode
    if doubtful:
        noise_at(archive, first, sized.steps(np.eye(archive.dim)).sum(axis=0), tuning.noise, STAGE)
    if _uneven(units, first.gradient, uneven):
        units = sized
        if _uneven(units, first.gradient, uneven):
            return with_scales()
    longest = max(1.0, float(np.linalg.norm(start))) if units is not sized else 1.0
    second = _second(archive, first, _first_step(units, first.gradient, longest, own))
    step = units.whiten(second.point[None])[0]
    difference = gradient_of(second) - first.gradient
    change = units.slopes(difference[None])[0]
    # At a mode, the first gradient does not show the scales.
    at_rest = not first.gradient.any() and _uneven(units, difference, uneven)
    if at_rest or (second.value == first.value and not change.any()):
        return with_scales()
    curvature = abs(float(step @ change)) / float(step @ step)
    scale = np.sqrt(curvature if curvature > 0 else 1.0)
    whitening = Whitening(start, scale * units.factor)
    return descend_on(archive, [first, second], whitening, tuning, known=known, watch=watch)


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
    """Quasi-Newton steps from the lowest of some evaluations with gradients, ``path``, which are the first secants.

    If ``cautious``, the first step is bounded, too, by the distance over which secants are compared.
    """
    own, path = tuning.descent, list(path)
    far, falling = own.falling_far * (float(np.linalg.norm(path[0].point)) or 1.0), tuple[float, ...]()
    best = min(path, key=lambda found: found.value)
    trust: tuple[Whitening, Array] | None = None  # Coordinates in which the maximum step was set, and that step.
    lowest = float(archive.training().values.min(initial=best.value))
    # One standard deviation from the mode, or more where the gradient is no better known.
    close = max(1.0, float(np.sqrt(archive.dim)) * slope_noise(archive, tuning.differences))
    # Two standard deviations of the noise of a decrease (Sun and Nocedal 2023).
    slack = 2.0 * float(np.sqrt(2.0)) * archive.noise
    most = own.steps[0] + own.steps[1] * archive.dim
    for _ in range(most if archive.noise < tuning.judging.noisy else int(own.noisy * most)):
        for mode in known:
            if mode.near(best.point, best.value, far_below(archive)):
                return mode
        seen = secants_from(best, path, whitening, tuning.curvatures.third_order, own.unexplained)
        whitening = improved(whitening.moved(best.point), seen.hessian(), tuning.curvatures)
        slope = whitening.slopes(gradient_of(best)[None])[0]
        distance = float(np.linalg.norm(slope))
        if distance < close or not distance < STEEPEST or watch(whitening):
            break
        step = whitening.unwhiten(-slope[None])[0] - best.point
        if cautious and trust is None:
            trust = whitening, min(1.0, tuning.curvatures.near * np.sqrt(archive.dim) / distance) * step
        if trust is not None:
            # A curvature estimate that drops in some direction must not lengthen the next step there.
            step *= min(1.0, *(metric.length(trust[1]) / metric.length(step) for metric in (whitening, trust[0])))
        if whitening.length(step) < tuning.search.first * min(distance, 1.0):
            break
        (found,) = evaluate_with_gradients(archive, (best.point + step)[None], whitening, tuning.differences, STAGE)
        share = whitening.length(step) / distance
        predicted = distance**2 * share * (1.0 - 0.5 * share)
        # Noise of the decrease must neither refuse a step nor shorten the next (Sun and Nocedal 2023).
        ratio = (best.value - found.value + slack) / (predicted + slack)
        if (factor := region_factor(ratio)) < 1.0 or (factor > 1.0 and trust is not None):
            trust = whitening, factor * step
        if found.gradient is not None:
            path.append(found)
            # From far away a potential may decrease for long, and be bounded all the same.
            falling = _falling(falling, best, found, far) if found.value < lowest else ()
            best = found if factor >= 1.0 else best
    centre = whitening.unwhiten(-slope[None])[0] if distance < close else best.point
    return Mode(whitening.moved(centre), best.value, distance)


def region_factor(ratio: float) -> float:
    """Factor of the length of a step that gives the next trust region, by its decrease over the predicted decrease.

    A factor below one rejects the step. The constants are the usual ones (Nocedal and Wright 2006, algorithm 4.1), but
    for 0.3 instead of 0.25: with that, outputs that are absurd in a part of space took 118 runs instead of 86.
    """
    if not ratio >= 0.25:
        return 0.3
    return 2.0 if ratio > 0.75 else 1.0


def _uneven(units: Whitening, gradient: Array, most: float) -> bool:
    """Whether components of a gradient differ by more than a factor of ``most``, apart from the smallest twentieth.

    One of twenty may be as small by chance, and so is that of a direction which the data do not inform.
    """
    sizes = np.abs(units.slopes(gradient[None])[0])
    sizes = sizes[sizes > 0.0]
    return bool(len(sizes) > 1 and sizes.max() > most * np.sort(sizes)[len(sizes) // 20])


def _first_step(units: Whitening, gradient: Array, longest: float, tuning: Descent) -> Array:
    """Step along the negative gradient, expected to lower the potential by `Descent.first_decrease`."""
    slope = units.slopes(gradient[None])[0]
    steepness = float(np.linalg.norm(slope))
    if steepness * longest > 1e-8:
        down = -slope / steepness * min(longest, tuning.first_decrease / steepness)
    else:
        down = np.full(slope.shape, 1e-2 * longest / np.sqrt(len(slope)))
    return np.asarray(units.steps(down[None])[0])


def _second(archive: Archive, first: Evaluation, step: Array) -> Evaluation:
    """The evaluation at a step from the first; each failure shortens the step."""
    for _ in range(TRIES):
        (found,) = archive.evaluate((first.point + step)[None], STAGE)
        if found.gradient is not None and np.isfinite(found.gradient).all():
            return found
        step = 0.2 * step
    raise ParameterError(f"start: the potential cannot be evaluated next to {first.point}; start elsewhere")
