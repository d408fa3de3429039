"""The sampler ``rnshmc`` of bilby: ``bilby.run_sampler(likelihood, priors, sampler="rnshmc")``.

It needs ``pip install rnshmc[bilby]``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from bilby.core.sampler.base_sampler import Sampler
from bilby.core.utils import random

from rnshmc.inference.call import sample
from rnshmc.types import Array

PRIOR_DRAWS = 400
"""Draws of the prior that give start and scale."""


class Rnshmc(Sampler):  # type: ignore[misc]
    """`rnshmc.sample` as a sampler of bilby: by values, with its priors as bounds, start and scale.

    Keyword arguments of ``run_sampler`` are those of `default_kwargs`, see `rnshmc.sample`. The evidence is that of the
    surrogate, corrected; its error goes into the result, too. The verdict is in ``result.meta_data["rnshmc"]``.
    """

    sampler_name = "rnshmc"
    sampling_seed_key = "seed"
    default_kwargs: ClassVar[dict[str, Any]] = {
        "draws": 2000,
        "seed": 1,
        "filepath": None,
        "resume": True,
        "budget": None,
        "progress_bar": True,
    }

    def run_sampler(self) -> Any:
        """Sample, and fill in bilby's result."""
        keys = list(self.search_parameter_keys)
        # Before draws are taken: a conditional prior then has the bounds of each.
        bounds = [(self.priors[key].minimum, self.priors[key].maximum) for key in keys]
        with _seeded(self.kwargs["seed"]):
            prior = self.priors.sample(PRIOR_DRAWS)
        scale = np.column_stack([prior[key] for key in keys])
        found = sample(
            self._log_posterior,
            np.median(scale, axis=0),
            gradient=False,
            scale=scale,
            bounds=bounds,
            names=keys,
            **self.kwargs,
        )
        self.result.samples = found.draws
        self.result.log_evidence = float(found.log_evidence.value)
        self.result.log_evidence_err = float(found.log_evidence.standard_error)
        self.result.num_likelihood_evaluations = found.spent.values
        self.result.meta_data = {**(self.result.meta_data or {}), "rnshmc": str(found.verdict)}
        return self.result

    def _time_likelihood(self, *_: Any) -> float:
        """Not measured: a hundred evaluations would be in no budget, and are more than many a run takes."""
        return float("nan")

    def _log_posterior(self, theta: Array) -> float:
        prior = float(self.log_prior(theta))
        return prior + float(self.log_likelihood(theta)) if np.isfinite(prior) else -np.inf


@contextmanager
def _seeded(seed: Any) -> Iterator[None]:
    """bilby's generator, of which its priors draw, is one of this seed for a while."""
    kept = random.Generator.rng
    random.Generator.rng = np.random.default_rng(seed)
    try:
        yield
    finally:
        random.Generator.rng = kept
