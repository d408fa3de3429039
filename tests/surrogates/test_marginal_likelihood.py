from functools import partial

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.spatial.distance import cdist

from rnshmc.errors import FitError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates import fitc, gaussian_process
from rnshmc.surrogates.marginal_likelihood import Hyperparameters, LogLikelihood, Maximum, data_scales, maximise
from rnshmc.types import Array
from tests.conftest import FAILURE

START = Hyperparameters(amplitude=1.0, length_scale=1.0, noise_sd=1.0)


def bowl(centre: Array) -> LogLikelihood:
    """A log likelihood quadratic in the logarithms, with correlated parameters and its maximum at exp(centre)."""
    curvature = np.array([[50.0, -20.0, 0.0], [-20.0, 30.0, 5.0], [0.0, 5.0, 10.0]])

    def log_likelihood(h: Hyperparameters) -> tuple[float, Array]:
        off = logarithms(h) - centre
        return -0.5 * float(off @ curvature @ off), -curvature @ off

    return log_likelihood


def logarithms(h: Hyperparameters) -> Array:
    return np.log([h.amplitude, h.length_scale, h.noise_sd])


def test_the_maximum_of_a_bowl_is_found_within_a_few_evaluations() -> None:
    centre = np.array([2.0, -1.0, -0.5])
    found = maximise(bowl(centre), START, max_evaluations=100)
    assert found.outcome == "converged"
    assert found.evaluations < 30
    # A slope of 0.1 in each coordinate over the smallest curvature, 8.
    assert logarithms(found.hyperparameters) == pytest.approx(centre, abs=0.1 * np.sqrt(3) / 8)
    assert found.log_likelihood == pytest.approx(0.0, abs=0.1**2 * 3 / (2 * 8))


@pytest.mark.parametrize("steepness", [1.0, 1e6])
def test_the_first_step_is_no_longer_than_one_however_steep_the_likelihood(steepness: float) -> None:
    visited = []

    def steep(h: Hyperparameters) -> tuple[float, Array]:
        visited.append(logarithms(h))
        value, gradient = bowl(np.array([2.0, -1.0, -0.5]))(h)
        return steepness * value, steepness * gradient

    maximise(steep, START, max_evaluations=100)
    away = np.linalg.norm(visited, axis=1)
    assert away[away > 0][0] <= 1.0 + 1e-12


def test_points_that_cannot_be_evaluated_are_rejected_steps() -> None:
    centre = np.array([2.0, -1.0, -0.5])
    rejected = 0

    def walled(h: Hyperparameters) -> tuple[float, Array]:
        nonlocal rejected
        if np.linalg.norm(logarithms(h) - centre) > 0.5:
            rejected += 1
            raise linalg.LinAlgError
        return bowl(centre)(h)

    # The first step, of unit length, leads past the maximum and out of the ball.
    inside = Hyperparameters(*np.exp(centre + np.array([0.2, -0.2, 0.2])))
    found = maximise(walled, inside, max_evaluations=100)
    assert rejected > 0
    assert logarithms(found.hyperparameters) == pytest.approx(centre, abs=0.1 * np.sqrt(3) / 8)


def test_a_maximum_behind_the_rim_ends_at_the_best_point_before_it() -> None:
    def rim(h: Hyperparameters) -> tuple[float, Array]:
        if h.noise_sd < 0.1:
            raise linalg.LinAlgError
        return -float(np.log(h.noise_sd)), np.array([0.0, 0.0, -1.0])

    found = maximise(rim, START, max_evaluations=100)
    assert found.outcome == "stalled"
    assert 0.1 <= found.hyperparameters.noise_sd < 0.2


def test_a_start_that_cannot_be_evaluated_is_a_fit_error() -> None:
    def nowhere(h: Hyperparameters) -> tuple[float, Array]:
        raise linalg.LinAlgError("not positive definite")

    with pytest.raises(FitError, match=r"cannot be evaluated at .*amplitude=1\.0.*not positive definite"):
        maximise(nowhere, START, max_evaluations=10)


