"""Checks of the start, and of the gradient there, before anything is spent on a target that cannot work."""

import logging
import math
from collections.abc import Sequence

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.transforms import Transform
from rnshmc.run.slope_check import SlopeCheck, check_slope
from rnshmc.types import Array

_log = logging.getLogger(__name__)

STAGE = "start"
FIRST_STEP = 1e-4
"""First step of `check_slope`, relative to the scale of the position: the longest of the two that it ends with."""


LARGE = (1e60, 1e70)
"""Values of a likelihood's parameter between which the power is measured by which its density falls."""
POWER = 1e-3
"""Excess of that power over one that is none: rounding of potentials leaves less."""


def check_inside(starts: Array, transform: Transform, names: Sequence[str]) -> None:
    """Check that starting points, shape (n, d), are strictly inside the bounds.

    Raises
    ------
    ParameterError
        Naming the first parameter that is not.
    """
    outside = ~((transform.low < starts) & (starts < transform.high))
    if outside.any():
        row, column = np.argwhere(outside)[0]
        raise ParameterError(
            f"x0: {names[column]} = {starts[row, column]:g} is not strictly between its bounds "
            f"{transform.low[column]:g} and {transform.high[column]:g}"
        )


def check_start(archive: Archive, start: Array) -> Evaluation:
    """Evaluate the target where it all starts, and find out whether it has a gradient.

    Parameters
    ----------
    archive
        The target.
    start
        Unconstrained coordinates, shape (d,).

    Raises
    ------
    ParameterError
        If it fails there, or the density is 0.
    """
    [first] = archive.evaluate(start[None], STAGE)
    if first.failure is not None:
        raise ParameterError(f"target: it cannot be evaluated at x0: {first.failure}")
    if not math.isfinite(first.value):
        raise ParameterError("x0: the density is 0 there (the log density is -inf); start where it is positive")
    return first


def check_own(
    forward_posterior: ForwardPosterior, first: Evaluation, at: Array, transform: Transform, names: Sequence[str]
) -> None:
    """Check that the density of each parameter of the likelihood has an integral, towards infinity.

    That of an unknown standard deviation s falls as s^-n for n data: it has none for one datum and a flat prior.

    Parameters
    ----------
    forward_posterior, transform, names
        The posterior of a forward model, and its parameters.
    first
        The run at the start.
    at
        The start, in the user's coordinates.

    Raises
    ------
    ParameterError
        Naming the first parameter for which it has none.
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
                f"likelihood: the posterior has no finite integral over {names[own]}, for its density falls no faster "
                f"than 1 / {names[own]} towards infinity: give {names[own]} a prior or an upper bound, or more data"
            )


def check_gradient(archive: Archive, first: Evaluation, rng: np.random.Generator) -> tuple[str, ...]:
    """Compare the gradient with differences of the log density, see `rnshmc.run.slope_check`.

    Returns what is doubtful of it, in a sentence for the log and for the verdict; nothing where it is right.

    Parameters
    ----------
    archive
        The target.
    first
        What is known at the start.
    rng
        Source of the direction.

    Raises
    ------
    ParameterError
        If the gradient is wrong.
    """
    if first.gradient is None:
        return ()
    found = check_slope(lambda sides: _values(archive, sides), first.point, first.value, first.gradient, rng)
    if found.verdict == "right":
        return ()
    unresolved = found.verdict == "wrong" and _unresolved(found, first)
    if found.verdict != "wrong" or unresolved:
        doubt = (
            _unchecked(found)
            if found.verdict == "noisy" or unresolved
            else f"The gradient is inexact: {_compared(found)}"
        )
        _log.warning("%s", doubt)
        return (doubt,)
    hint = "Correct it, or leave it out with gradient=False, which takes more evaluations."
    if found.opposite:
        hint = "The sign is wrong: is one of the two that of the negative log density?"
    raise ParameterError(f"gradient: it is wrong: {_compared(found)} {hint}")


def _unresolved(found: SlopeCheck, first: Evaluation) -> bool:
    """Whether values do not differ at all, as in single precision over a slope as small as this."""
    step = FIRST_STEP * max(1.0, float(np.abs(first.point).max()))
    spacing = float(np.spacing(np.float32(abs(first.value))))
    return not any(found.differences) and 2.0 * step * abs(found.slope) < spacing


def _compared(found: SlopeCheck) -> str:
    return (
        f"along one direction at x0 it says {-found.slope:.6g}, differences of the log density say "
        f"{-found.differences[-1]:.6g}."
    )


def _unchecked(found: SlopeCheck) -> str:
    differences = ", ".join(f"{-difference:.3g}" for difference in found.differences) or "not finite"
    return (
        f"The gradient could not be checked: along one direction at x0 it says {-found.slope:.3g}, differences of the "
        f"log density with several steps are {differences}. Is the log density noisy?"
    )


def _values(archive: Archive, sides: Array) -> tuple[float, float]:
    """U at two points, evaluated at the same time."""
    ahead, behind = archive.evaluate(sides, STAGE, gradient=False)
    return ahead.value, behind.value
