"""Checks before a chain runs: missing or misspelt settings, and an unsuitable potential."""

import difflib
import inspect
import logging
import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.run.slope_check import check_slope
from rnshmc.types import Array, Potential

_log = logging.getLogger(__name__)


def check_settings(
    function: Callable[..., Any], settings: Mapping[str, Any], *, key: str, owner: str, ours: Collection[str]
) -> None:
    """Check settings against the keyword-only parameters of the function that takes them.

    Messages name ``key``, where the settings are from, and ``owner``, what they are for; keyword-only parameters among
    ``ours`` do not come from settings. Raises `ParameterError` if one is not known or missing.
    """
    parameters = {
        name: parameter
        for name, parameter in inspect.signature(function).parameters.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name not in ours
    }
    for name in settings:
        if name not in parameters:
            near = difflib.get_close_matches(name, parameters, n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(parameters) or 'none'}"
            raise ParameterError(f"{key}: {name!r} is not a setting of {owner}; {meant}")
    missing = [name for name, p in parameters.items() if p.default is p.empty and name not in settings]
    if missing:
        raise ParameterError(f"{key}: {owner} needs {' and '.join(missing)}")


def check_potential(potential: Potential, start: Array, rng: np.random.Generator) -> None:
    """Check that a potential has the methods that HMC needs, and that its gradient is right at the start.

    It takes two values more than the start, where the gradient is right. A start that cannot be evaluated is left to
    the kernel. Raises `ParameterError` if a method is missing, or the gradient has another shape or is wrong.
    """
    missing = [name for name in ("dim", "value", "gradient", "value_and_grad") if not hasattr(potential, name)]
    if missing:
        raise ParameterError(
            f"potential: {type(potential).__name__} has no {' and no '.join(missing)}; HMC moves by gradients. "
            "rnshmc.sample does not need them"
        )
    q = np.array(start, dtype=np.float64)
    try:
        value, gradient = potential.value_and_grad(q)
        gradient = np.asarray(gradient, dtype=np.float64)
        if gradient.shape != q.shape:
            raise ParameterError(f"potential: its gradient has shape {gradient.shape}, expected {q.shape}")
        if not (math.isfinite(value) and np.isfinite(gradient).all()):
            return
        found = check_slope(lambda rows: (potential.value(rows[0]), potential.value(rows[1])), q, value, gradient, rng)
    except NumericalError:
        return
    said = f"along one direction at the start it says {found.slope:.6g}, and differences of the potential say"
    if found.verdict == "wrong":
        hint = "; its sign is wrong" if found.opposite else ""
        raise ParameterError(f"potential: its gradient is wrong: {said} {found.differences[-1]:.6g}{hint}")
    if found.verdict == "inexact":
        _log.warning("potential: its gradient is inexact: %s %.6g", said, found.differences[-1])
