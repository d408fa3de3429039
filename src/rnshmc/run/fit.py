"""The step between exploration and exploitation: fit a surrogate to the training set.

Potentials at the states of the chain (paper A, Algorithms 2 and 3), or gradients along its trajectories (paper B,
section 3).
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.run.registry import SURROGATES, load
from rnshmc.types import Array, FittedDriver, Surrogate


def fit(
    exploration: Array,
    potentials: Array,
    *,
    surrogate: str,
    discard: int,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> Surrogate:
    """Fit a surrogate to the potential at the states of an exploration.

    The training set is the state and its potential at each iteration after the first ``discard``, repeats included.

    Parameters
    ----------
    exploration, potentials
        States, shape (n, dim), and U at each of them, shape (n,).
    surrogate
        A name in `rnshmc.run.registry.SURROGATES` that is not in `rnshmc.run.registry.FITTED_TO_GRADIENTS`.
    settings
        Keyword settings of that surrogate's ``fit``.

    Raises
    ------
    ParameterError
        If there is no such surrogate, or nothing is left after ``discard``.
    FitError
        If the surrogate cannot be fitted.
    """
    check_discard(discard, len(exploration))
    fitted: Surrogate = load(SURROGATES, surrogate).fit(
        exploration[discard:], potentials[discard:], rng=rng, **settings
    )
    return fitted


def fit_gradients(
    q: Array, gradients: Array, *, surrogate: str, settings: Mapping[str, Any], rng: np.random.Generator
) -> FittedDriver:
    """Fit a surrogate to gradients along the trajectories of an exploration.

    Raises `ParameterError` if there is no such surrogate; `FitError` if the surrogate cannot be fitted.

    Parameters
    ----------
    q, gradients
        Positions and exact gradients there, each of shape (n, dim), as `rnshmc.run.recording` keeps them.
    surrogate
        A name in `rnshmc.run.registry.FITTED_TO_GRADIENTS`.
    settings
        Keyword settings of that surrogate's ``fit``.
    """
    fitted: FittedDriver = load(SURROGATES, surrogate).fit(q, gradients, rng=rng, **settings)
    return fitted


def check_discard(discard: int, iterations: int) -> None:
    """Check that the training set is not empty. Raises `ParameterError` if nothing is left after ``discard``."""
    if not 0 <= discard < iterations:
        raise ParameterError(f"discard: expected 0 <= discard < {iterations} iterations, got {discard}")
