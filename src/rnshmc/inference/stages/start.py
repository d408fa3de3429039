"""The first evaluations: a start of positive density, and checks of the target and its gradient there."""

import logging
import math
from collections.abc import Sequence

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.stages.starts import Candidates, Start
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.run.slope_check import SlopeCheck, check_slope
from rnshmc.types import Array

_log = logging.getLogger(__name__)

STAGE = "start"
FIRST_STEP = 1e-4
"""First step of `check_slope`, relative to the scale of the position: the longest of the two that it ends with."""
LARGE = (1e60, 1e70)
"""Values of a likelihood's parameter between which the power is measured by which its density falls."""
POWER = 1e-3
"""Excess of that power over one below which the density has no integral: rounding of potentials leaves less."""


def check_inside(starts: Array, transform: Transform, names: Sequence[str]) -> None:
    """Check that starting points, (n, d), are strictly inside the bounds; a ParameterError names the first other."""
    outside = ~((transform.low < starts) & (starts < transform.high))
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ParameterError(
            f"x0: {names[column]} = {starts[row, column]:g} is not strictly between its bounds "
            f"{transform.low[column]:g} and {transform.high[column]:g}"
        )


def check_start(archive: Archive, start: Array) -> Evaluation:
    """Evaluate the target at a start in unconstrained coordinates, (d,), or raise why it cannot be one."""
    [first] = archive.evaluate(start[None], STAGE)
    if first.failure is not None:
        raise ParameterError(f"target: it cannot be evaluated at x0: {first.failure}")
    if not math.isfinite(first.value):
        raise ParameterError("x0: the density is 0 there (the log density is -inf); start where it is positive")
    return first


def first_usable(archive: Archive, drawn: Array, x0: Start = None) -> Array:
    """The first few drawn starts where the density is positive, (n, d): `Modes.starts` at most, one of `Candidates`.

    Of a forward model, the most probable comes first. The search ends after `Modes.drawn` failed evaluations. Raises
    ParameterError if there is none.
    """
    wanted, source = (1, x0.source) if isinstance(x0, Candidates) else (DEFAULT.modes.starts, "x0")
    # Emulation does without derivatives.
    gradient, points = archive.forward_posterior is None, archive.coordinates.transform.coordinates(drawn)
    for last in range(wanted, len(drawn) + wanted, wanted):
        archive.evaluate(points[:last], STAGE, gradient=gradient)
        for at in archive.floor.neighbours():
            archive.evaluate(at[None], STAGE, gradient=False)
        seen = archive.evaluate(points[:last], STAGE, gradient=gradient)
        usable = [k for k, one in enumerate(seen) if one.failure is None and one.value < np.inf]
        if len(usable) >= wanted and not archive.floor.constant:
            break
        if sum(one.failed for one in seen) >= DEFAULT.modes.drawn:
            break
    if not usable:
        reasons = [one.failure for one in seen if one.failure]
        refused = f"the target cannot be evaluated ({reasons[-1]})" if reasons else "the density is 0"
        raise ParameterError(f"{source}: {refused} at all of {len(seen)} drawn starts; give one where it is positive")
    chosen = usable[:wanted] if gradient else sorted(usable[:wanted], key=lambda k: seen[k].value)
    return np.asarray(drawn[chosen])


def check_own(
    forward_posterior: ForwardPosterior, first: Evaluation, at: Array, transform: Transform, names: Sequence[str]
) -> None:
    """Check that the density of each parameter of the likelihood has an integral, towards infinity.

    The density of an unknown standard deviation s falls as s^-n for n data: it has no integral for one datum and a flat
    prior. ``first`` is the run at the start, ``at`` in the user's coordinates. A ParameterError names the first
    parameter whose density has none.
    """
    assert first.run is not None
    predictors = np.tile(forward_posterior.observed.predictors(first.run.outputs[None]), (2, 1))
    for own in range(forward_posterior.inputs, len(at)):
        if math.isfinite(transform.high[own]):
            continue
        theta = np.tile(at, (2, 1))
        theta[:, own] = LARGE
        with np.errstate(all="ignore"):
            near, far = forward_posterior.potential(theta, predictors)[0]
        # Of a power law as of s^-n; a density that is zero so far out has an integral.
        if math.isfinite(near) and math.isfinite(far) and far - near < (1.0 + POWER) * math.log(LARGE[1] / LARGE[0]):
            raise ParameterError(
                f"likelihood: the posterior has no finite integral over {names[own]}, because its density falls no "
                f"faster than 1 / {names[own]} towards infinity: give {names[own]} a prior or an upper bound"
            )


def check_gradient(archive: Archive, first: Evaluation, rng: np.random.Generator) -> tuple[str, ...]:
    """Compare the gradient with differences of the log density, see `rnshmc.run.slope_check`.

    Returns a sentence on any doubt about it, for the log and for the verdict; nothing where it is right. A gradient
    that is certainly wrong is a ParameterError.
    """
    if first.gradient is None:
        return ()

    def values(sides: Array) -> tuple[float, float]:
        ahead, behind = archive.evaluate(sides, STAGE, gradient=False)
        return ahead.value, behind.value

    found = check_slope(values, first.point, first.value, first.gradient, rng)
    if found.verdict == "right":
        return ()
    compared = (
        f"along one direction at x0 it is {-found.slope:.6g}, but differences of the log density are "
        f"{-found.differences[-1] if found.differences else math.nan:.6g}."
    )
    verdict = "noisy" if found.verdict == "wrong" and _unresolved(found, first) else found.verdict
    if verdict != "wrong":
        doubt = _unchecked(found) if verdict == "noisy" else f"The gradient is inexact: {compared}"
        _log.warning("%s", doubt)
        return (doubt,)
    hint = "Correct it, or leave it out with gradient=False, which takes more evaluations."
    if found.opposite:
        hint = "The sign is wrong: does one of them belong to minus the log density?"
    raise ParameterError(f"gradient: it is wrong: {compared} {hint}")


def _unresolved(found: SlopeCheck, first: Evaluation) -> bool:
    """Whether values do not differ at all, as in single precision over a slope as small as this."""
    step = FIRST_STEP * max(1.0, float(np.abs(first.point).max()))
    spacing = float(np.spacing(np.float32(abs(first.value))))
    return not any(found.differences) and 2.0 * step * abs(found.slope) < spacing


def _unchecked(found: SlopeCheck) -> str:
    differences = ", ".join(f"{-difference:.3g}" for difference in found.differences) or "not finite"
    return (
        f"The gradient could not be checked: along one direction at x0 it is {-found.slope:.3g}, and differences of "
        f"the log density with several steps are {differences}. Is the log density noisy?"
    )
