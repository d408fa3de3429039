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
    States have shape (n, dim); ``settings`` are keywords of the ``fit`` of the surrogate, which is not fitted to
    gradients.

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

    Positions and exact gradients, each of shape (n, dim), are those that `rnshmc.run.recording` keeps. Raises
    `ParameterError` if there is no such surrogate; `FitError` if the surrogate cannot be fitted.
    """
    fitted: FittedDriver = load(SURROGATES, surrogate).fit(q, gradients, rng=rng, **settings)
    return fitted


def check_discard(discard: int, iterations: int) -> None:
    """Check that the training set is not empty. Raises `ParameterError` if nothing is left after ``discard``."""
    if not 0 <= discard < iterations:
        raise ParameterError(f"discard: expected 0 <= discard < {iterations} iterations, got {discard}")
