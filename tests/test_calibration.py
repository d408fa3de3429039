"""Simulation-based calibration (Talts et al. 2018) of every sampler on a small logistic regression.

Parameters drawn from the prior, data drawn given them, a posterior sampled given these: the rank of each parameter
among its posterior draws is uniform if the sampler is right.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit
from scipy.stats import chi2

from rnshmc.random import stream
from rnshmc.run.recipes import RECIPES
from rnshmc.run.sample import sample
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.minibatch_logistic import MinibatchLogistic
from rnshmc.targets.priors import NormalPrior
from rnshmc.types import Array, Potential

REPLICATIONS = 100
RANKED = 31
"""Posterior draws that a parameter is ranked among: 32 possible ranks, four to a bin."""
BINS = 8
THIN = 10
OBSERVATIONS = 15
PRIOR_SD = 1.0
NETWORK = {"hidden_units": 30, "ridge": 1e-6}
SAMPLERS: dict[str, dict[str, Any]] = {
    "hmc": {},
    "rmhmc": {},
    "rns_hmc": {"surrogate": NETWORK},
    "rns_rmhmc": {"surrogate": NETWORK, "options": {"metric": {"shape": "full", "softness": 0.1}}},
    "arns_hmc": {"surrogate": NETWORK, "options": {"offset": 100.0, "exponent": 1.0}},
    "rns_hmc_rbf": {"surrogate": {"hidden_units": 60, "ridge": 1e-6}},
    "gp_hmc": {"surrogate": {"max_evaluations": 20}},
    "fitc_hmc": {"surrogate": {"inducing_points": 30, "max_evaluations": 20}},
    "nng_hmc": {"surrogate": {"hidden_units": 20, "epochs": 10}},
    "sghmc_mh": {"options": {"batch_size": 10}},
}
"""Settings of the surrogate's fit and of the kernel."""

pytestmark = pytest.mark.calibration


def posterior(sampler: str, X: Array, y: npt.NDArray[np.uint8], prior_sd: float) -> Potential:
    """The posterior of a logistic regression, with mini-batches if the sampler needs them."""
    if RECIPES[sampler].minibatches:
        return MinibatchLogistic(X, y, NormalPrior(prior_sd))
    return LogisticRegression(X, y, prior_sd)


def ranks(sampler: str, assumed_prior_sd: float = PRIOR_SD) -> Array:
    """Rank of each of two parameters among thinned posterior draws, shape (REPLICATIONS, 2)."""
    found = np.empty((REPLICATIONS, 2))
    for r in range(REPLICATIONS):
        rng = stream(21, "calibration", sampler, str(r))
        theta = PRIOR_SD * rng.normal(size=2)
        X = np.column_stack([np.ones(OBSERVATIONS), rng.normal(size=OBSERVATIONS)])
        y = (rng.random(OBSERVATIONS) < expit(X @ theta)).astype(np.uint8)
        chain = sample(
            posterior(sampler, X, y, assumed_prior_sd),
            sampler=sampler,
            start=np.zeros(2),
            step_size=0.5,
            n_steps=(1, 4),
            iterations=RANKED * THIN,
            explore_iterations=200,
            discard=50,
            seed=22,
            chain=r,
            **SAMPLERS[sampler],
        )
        found[r] = np.sum(chain.sampling.draws[THIN - 1 :: THIN] < theta, axis=0)
    return found


def p_value(ranks: Array) -> float:
    """Smallest p-value of a chi-square test of uniformity over the parameters, Bonferroni corrected."""
    counts = np.stack([np.histogram(r, bins=BINS, range=(0, RANKED + 1))[0] for r in ranks.T])
    expected = REPLICATIONS / BINS
    statistic = np.sum((counts - expected) ** 2 / expected, axis=1)
    return float(min(1.0, len(statistic) * chi2.sf(statistic, BINS - 1).min()))


def test_every_sampler_has_a_case() -> None:
    """But for those that sample an approximation (SGHMC): their ranks are not uniform, whatever the settings."""
    assert set(SAMPLERS) == {name for name, recipe in RECIPES.items() if recipe.exact}


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_ranks_are_uniform(sampler: str) -> None:
    assert p_value(ranks(sampler)) > 1e-3


def test_a_wrong_posterior_is_caught() -> None:
    assert p_value(ranks("hmc", assumed_prior_sd=0.4)) < 1e-4
