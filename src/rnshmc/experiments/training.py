"""Training of a named sampler's surrogate on states chosen by an experiment."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import SURROGATES, load
from rnshmc.types import Array

SurrogateSettings = Mapping[str, Mapping[str, Any]]
"""By sampler, the keyword settings of the ``fit`` of the surrogate that drives it."""


def train(sampler: str, q: Array, u: Array, *, settings: Mapping[str, Any], rng: np.random.Generator) -> Any:
    """Fit the surrogate that drives a sampler.

    Training states have shape (n, dim), their potentials (n,); ``settings`` are keywords of the ``fit``. Raises
    `ParameterError` if there is no such sampler, or the exact potential drives it; `FitError` if the surrogate cannot
    be fitted.
    """
    surrogate = recipe(sampler).surrogate
    if surrogate is None:
        raise ParameterError(f"sampler: {sampler} has no surrogate to train")
    return load(SURROGATES, surrogate).fit(q, u, rng=rng, **settings)
