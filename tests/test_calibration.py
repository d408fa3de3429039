"""Simulation-based calibration (Talts et al. 2018) of every sampler on a small logistic regression, and of targets.

Parameters drawn from the prior, data drawn given them, a posterior sampled given these: the rank of each parameter
among its posterior draws is uniform if the sampler is right.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.special import expit
from scipy.stats import chi2

from rnshmc.random import stream
from rnshmc.run.recipes import RECIPES
from rnshmc.run.sample import run_sampler
from rnshmc.targets.gp_regression import GPRegression
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.minibatch_logistic import MinibatchLogistic
from rnshmc.targets.priors import LaplacePrior, NormalPrior
from rnshmc.types import Array, Potential
from tests.conftest import FAILURE

REPLICATIONS = 100
RANKED = 31
"""Posterior draws that a parameter is ranked among: 32 possible ranks, four to a bin."""
BINS = 8
THIN = 10
OBSERVATIONS = 15
PRIOR_SD = 1.0
LAPLACE_SCALE = 0.7
LOG_SD = 0.6
"""Of log l and log sigma^2 of the Gaussian process."""
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


Model = Callable[[np.random.Generator], tuple[Array, Potential]]
"""Draws two parameters from the prior and data given them: the parameters, and the posterior."""


def labels(rng: np.random.Generator, theta: Array) -> tuple[Array, npt.NDArray[np.uint8]]:
    """A small design matrix and the labels of a logistic regression."""
    X = np.column_stack([np.ones(OBSERVATIONS), rng.normal(size=OBSERVATIONS)])
    return X, (rng.random(OBSERVATIONS) < expit(X @ theta)).astype(np.uint8)


def regression(sampler: str, assumed_prior_sd: float = PRIOR_SD) -> Model:
    """A logistic regression, with mini-batches if the sampler needs them."""

    def draw(rng: np.random.Generator) -> tuple[Array, Potential]:
        theta = PRIOR_SD * rng.normal(size=2)
        X, y = labels(rng, theta)
        if RECIPES[sampler].minibatches:
            return theta, MinibatchLogistic(X, y, NormalPrior(assumed_prior_sd))
        return theta, LogisticRegression(X, y, assumed_prior_sd)

    return draw


def laplace_regression(assumed_scale: float = LAPLACE_SCALE) -> Model:
    """A logistic regression with a Laplace prior."""

    def draw(rng: np.random.Generator) -> tuple[Array, Potential]:
        theta = rng.laplace(scale=LAPLACE_SCALE, size=2)
        return theta, MinibatchLogistic(*labels(rng, theta), LaplacePrior(assumed_scale))

    return draw


def process_regression(assumed_prior_sd: float = LOG_SD) -> Model:
    """A Gaussian process regression, by its covariance term by term."""

    def draw(rng: np.random.Generator) -> tuple[Array, Potential]:
        theta = LOG_SD * rng.normal(size=2)
        X = rng.normal(size=(OBSERVATIONS, 2))
        s = np.sqrt(3.0) * np.linalg.norm(X[:, np.newaxis] - X, axis=-1) / np.exp(theta[0])
        covariance = (1.0 + s) * np.exp(-s) + np.exp(theta[1]) * np.eye(OBSERVATIONS)
        y = np.linalg.cholesky(covariance) @ rng.normal(size=OBSERVATIONS)
        return theta, GPRegression(X, y, prior_sd=assumed_prior_sd)

    return draw


def ranks(model: Model, name: str, sampler: str = "hmc", step_size: float = 0.5) -> Array:
    """Rank of each of two parameters among thinned posterior draws, shape (REPLICATIONS, 2)."""
    found = np.empty((REPLICATIONS, 2))
    for r in range(REPLICATIONS):
        theta, potential = model(stream(21, "calibration", name, str(r)))
        chain = run_sampler(
            potential,
            sampler=sampler,
            start=np.zeros(2),
            step_size=step_size,
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


TARGETS = {
    "gp_regression": (process_regression(), process_regression(assumed_prior_sd=0.2)),
    "logistic_laplace": (laplace_regression(), laplace_regression(assumed_scale=0.2)),
}
"""Models of targets that the samplers are not tried on, right and with another prior."""


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
    assert p_value(ranks(regression(sampler), sampler, sampler)) > FAILURE


def test_a_wrong_posterior_is_caught() -> None:
    assert p_value(ranks(regression("hmc", assumed_prior_sd=0.3), "hmc")) < FAILURE


@pytest.mark.parametrize("name", TARGETS)
def test_a_target_is_the_posterior_of_its_model(name: str) -> None:
    """Not of GARCH, whose first variance is taken from the series: tests/targets/test_garch.py weighs draws instead."""
    model, _ = TARGETS[name]
    assert p_value(ranks(model, name, step_size=0.3)) > FAILURE


@pytest.mark.parametrize("name", TARGETS)
def test_another_prior_is_caught(name: str) -> None:
    _, wrong = TARGETS[name]
    assert p_value(ranks(wrong, name, step_size=0.3)) < FAILURE
