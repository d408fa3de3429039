"""Calibration of `rnshmc.sample` by exact moments, at a size that CI runs: make calibrate PART=sample.

Posteriors are those of the small logistic regression of `tests.test_calibration`, with parameters and data drawn anew
each time. Their means and variances are known by quadrature, so that few posteriors say more than ranks of many do.
Standard errors half as large and draws with a variance 20% too small are caught. The surrogate hardly needs correction
here: that corrections are made and right is tested where it does, in `tests.inference.test_parts`.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2, t

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array, Potential
from tests.conftest import FAILURE
from tests.test_calibration import PRIOR_SD, regression

pytestmark = pytest.mark.calibration

POSTERIORS = 40
DRAWS = 500
MOMENTS = ("mean", "variance")
GRID = PRIOR_SD * np.linspace(-6.0, 6.0, 121)
"""Of the quadrature: the posterior has no mass where the prior has none, and is as smooth as a normal density."""


@dataclass(frozen=True)
class Calibrated:
    """Errors over posteriors and coordinates, (POSTERIORS, 2) each, by moment.

    Attributes
    ----------
    estimates
        Errors of the corrected moments, in their standard errors.
    draws
        Errors of the draws' moments: of means in exact standard deviations, of variances as logarithms of ratios.
    """

    estimates: dict[str, Array]
    draws: dict[str, Array]


@cache
def calibrated() -> Calibrated:
    """Sample all posteriors."""
    estimates, draws = ({name: np.empty((POSTERIORS, 2)) for name in MOMENTS} for _ in range(2))
    for r in range(POSTERIORS):
        _, potential = regression("hmc")(stream(25, "calibration", "moments", str(r)))
        found = rnshmc.sample(potential, np.zeros(2), draws=DRAWS, seed=r, progress_bar=False)
        mean, variance = exact_moments(potential)
        for name, exact in (("mean", mean), ("variance", variance)):
            estimate = getattr(found.outcome, name)
            estimates[name][r] = (estimate.value - exact) / estimate.standard_error
        draws["mean"][r] = (found.draws.mean(axis=0) - mean) / np.sqrt(variance)
        draws["variance"][r] = np.log(found.draws.var(axis=0, ddof=1) / variance)
    return Calibrated(estimates, draws)


def exact_moments(potential: Potential) -> tuple[Array, Array]:
    """Posterior means and variances of the coordinates by the trapezoidal rule."""
    points = np.stack(np.meshgrid(GRID, GRID), axis=-1).reshape(-1, 2)
    energies = np.array([potential.value(point) for point in points])
    weights = np.exp(energies.min() - energies)
    weights /= weights.sum()
    mean = weights @ points
    return mean, weights @ (points - mean) ** 2


@pytest.mark.parametrize("moment", MOMENTS)
def test_standard_errors_are_those_of_the_errors(moment: str) -> None:
    """Squared errors in standard errors average to one.

    For normal errors the average over both coordinates spreads no more than chi^2 of POSTERIORS degrees of freedom over
    that number, which it has if the coordinates have the same errors.
    """
    square = np.square(calibrated().estimates[moment]).mean()
    low, high = (chi2.isf(p, POSTERIORS) / POSTERIORS for p in (1 - FAILURE / 2, FAILURE / 2))
    assert low < square < high


@pytest.mark.parametrize("moment", MOMENTS)
def test_draws_have_the_moments_of_the_posterior(moment: str) -> None:
    """Averages over posteriors are zero, by a t test of each coordinate."""
    errors = calibrated().draws[moment]
    error = errors.std(axis=0, ddof=1) / np.sqrt(POSTERIORS)
    bound = t.isf(FAILURE / 4, POSTERIORS - 1)
    # Independent draws: a standard error that is far larger would hide a bias.
    assert (error < 3 * np.sqrt(2 / DRAWS / POSTERIORS)).all()
    assert (np.abs(errors.mean(axis=0)) < bound * error).all()
