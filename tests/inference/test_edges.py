"""Densities with an edge that the surrogate does not know, failing models, and modes within another."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import rnshmc
from rnshmc.inference.stages.correction import without_density
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.weights import weight_variance, zero_variance
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import archive_of, state_of
from tests.inference.problems import Correlated

EDGE = 1.8
DIAGONAL = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]) / math.sqrt(2.0)
MEAN = -float(norm.pdf(EDGE) / norm.cdf(EDGE))
"""Of a standard normal variable below the edge: 3.6% of its mass are beyond."""
LOG_MASS = float(norm.logcdf(EDGE))


def edged(x: Array) -> tuple[float, Array]:
    """N(0, I) in six dimensions, cut off along a diagonal, where no bound of a parameter is."""
    return (-0.5 * float(x @ x), -x) if x @ DIAGONAL < EDGE else (-math.inf, np.zeros(6))


def failing(x: Array) -> tuple[float, Array]:
    if x @ DIAGONAL > EDGE:
        raise RuntimeError("no convergence")
    return -0.5 * float(x @ x), -x


@pytest.mark.parametrize("target", [edged, failing], ids=["zero", "failure"])
def test_mass_that_is_cut_off_is_corrected_and_reported(target: object) -> None:
    seeds = range(1, 6)
    results = [rnshmc.sample(target, np.full(6, 0.1), draws=1000, seed=seed, progress_bar=False) for seed in seeds]
    means = [result.expectation(lambda x: x @ DIAGONAL) for result in results]
    evidences = [result.log_evidence for result in results]
    whole = 3.0 * math.log(2.0 * math.pi)
    # Errors small enough to show the edge: without it the mean is 0, and log Z larger by 0.037.
    for estimates, exact, largest in ((means, MEAN, -MEAN / 2), (evidences, whole + LOG_MASS, -LOG_MASS)):
        errors = np.array([float(estimate.value) - exact for estimate in estimates])
        standard = np.array([float(estimate.standard_error) for estimate in estimates])
        assert (np.abs(errors) < z_bound(2 * len(seeds)) * standard).all()
        assert math.sqrt(float((standard**2).mean())) < largest
    for result in results:
        assert "points where the surrogate expects draws" in str(result.verdict)
        assert (result.draws @ DIAGONAL < EDGE).all()


def test_draws_without_density_count_in_the_variance_of_the_weights() -> None:
    differences = np.array([0.0, 0.0, 0.0, math.inf])
    # Weights of 1 and one of 0: their variance over their squared mean is (3/4) (1/4) / (3/4)^2.
    assert weight_variance(differences) == pytest.approx(1 / 3)
    assert zero_variance(differences) == pytest.approx(1 / 3)
    assert zero_variance(np.zeros(0)) == zero_variance(np.zeros(3)) == 0.0
    assert zero_variance(np.full(3, math.inf)) == math.inf


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["wide first", "narrow first"])
def test_a_narrow_mode_within_a_wide_one_is_another(order: tuple[int, int]) -> None:
    centre, wide, narrow = np.array([5.0, 5.0]), 10.0, 0.1

    def target(x: Array) -> tuple[float, Array]:
        squares, sds = np.array([x @ x, (x - centre) @ (x - centre)]), np.array([wide, narrow])
        logs = -0.5 * squares / sds**2 - 2.0 * np.log(sds)
        value = float(logsumexp(logs))
        shares = np.exp(logs - value)
        return value, -shares[0] * x / wide**2 - shares[1] * (x - centre) / narrow**2

    starts = np.array([[0.0, 0.0], [5.0, 5.05]])[list(order)]
    result = rnshmc.sample(target, starts, seed=1, progress_bar=False)
    shares = [float(mode.share.value) for mode in result.outcome.modes]
    assert shares == pytest.approx([0.5, 0.5], abs=0.02)
    assert (np.abs(result.mean.value - 2.5) < z_bound(2) * result.mean.standard_error).all()


def white(centre: list[float], sd: float, value: float) -> Mode:
    return Mode(Whitening(np.array(centre), np.eye(2) / sd), value, 0.0)


def test_a_point_far_below_a_mode_is_another_mode_or_replaces_it() -> None:
    wide = white([0.0, 0.0], 10.0, 0.0)
    found = state_of(archive_of(Correlated(2), np.zeros((0, 2))), modes=(wide,))
    assert found.with_mode(white([5.0, 5.0], 10.0, -1.0), below=2.0).modes == (wide,)
    narrow = white([5.0, 5.0], 0.1, -9.0)
    assert found.with_mode(narrow, below=2.0).modes == (wide, narrow)
    further = white([5.0, 5.0], 10.0, -9.0)  # the descent to the first one had stopped on the way
    assert found.with_mode(further, below=2.0).modes == (further,)
    # Where values do not count, as of emulated outputs, what is near is the same, and nothing takes its place.
    assert found.with_mode(further).modes == (wide,)
    assert replace(found, modes=(narrow,)).with_mode(wide).modes == (narrow, wide)


def test_points_of_searches_are_no_evidence_of_an_edge() -> None:
    points = np.array([[9.0, 0.0], [1.0, 1.0], [0.0, 9.0], [-1.0, 0.5]])
    archive: Any = SimpleNamespace(zeros=lambda *, failed: points)
    posterior: Any = SimpleNamespace(values=lambda x: 0.5 * (x**2).sum(axis=1))
    draws = np.random.default_rng(1).normal(size=(128, 5, 2))
    assert without_density(archive, posterior, draws, 0).tolist() == points[[1, 3]].tolist()
    assert without_density(archive, posterior, draws, 2).tolist() == points[[3]].tolist()


@pytest.mark.parametrize("with_gradient", [True, False])
def test_one_parameter_is_enough(with_gradient: bool) -> None:
    def target(x: Array) -> tuple[float, Array] | float:
        value = -0.5 * float((x[0] - 3.0) ** 2) / 4.0
        return (value, -(x - 3.0) / 4.0) if with_gradient else value

    result = rnshmc.sample(target, [1.0], seed=1, progress_bar=False)
    assert result.verdict.level == "good", str(result.verdict)
    error = result.mean.standard_error[0]
    assert abs(result.mean.value[0] - 3.0) < z_bound(1) * error
    assert error < 0.2
    assert abs(result.sd.value[0] - 2.0) < z_bound(1) * result.sd.standard_error[0]