def test_the_search_ends_at_the_limit_and_at_least_one_evaluation_is_asked_for() -> None:
    found = maximise(bowl(np.array([2.0, -1.0, -0.5])), START, max_evaluations=2)
    assert found.outcome == "max_evaluations"
    assert found.evaluations < 8
    with pytest.raises(ParameterError, match="max_evaluations must be at least 1, got 0"):
        maximise(bowl(np.zeros(3)), START, max_evaluations=0)


def test_the_start_moves_with_the_units_of_states_and_potentials() -> None:
    rng = stream(5, "tests", "scales")
    q, t = rng.standard_normal((50, 3)), rng.random(50)
    plain, scaled = data_scales(q, t), data_scales(10.0 * q + 3.0, 7.0 * t)
    assert scaled.amplitude == pytest.approx(7.0 * plain.amplitude)
    assert scaled.length_scale == pytest.approx(10.0 * plain.length_scale)
    assert scaled.noise_sd == pytest.approx(7.0 * plain.noise_sd)
    pairs = cdist(q, q, "sqeuclidean")
    assert plain.length_scale == pytest.approx(np.sqrt(pairs.mean()))


@pytest.mark.parametrize("what", ["states", "potentials"])
def test_training_sets_without_a_scale_are_refused(what: str) -> None:
    q, t = np.arange(8.0).reshape(4, 2), np.arange(4.0)
    q, t = (np.ones((4, 2)), t) if what == "states" else (q, np.zeros(4))
    with pytest.raises(FitError, match=f"the 4 training {what} are all equal"):
        data_scales(q, t)


TRUTH = Hyperparameters(amplitude=2.0, length_scale=0.7, noise_sd=0.1)
SIZE = 400


def full_covariance(q: Array, x: Array) -> Array:
    amplitude, length_scale, noise_sd = np.exp(x)
    kernel = amplitude**2 * np.exp(-cdist(q, q, "sqeuclidean") / (2 * length_scale**2))
    return np.asarray(kernel + noise_sd**2 * np.eye(SIZE))


def fitc_covariance(q: Array, m: int, x: Array) -> Array:
    noise = np.exp(2 * x[2]) * np.eye(SIZE)
    kernel = full_covariance(q, x) - noise
    low_rank = kernel[:, :m] @ linalg.solve(kernel[:m, :m] + fitc.JITTER * kernel[0, 0] * np.eye(m), kernel[:m])
    return np.asarray(low_rank + np.diag(np.diag(kernel - low_rank)) + noise)


@pytest.mark.parametrize("kind", ["full", "fitc"])
def test_hyperparameters_are_recovered_within_their_error(kind: str) -> None:
    rng = stream(5, "tests", "recovery", kind)
    q = rng.uniform(-3, 3, (SIZE, 2))
    m = 80
    dense = partial(full_covariance, q) if kind == "full" else partial(fitc_covariance, q, m)
    truth = logarithms(TRUTH)
    t = linalg.cholesky(dense(truth), lower=True) @ rng.standard_normal(SIZE)
    found = found_from(kind, q, m, t)
    assert found.outcome == "converged"

    # Fisher information of a Gaussian model, its derivatives by central differences.
    h = 1e-5
    inverse = linalg.inv(dense(truth))
    slopes = [inverse @ (dense(truth + h * e) - dense(truth - h * e)) / (2 * h) for e in np.eye(3)]
    information = np.array([[0.5 * np.trace(a @ b) for b in slopes] for a in slopes])
    error = logarithms(found.hyperparameters) - truth
    assert error @ information @ error < stats.chi2(3).isf(FAILURE)
    # The data say enough for this to mean something.
    assert np.sqrt(np.diag(linalg.inv(information))).max() < 0.2


def found_from(kind: str, q: Array, m: int, t: Array) -> Maximum:
    likelihood: LogLikelihood
    if kind == "full":
        likelihood = partial(gaussian_process.log_likelihood, cdist(q, q, "sqeuclidean"), t)
    else:
        distances = fitc.Distances(cdist(q[:m], q[:m], "sqeuclidean"), cdist(q[:m], q, "sqeuclidean"))
        likelihood = partial(fitc.log_likelihood, distances, t)
    return maximise(likelihood, data_scales(q, t), max_evaluations=100)
