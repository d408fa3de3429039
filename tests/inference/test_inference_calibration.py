"""Simulation-based calibration of `rnshmc.sample`: its draws, and the standard errors of its expectations.

The model is the small logistic regression of `tests.test_calibration`.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array, Potential
from tests.conftest import FAILURE
from tests.test_calibration import RANKED, REPLICATIONS, p_value, regression

pytestmark = pytest.mark.calibration

DRAWS = 500
"""Asked for; they are in random order, and parameters are ranked among the first."""
GRID = np.linspace(-6.0, 6.0, 121)
"""Of the quadrature for exact posterior means, in units of the draws' standard deviations."""


@cache
def calibrated(gradient: bool, assumed_prior_sd: float | None = None) -> tuple[Array, Array]:
    """Ranks of the parameters among the draws, and errors of means in units of their standard errors, (n, 2) both."""
    model = regression("hmc") if assumed_prior_sd is None else regression("hmc", assumed_prior_sd)
    ranks, errors = np.empty((2, REPLICATIONS, 2))
    for r in range(REPLICATIONS):
        theta, potential = model(stream(23, "calibration", "sample", str(r)))
        found = rnshmc.sample(
            potential, np.zeros(2), gradient=None if gradient else False, draws=DRAWS, seed=r, progress_bar=False
        )
        ranks[r] = (found.draws[:RANKED] < theta).sum(axis=0)
        errors[r] = (found.mean.value - exact_mean(potential, found)) / found.mean.standard_error
    return ranks, errors


def exact_mean(potential: Potential, found: rnshmc.Result) -> Array:
    """Posterior mean by the trapezoidal rule, on a grid around the mean found, along principal axes of the draws."""
    axes = np.linalg.cholesky(np.cov(found.draws.T))
    points = found.mean.value + np.stack(np.meshgrid(GRID, GRID), axis=-1).reshape(-1, 2) @ axes.T
    energies = np.array([potential.value(point) for point in points])
    weights = np.exp(energies.min() - energies)
    return np.asarray(weights @ points / weights.sum())


@pytest.mark.parametrize("gradient", [True, False])
def test_ranks_among_draws_are_uniform(gradient: bool) -> None:
    assert p_value(calibrated(gradient)[0]) > FAILURE


def test_ranks_with_a_wrong_prior_are_not() -> None:
    assert p_value(calibrated(True, 0.3)[0]) < FAILURE


@pytest.mark.parametrize("gradient", [True, False])
def test_standard_errors_are_those_of_the_errors(gradient: bool) -> None:
    """Their squares in units of standard errors average to one, within a factor of two beyond chance.

    The two coordinates of a run may have the same error.
    """
    squares = np.square(calibrated(gradient)[1]).mean(axis=0)
    assert (squares > 0.5 * chi2.isf(1 - FAILURE, REPLICATIONS) / REPLICATIONS).all()
    assert (squares < 2.0 * chi2.isf(FAILURE, REPLICATIONS) / REPLICATIONS).all()
