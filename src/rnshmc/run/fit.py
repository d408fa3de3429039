"""The step between exploration and exploitation: fit a surrogate to what was seen (paper A, Algorithms 2 and 3)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.run.registry import SURROGATES, load
from rnshmc.types import Array, Surrogate


def fit(
    exploration: Array,
    potentials: Array,
    *,
    surrogate: str,
    discard: int,
    settings: Mapping[str, Any],
    rng: np.random.Generator,
) -> Surrogate:
    """Fit a surrogate to the states of an exploration.

    The training set is the state and its potential at each iteration after the first ``discard``, repeats included.

    Parameters
    ----------
    exploration, potentials
        States, shape (n, dim), and U at each of them, shape (n,).
    surrogate
        A name in `rnshmc.run.registry.SURROGATES`.
    settings
        Keyword settings of that surrogate's ``fit``.

    Raises
    ------
    ParameterError
        If there is no such surrogate, or nothing is left after ``discard``.
    FitError
        If the surrogate cannot be fitted.
    """
    if not 0 <= discard < len(exploration):
        raise ParameterError(f"discard: expected 0 <= discard < {len(exploration)} iterations, got {discard}")
    fitted: Surrogate = load(SURROGATES, surrogate).fit(
        exploration[discard:], potentials[discard:], rng=rng, **settings
    )
    return fitted
