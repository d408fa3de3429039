"""Calibration of `rnshmc.sample` on a forward model with noise of unknown size: make calibrate PART=sample.

Parameters, noise and data are drawn anew from the prior each time; means and variances are known by quadrature.
"""

from functools import cache

import numpy as np
import pytest
from scipy.stats import chi2

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import FAILURE

pytestmark = pytest.mark.calibration

POSTERIORS = 30
DRAWS = 500
TIMES = np.linspace(0.2, 3.0, 20)
SHAPE = 4.0, 8.0
"""Of the inverse gamma prior of the noise: not so wide that the posterior has a heavy tail."""
PRIOR = {"a": ("normal", 0.0, 0.5), "r": ("normal", 0.0, 0.5), "s": ("inversegamma", SHAPE[0], 1.0 / SHAPE[1])}


def decay(x: Array) -> Array:
    """Amplitude exp(a), rate exp(r)."""
    return np.asarray(np.exp(x[0] - np.exp(x[1]) * TIMES))


def exact_moments(data: Array) -> tuple[Array, Array]:
    """Means and variances of a, r and log s by the trapezoidal rule, on a grid around the mass of a coarser one."""
    low, high = np.array([-2.5, -2.5, -6.0]), np.array([2.5, 2.5, 2.0])
    for points in (61, 61, 71):
        axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
        a, r, s = np.meshgrid(*axes, indexing="ij")
        curves = np.exp(a[..., 0, None] - np.exp(r[..., 0, None]) * TIMES)
        misfit = ((curves - data) ** 2).sum(axis=-1)[..., None]
        shape, scale = SHAPE[0], 1.0 / SHAPE[1]
        log_density = -0.5 * misfit * np.exp(-2 * s) - len(data) * s - 2.0 * (a**2 + r**2) - shape * s
        log_density -= scale * np.exp(-s)
        weights = np.exp(log_density - log_density.max())
        weights /= weights.sum()
        mean = np.array([(weights * x).sum() for x in (a, r, s)])
        variance = np.array([(weights * (x - m) ** 2).sum() for x, m in zip((a, r, s), mean, strict=True)])
        # Up to eight standard deviations, and no narrower than the grid could tell.
        half = np.maximum(8.0 * np.sqrt(variance), 2.0 * (high - low) / (points - 1))
        low, high = np.maximum(mean - half, low), np.minimum(mean + half, high)
    return mean, variance


@cache
def errors() -> dict[str, Array]:
    """Errors of the corrected moments in their standard errors, (POSTERIORS, 3), over all posteriors."""
    found: dict[str, list[Array]] = {"mean": [], "variance": []}
    for k in range(POSTERIORS):
        rng = stream(25, "calibration", "emulated", str(k))
        sigma = 1.0 / SHAPE[1] / rng.gamma(SHAPE[0])
        data = decay(rng.normal(0.0, 0.5, 2)) + sigma * rng.standard_normal(len(TIMES))
        model = rnshmc.Model(decay, data, likelihood=rnshmc.Gaussian(sd="s"), prior=PRIOR)
        result = rnshmc.sample(model, [0.0, 0.0, 0.1], names=["a", "r"], draws=DRAWS, seed=k, progress_bar=False)
        for name, exact in zip(found, exact_moments(data), strict=True):
            estimate = getattr(result.outcome, name)
            found[name].append((estimate.value - exact) / estimate.standard_error)
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("moment", ["mean", "variance"])
def test_standard_errors_are_those_of_the_errors(moment: str) -> None:
    """Squared errors in standard errors average to one, as far as POSTERIORS independent ones can tell."""
    square = np.square(errors()[moment]).mean()
    low, high = (chi2.isf(p, POSTERIORS) / POSTERIORS for p in (1 - FAILURE / 2, FAILURE / 2))
    assert low < square < high
