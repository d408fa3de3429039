"""The sampler ``rnshmc`` of bilby: ``bilby.run_sampler(likelihood, priors, sampler="rnshmc")``.

It needs the extra ``bilby``: ``pip install ".[bilby]"`` in a clone of the repository.
"""

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, ClassVar

import numpy as np
from bilby.core import prior as priors_of_bilby
from bilby.core.sampler.base_sampler import Sampler
from bilby.core.utils import random

from rnshmc.errors import ParameterError
from rnshmc.inference.call import sample
from rnshmc.inference.stages.starts import Candidates, middle_of
from rnshmc.types import Array

PRIOR_DRAWS = 400
"""Prior draws from which start and scale are computed."""
NOTHING = -sys.float_info.max
"""Log likelihood at or below which bilby marks a point as impossible, the value that `np.nan_to_num` gives -inf."""
DISCRETE = ("WeightedDiscreteValues", "Categorical")
"""Discrete priors of bilby; some versions lack one of them."""

_log = logging.getLogger(__name__)


class Rnshmc(Sampler):  # type: ignore[misc]
    """`rnshmc.sample` as a bilby sampler, by values of the likelihood, with bounds, start and scale from the priors.

    A bound of a conditional prior that depends on other parameters is not passed on: the density is zero beyond it, and
    wherever a `Constraint` is violated.

    ``run_sampler`` takes the keyword arguments in `default_kwargs`, see `rnshmc.sample`. The evidence is the
    surrogate's, corrected; the result also has its error. The verdict is in ``result.meta_data["rnshmc"]``.
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
        """Sample, and fill in bilby's result. Raises `ParameterError` if a prior is discrete."""
        keys = list(self.search_parameter_keys)
        kinds = {key: {one.__name__ for one in type(self.priors[key]).__mro__} for key in keys}
        if discrete := [key for key in keys if not kinds[key].isdisjoint(DISCRETE)]:
            raise ParameterError(f"priors: {', '.join(discrete)} are discrete; rnshmc samples continuous parameters")
        with _seeded(self.kwargs["seed"]):
            prior = self.priors.sample(PRIOR_DRAWS)
            # A condition on a fixed parameter reads its last draw, an array of 400.
            for key in self.fixed_parameter_keys:
                self.priors[key].least_recently_sampled = self.priors[key].peak
            # The density ignores the constraints; bilby estimates their share of the prior from new draws each time.
            allowed = float(np.log(self.priors.normalize_constraint_factor(tuple(keys))))
        scale = np.column_stack([prior[key] for key in keys])
        middle = middle_of(scale, lambda theta: bool(np.isfinite(self._log_prior(theta))))
        found = sample(
            self._log_posterior,
            Candidates(np.vstack([middle, scale]), "priors"),
            gradient=False,
            scale=scale,
            bounds=[self._bounds(key, prior) for key in keys],
            names=keys,
            **self.kwargs,
        )
        _log.log(logging.INFO if found.verdict.level == "good" else logging.WARNING, "%s", found.verdict)
        self.result.samples = found.draws
        self.result.log_evidence = float(found.log_evidence.value) + allowed
        self.result.log_evidence_err = float(found.log_evidence.standard_error)
        self.result.num_likelihood_evaluations = found.spent.values
        self.result.meta_data = {**(self.result.meta_data or {}), "rnshmc": str(found.verdict)}
        return self.result

    def _time_likelihood(self, *_: Any) -> float:
        """Skip bilby's timing, whose hundred evaluations are outside the budget and exceed many whole runs."""
        return float("nan")

    def _bounds(self, key: str, drawn: Mapping[str, Any]) -> tuple[Any, ...]:
        """Bounds of a prior: infinite where they vary with the parameters that it depends on; an angle if periodic."""
        prior = self.priors[key]
        if not (isinstance(self.priors, priors_of_bilby.ConditionalPriorDict) and hasattr(prior, "condition_func")):
            pair = prior.minimum, prior.maximum
            return ("angle", *pair) if prior.boundary == "periodic" and np.isfinite(pair).all() else pair
        ends = set()
        # One by one, because a condition may accept scalars only.
        for k in range(PRIOR_DRAWS):
            prior.update_conditions(**{name: drawn[name][k] for name in prior.required_variables})
            ends.add((float(prior.minimum), float(prior.maximum)))
        low, high = zip(*ends, strict=True)
        return low[0] if len(set(low)) == 1 else -np.inf, high[0] if len(set(high)) == 1 else np.inf

    def _log_prior(self, theta: Array) -> float:
        return float(self.priors.ln_prob(dict(zip(self.search_parameter_keys, theta, strict=True)), normalized=False))

    def _log_posterior(self, theta: Array) -> float:
        prior = self._log_prior(theta)
        if not np.isfinite(prior):
            return -np.inf
        likelihood = float(self.log_likelihood(theta))
        return -np.inf if likelihood <= NOTHING else prior + likelihood


@contextmanager
def _seeded(seed: Any) -> Iterator[None]:
    """Seed bilby's generator, which its priors draw from, within the block."""
    kept = random.Generator.rng
    random.Generator.rng = np.random.default_rng(seed)
    try:
        yield
    finally:
        random.Generator.rng = kept
