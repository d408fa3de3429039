"""Simulation-based calibration of `rnshmc.sample` (Talts et al. 2018) where posteriors are no single normal density.

A hierarchical model, whose groups depend on their spread, and a prior with two modes, whose shares the data decide.
Parameters are drawn from the prior and data given them, so that ranks among the draws of a right sampler are uniform.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy.special import logsumexp, softmax

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import FAILURE
from tests.test_calibration import RANKED, REPLICATIONS, p_value

pytestmark = pytest.mark.calibration

DRAWS = 500
GROUPS = 4
LOG_SPREAD = 0.5
"""Prior standard deviation of log tau."""
CENTRES, WIDTHS = np.array([-3.0, 3.0]), np.array([0.5, 1.0])
SHARES = np.array([0.5, 0.5])
NOISE = 3.0
STARTS = 16
"""Draws of the prior: one time in 30000 all are in one mode."""

Density = Callable[[Array], tuple[float, Array]]


def hierarchy(rng: np.random.Generator, log_spread: float = LOG_SPREAD) -> tuple[Array, Density, Array]:
    """Parameters (eta_1, ..., eta_J, mu, log tau), their log density given data, and a start.

    y_j ~ N(mu + tau eta_j, 1), eta_j ~ N(0, 1), mu ~ N(0, 1), log tau ~ N(0, 0.25); the density assumes another
    standard deviation of log tau where one is given.
    """
    theta = np.append(rng.standard_normal(GROUPS + 1), LOG_SPREAD * rng.standard_normal())
    y = theta[GROUPS] + np.exp(theta[-1]) * theta[:GROUPS] + rng.standard_normal(GROUPS)

    def density(q: Array) -> tuple[float, Array]:
        eta, mu, log_tau = q[:GROUPS], q[GROUPS], q[-1]
        tau = np.exp(log_tau)
        errors = mu + tau * eta - y
        value = 0.5 * float(errors @ errors + eta @ eta + mu**2 + (log_tau / log_spread) ** 2)
        ends = [errors.sum() + mu, tau * (errors @ eta) + log_tau / log_spread**2]
        return -value, -np.concatenate((tau * errors + eta, ends))

    return theta, density, np.zeros(GROUPS + 2)


def two_modes(rng: np.random.Generator, shares: Array = SHARES) -> tuple[Array, Density, Array]:
    """Parameters (a, b), their log density given one datum, and starts that are draws of the prior.

    a is of a mixture of N(-3, 0.25) and N(3, 1), b ~ N(0, 1), and the datum is N(a + b, 9); the density assumes other
    shares of the mixture where they are given.
    """
    which = rng.choice(2, size=STARTS + 1, p=SHARES)
    drawn = np.column_stack(
        (CENTRES[which] + WIDTHS[which] * rng.standard_normal(STARTS + 1), rng.standard_normal(STARTS + 1))
    )
    y = drawn[0].sum() + NOISE * rng.standard_normal()

    def density(q: Array) -> tuple[float, Array]:
        away = (q[0] - CENTRES) / WIDTHS
        logs = np.log(shares / WIDTHS) - 0.5 * away**2
        error = (q.sum() - y) / NOISE
        value = float(logsumexp(logs)) - 0.5 * float(error**2 + q[1] ** 2)
        slope = -error / NOISE
        return value, np.array([slope - softmax(logs) @ (away / WIDTHS), slope - q[1]])

    return drawn[0], density, drawn[1:]


MODELS = {"hierarchy": hierarchy, "two_modes": two_modes}
WRONG = {"hierarchy": 0.1, "two_modes": np.array([0.99, 0.01])}
"""Other priors than those that parameters are drawn from."""


@cache
def ranks(name: str, *, wrong: bool = False) -> Array:
    """Ranks of the parameters among the draws, (n, dim)."""
    found = []
    for r in range(REPLICATIONS):
        rng = stream(26, "calibration", name, str(r))
        theta, density, start = MODELS[name](rng, WRONG[name]) if wrong else MODELS[name](rng)  # type: ignore[operator]
        result = rnshmc.sample(density, start, draws=DRAWS, seed=r, progress_bar=False)
        found.append((result.draws[:RANKED] < theta).sum(axis=0))
    return np.array(found)


@pytest.mark.parametrize("name", MODELS)
def test_ranks_among_draws_are_uniform(name: str) -> None:
    assert p_value(ranks(name)) > FAILURE


@pytest.mark.parametrize("name", MODELS)
def test_ranks_with_a_wrong_prior_are_not(name: str) -> None:
    assert p_value(ranks(name, wrong=True)) < FAILURE
