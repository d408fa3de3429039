"""What is looked at before anything is spent on a target that cannot work: the start, and the gradient there."""

import logging
import math
from collections.abc import Sequence

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.evaluations import Evaluation, Evaluations
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

_STEPS = (1e-4, 1e-5, 1e-3, 1e-6, 1e-2)
"""Steps of the differences, relative to the scale of the position; the first nearly always decides."""
AGREEMENT = 0.01
"""Relative difference up to which slope and difference agree."""
MISTAKE = 0.1
"""That from which on the gradient is a mistake; between the two it is inexact, as that of a coarse adjoint is."""
_FLAT = 1e-3
"""Slopes that do not matter: by this part of a posterior standard deviation the mode would be elsewhere."""
_log = logging.getLogger(__name__)


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


def check_start(evaluations: Evaluations, start: Array) -> Evaluation:
    """Evaluate the target where it all starts, and find out whether it has a gradient.

    Parameters
    ----------
    evaluations
        The target.
    start
        Unconstrained coordinates, shape (d,).

    Raises
    ------
    ParameterError
        If it fails there, or the density is 0.
    """
    [first] = evaluations.evaluate(start)
    if first.failure is not None:
        raise ParameterError(f"target: it cannot be evaluated at x0: {first.failure}")
    if not math.isfinite(first.value):
        raise ParameterError("x0: the density is 0 there (the log density is -inf); start where it is positive")
    return first


def check_gradient(evaluations: Evaluations, first: Evaluation, rng: np.random.Generator) -> None:
    """Compare the gradient with central differences along a random direction, for two values where it is right.

    A wrong sign shows, and so does one wrong entry. With differences of several steps that agree with each other and
    not with the gradient, it is wrong; where they do not agree with each other, the values are too noisy to say.

    Parameters
    ----------
    evaluations
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
        return
    direction = rng.standard_normal(len(first.gradient))
    direction /= np.linalg.norm(direction)
    slope = float(first.gradient @ direction)
    scale = max(1.0, float(np.linalg.norm(first.point, np.inf)))
    seen: list[float] = []
    for step in _STEPS:
        ahead, behind = _values(evaluations, first.point, step * scale * direction)
        difference = (ahead - behind) / (2 * step * scale)
        # Rounding of the values, and what would move the mode by nothing that matters.
        slack = 1e-14 * (abs(ahead) + abs(behind)) / (step * scale)
        slack += _FLAT * math.sqrt(abs(ahead + behind - 2 * first.value)) / (step * scale)
        if abs(difference - slope) <= AGREEMENT * max(abs(slope), abs(difference)) + slack:
            return
        if any(abs(difference - other) <= AGREEMENT * abs(difference) for other in seen):
            _say(slope, difference)
            return
        if math.isfinite(difference):
            seen.append(difference)
    found = ", ".join(f"{-difference:.3g}" for difference in seen) or "not finite"
    _log.warning(
        "gradient: it could not be checked. Along one direction at x0 it says %.3g; differences of the log density "
        "with several steps are %s. Is the log density noisy?",
        -slope,
        found,
    )


def _values(evaluations: Evaluations, point: Array, step: Array) -> tuple[float, float]:
    """U on both sides, evaluated at the same time."""
    sides = np.array([point + step, point - step])
    found = {e.point.tobytes(): e.value for e in evaluations.evaluate(sides, gradient=False)}
    return found[sides[0].tobytes()], found[sides[1].tobytes()]


def _say(slope: float, difference: float) -> None:
    """Warn of an inexact gradient, raise for a wrong one, and name the likeliest mistake."""
    said = f"along one direction at x0 it says {-slope:.6g}, and differences of the log density say {-difference:.6g}."
    if abs(difference - slope) <= MISTAKE * max(abs(slope), abs(difference)):
        _log.warning("gradient: it is inexact: %s The surrogate will be inexact, too.", said)
        return
    ratio = slope / difference if difference else math.inf
    if abs(ratio + 1) < MISTAKE:
        hint = "The sign is wrong: is one of the two that of the negative log density?"
    else:
        hint = "Correct it, or leave it out with gradient=False, which takes more evaluations."
    raise ParameterError(f"gradient: it is wrong: {said} {hint}")
