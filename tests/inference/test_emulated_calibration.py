"""Calibration of `rnshmc.sample` on forward models: make calibrate PART=sample.

One has noise of unknown size; data of the other often leave two modes, of which the start is in either or neither.
Parameters, noise and data are drawn anew from the prior each time; means and variances are known by quadrature.
"""

from functools import cache

import numpy as np
import pytest
from modes import LINE_SD, imaged, imaged_data, imaging
from scipy.stats import chi2

import rnshmc
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import FAILURE

pytestmark = pytest.mark.calibration

DRAWS = 500
TIMES = np.linspace(0.2, 3.0, 20)
SHAPE = 4.0, 8.0
"""Of the inverse gamma prior of the noise: not so wide that the posterior has a heavy tail."""
PRIOR = {"a": ("normal", 0.0, 0.5), "r": ("normal", 0.0, 0.5), "s": ("inversegamma", SHAPE[0], 1.0 / SHAPE[1])}

Moments = tuple[Array, Array]


def decay(x: Array) -> Array:
    """Amplitude exp(a), rate exp(r)."""
    return np.asarray(np.exp(x[0] - np.exp(x[1]) * TIMES))


def decayed(k: int) -> tuple[rnshmc.Result, Moments]:
    """The result for data set k of a decay, and exact means and variances of a, r and log s."""
    rng = stream(25, "calibration", "emulated", str(k))
    sigma = 1.0 / SHAPE[1] / rng.gamma(SHAPE[0])
    data = decay(rng.normal(0.0, 0.5, 2)) + sigma * rng.standard_normal(len(TIMES))
    model = rnshmc.Model(decay, data, likelihood=rnshmc.Gaussian(sd="s"), prior=PRIOR)
    result = rnshmc.sample(model, [0.0, 0.0, 0.1], names=["a", "r"], draws=DRAWS, seed=k, progress_bar=False)
    return result, decay_moments(data)


def decay_moments(data: Array) -> Moments:
    """Moments by the trapezoidal rule, on a grid around the mass of a coarser one."""
    low, high = np.array([-2.5, -2.5, -6.0]), np.array([2.5, 2.5, 2.0])
    for points in (61, 61, 71):
        axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
        a, r, s = np.meshgrid(*axes, indexing="ij")
        curves = np.exp(a[..., 0, None] - np.exp(r[..., 0, None]) * TIMES)
        misfit = ((curves - data) ** 2).sum(axis=-1)[..., None]
        shape, scale = SHAPE[0], 1.0 / SHAPE[1]
        log_density = -0.5 * misfit * np.exp(-2 * s) - len(data) * s - 2.0 * (a**2 + r**2) - shape * s
        log_density -= scale * np.exp(-s)
        mean, variance = moments(log_density, (a, r, s))
        # Up to eight standard deviations, and no narrower than the grid could tell.
        half = np.maximum(8.0 * np.sqrt(variance), 2.0 * (high - low) / (points - 1))
        low, high = np.maximum(mean - half, low), np.minimum(mean + half, high)
    return mean, variance


def two_sided(k: int) -> tuple[rnshmc.Result, Moments]:
    """The result for data set k of a source and its image, and exact means and variances of a and y."""
    result = rnshmc.sample(imaging(k), [0.0, 1.0], draws=DRAWS, seed=k, progress_bar=False)
    a, y = np.meshgrid(np.linspace(-3.0, 3.0, 201), np.linspace(-5.0, 5.0, 1001), indexing="ij")
    misfit = ((imaged(np.array([a, y])) - imaged_data(k)) ** 2).sum(axis=-1) / LINE_SD**2
    return result, moments(-0.5 * (misfit + (a / 0.5) ** 2 + y**2), (a, y))


def moments(log_density: Array, grids: tuple[Array, ...]) -> Moments:
    """Means and variances of coordinates with a density on their grids."""
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    mean = np.array([(weights * x).sum() for x in grids])
    return mean, np.array([(weights * (x - m) ** 2).sum() for x, m in zip(grids, mean, strict=True)])


CASES = {"decay": (decayed, 30), "two sides": (two_sided, 15)}
"""The results and the number of data sets; of two modes fewer, for each takes five seconds."""


@cache
def errors(case: str) -> dict[str, Array]:
    """Errors of the corrected moments in their standard errors, (data sets, d)."""
    found: dict[str, list[Array]] = {"mean": [], "variance": []}
    sampled, count = CASES[case]
    for k in range(count):
        result, exact = sampled(k)
        for name, value in zip(found, exact, strict=True):
            estimate = getattr(result.outcome, name)
            found[name].append((estimate.value - value) / estimate.standard_error)
    return {name: np.array(values) for name, values in found.items()}


@pytest.mark.parametrize("moment", ["mean", "variance"])
@pytest.mark.parametrize("case", CASES)
def test_standard_errors_are_those_of_the_errors(case: str, moment: str) -> None:
    """Squared errors in standard errors average to one, as far as independent ones of each data set can tell."""
    square, count = np.square(errors(case)[moment]).mean(), CASES[case][1]
    low, high = (chi2.isf(p, count) / count for p in (1 - FAILURE / 2, FAILURE / 2))
    assert low < square < high
