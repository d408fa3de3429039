"""The log evidence against known constants, and its standard error over repetitions."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from peers.known_laws import LogGamma
from scipy import stats
from scipy.integrate import quad
from scipy.special import gammaln

import rnshmc
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.result import evidence
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import log_evidence, log_normaliser
from rnshmc.inference.result.printed import with_error
from rnshmc.inference.stages.correction import draw_surrogate
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.uncertainty import Tails, no_tails
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import FAILURE, z_bound
from tests.inference.conftest import interrupted

REPETITIONS = 200
CHECKS = 100
WAVE, TURNS = 0.35, 3.0


def sampled(target: Any, x0: Array, **settings: Any) -> rnshmc.Result:
    return rnshmc.sample(target, x0, seed=1, progress_bar=False, **settings)


def assert_known(found: Estimate, exact: float) -> None:
    assert abs(float(found.value) - exact) < z_bound() * float(found.standard_error)


def normal_density(dim: int, *, constant: float) -> tuple[Callable[[Array], tuple[float, Array]], float]:
    """A correlated normal density times exp(constant), and the log of its integral."""
    rng = stream(1, "normal", str(dim))
    root = rng.standard_normal((dim, 2 * dim)) / np.sqrt(dim)
    covariance, mean = root @ root.T, rng.standard_normal(dim)
    precision = np.linalg.inv(covariance)

    def density(x: Array) -> tuple[float, Array]:
        slope = precision @ (mean - x)
        return constant + 0.5 * float((x - mean) @ slope), slope

    return density, constant + 0.5 * float(np.linalg.slogdet(2.0 * np.pi * covariance)[1])


@pytest.mark.parametrize("dim", [2, 20])
def test_of_a_normal_density_the_constant_is_known(dim: int) -> None:
    density, exact = normal_density(dim, constant=7.0)
    found = sampled(density, np.zeros(dim), draws=500).log_evidence
    assert_known(found, exact)
    assert float(found.standard_error) < 0.05


def test_the_integral_is_over_the_users_parameters() -> None:
    """A gamma density without its constant, and a beta one, on bounded parameters."""

    def density(x: Array) -> tuple[float, Array]:
        value = 3.0 * np.log(x[0]) - 2.0 * x[0] + 4.0 * np.log(x[1] - 1.0) + 2.0 * np.log(3.0 - x[1])
        return float(value), np.array([3.0 / x[0] - 2.0, 4.0 / (x[1] - 1.0) - 2.0 / (3.0 - x[1])])

    exact = gammaln(4.0) - 4.0 * np.log(2.0) + 7.0 * np.log(2.0) + gammaln(5.0) + gammaln(3.0) - gammaln(8.0)
    found = sampled(density, np.array([1.0, 2.0]), draws=500, bounds=["positive", (1.0, 3.0)]).log_evidence
    assert_known(found, float(exact))


def test_of_a_model_with_bounded_parameters_it_is_the_integral_by_quadrature() -> None:
    """y = a exp(-k t) + e, for a normal prior of a and a gamma prior of k."""
    times, rng = np.linspace(0.2, 3.0, 8), stream(1, "decay")
    data = 2.0 * np.exp(-0.7 * times) + 0.1 * rng.standard_normal(8)
    model = rnshmc.Model(
        lambda x: x[0] * np.exp(-x[1] * times),
        data,
        likelihood=rnshmc.Gaussian(sd=0.1),
        prior={"a": ("normal", 1.0, 1.0), "k": ("gamma", 2.0, 2.0)},
        jacobian=lambda x: np.stack((np.exp(-x[1] * times), -x[0] * times * np.exp(-x[1] * times)), axis=1),
    )
    a, k = np.meshgrid(np.linspace(0.0, 5.0, 401), np.linspace(0.0, 3.0, 402)[1:], indexing="ij")
    log_densities = stats.norm.logpdf(data, a[..., None] * np.exp(-k[..., None] * times), 0.1).sum(axis=-1)
    log_densities += stats.norm.logpdf(a, 1.0, 1.0) + stats.gamma.logpdf(k, 2.0, scale=0.5)
    exact = float(np.log(np.exp(log_densities).sum() * (5.0 / 400) * (3.0 / 401)))
    result = sampled(model, np.ones(2), draws=500, names=["a", "k"])
    assert_known(result.log_evidence, exact)
    attributes = result.to_arviz().posterior.attrs
    assert attributes["log_evidence"] == float(result.log_evidence.value)
    assert attributes["log_evidence_standard_error"] == float(result.log_evidence.standard_error)
    value, error = with_error(*map(float, (result.log_evidence.value, result.log_evidence.standard_error)))
    assert f"log evidence {value} +- {error} (" in repr(result)


def test_without_a_surrogate_it_is_unknown() -> None:
    normal = interrupted(lambda x: float(np.log(np.exp(-0.5 * x @ x))), after=4)
    result = sampled(normal, np.array([[0.0], [0.0]]), draws=20)
    assert np.isnan(result.log_evidence.standard_error)
    assert "log evidence" not in repr(result)


@cache
def normal_surrogate() -> SurrogatePosterior:
    """A surrogate that is N(0, I / 4) in four dimensions, to rounding error."""
    rng = stream(1, "surrogate")
    points = rng.standard_normal((12, 4))
    training = Training(points, 2.0 * (points**2).sum(axis=1), 4.0 * points)
    return fit_posterior(training, Whitening(np.zeros(4), 2.0 * np.eye(4)), rng, DEFAULT.fitting)


def wave(z: Array) -> Array:
    """What such a potential is off by: standard deviation 0.5 over its draws, unevenly in z."""
    return np.asarray((WAVE * np.sin(TURNS * z + z**2 / 4.0)).sum(axis=-1))


def test_errors_of_a_rough_surrogate_are_calibrated() -> None:
    """Over new draws, the mean square of the errors in standard errors is that of normal ones."""
    posterior, rng = normal_surrogate(), stream(1, "checks")
    one = quad(lambda t: stats.norm.pdf(t) * np.exp(-float(wave(np.array([t])))), -9, 9, limit=200)[0]
    exact = 2.0 * np.log(2.0 * np.pi / 4.0) + 4.0 * np.log(one)
    assert 0.45 < wave(rng.standard_normal((100_000, 4))).std() < 0.55
    z = np.empty(REPETITIONS)
    for k in range(REPETITIONS):
        checked = rng.standard_normal((CHECKS, 4))
        differences = 0.5 * (checked**2).sum(axis=1) + wave(checked) - posterior.values(checked / 2.0)
        draws = rng.standard_normal((64, 10, 4)) / 2.0
        found = log_evidence(posterior, draws, differences, no_tails(4), rng)
        z[k] = (found.value - exact) / found.standard_error
    low, high = (float(stats.chi2.ppf(p, REPETITIONS)) / REPETITIONS for p in (FAILURE / 2, 1 - FAILURE / 2))
    assert low < (z**2).mean() < high
    assert abs(z.mean()) < z_bound() / np.sqrt(REPETITIONS)


def test_errors_of_the_normaliser_of_a_normal_surrogate_are_no_less_than_they_are() -> None:
    """By chains of correlated draws; as if errors of the two halves were independent, the mean square is 1.6."""
    rng, exact, z = stream(1, "normaliser of draws"), 2.0 * np.log(2.0 * np.pi / 4.0), np.empty(REPETITIONS)
    for k in range(REPETITIONS):
        draws = rng.standard_normal((32, 12, 4)) / 2.0
        for t in range(1, 12):
            draws[:, t] = 0.6 * draws[:, t - 1] + 0.8 * draws[:, t]
        found = log_normaliser(normal_surrogate(), draws, rng)
        z[k] = (found.value - exact) / found.standard_error
    assert (z**2).mean() < float(stats.chi2.ppf(1 - FAILURE, REPETITIONS)) / REPETITIONS


def test_few_uneven_weights_are_right_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    """exp(-slope z) over N(0, 1) has the mean exp(slope^2 / 2), and so has its average over 25 draws."""
    rng, slope = stream(1, "uneven"), 0.8
    monkeypatch.setattr(evidence, "log_normaliser", lambda *_: Estimate(np.array(0.0), np.array(0.0)))
    ratios = np.empty(10 * REPETITIONS)
    for k in range(len(ratios)):
        differences = slope * rng.standard_normal(25)
        found = log_evidence(normal_surrogate(), np.zeros((4, 5, 4)), differences, no_tails(4), rng)
        ratios[k] = np.exp(float(found.value) - slope**2 / 2.0)
    assert abs(ratios.mean() - 1.0) < z_bound() * ratios.std(ddof=1) / np.sqrt(len(ratios))


def test_the_error_is_no_less_than_the_process_expects() -> None:
    """Where 25 checked draws have even weights by chance."""
    posterior, draws = normal_surrogate(), stream(1, "few").standard_normal((64, 50, 4)) / 2.0
    found = log_evidence(posterior, draws, np.zeros(25), no_tails(4), stream(1, "bridge"), expected=0.25)
    assert float(found.standard_error) == pytest.approx(0.1, rel=0.01)


def test_the_normaliser_of_a_surrogate_is_its_integral_by_quadrature() -> None:
    """Of a skewed one, in coordinates that are sheared and moved."""
    rng, problem = stream(1, "normaliser"), LogGamma(2)
    points = np.log(rng.gamma(3.0, size=(10, 2)))
    found = [problem.value_and_grad(q) for q in points]
    training = Training(points, np.array([u for u, _ in found]), np.array([g for _, g in found]))
    whitening = Whitening(np.log([3.0, 3.0]), np.array([[1.8, 0.0], [0.4, 1.5]]))
    posterior = fit_posterior(training, whitening, rng, DEFAULT.fitting)
    side = np.linspace(-9.0, 9.0, 240)
    grid = whitening.unwhiten(np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2))
    cell = (side[1] - side[0]) ** 2 / (1.8 * 1.5)
    exact = float(np.log(cell * np.exp(-posterior.values(grid)).sum()))
    draws = draw_surrogate(posterior, rng.standard_normal((64, 2)), rng, DEFAULT.correction)
    assert_known(log_normaliser(posterior, draws, rng), exact)


class Cut:
    """|z|^2 / 2 where the first coordinate is below 0.5, and infinite elsewhere."""

    dim = 2

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        return np.where(z[:, 0] < 0.5, 0.5 * (z**2).sum(axis=1), np.inf), z


def test_a_surrogate_may_be_infinite_where_the_normal_density_is_not() -> None:
    rng = stream(1, "cut")
    cut: Any = Cut()
    posterior = replace(normal_surrogate(), kernel=cut, whitening=Whitening(np.zeros(2), np.eye(2)), offset=0.0)
    first = stats.norm.ppf(stats.norm.cdf(0.5) * rng.uniform(size=(64, 50)))
    draws = np.stack((first, rng.standard_normal((64, 50))), axis=-1)
    assert_known(log_normaliser(posterior, draws, rng), float(np.log(2.0 * np.pi * stats.norm.cdf(0.5))))


def test_what_tails_may_lack_widens_the_error() -> None:
    draws = stream(1, "tails").standard_normal((64, 50, 4)) / 2.0
    tails = Tails(np.full((2, 4), 3.0), np.array([0.1, 0.2]))
    found = log_evidence(normal_surrogate(), draws, np.zeros(CHECKS), tails, stream(1, "bridge"))
    assert float(found.standard_error) == pytest.approx(0.3, abs=0.01)


def test_without_checked_draws_there_is_a_value_and_no_error() -> None:
    posterior, draws = normal_surrogate(), stream(1, "none").standard_normal((64, 50, 4)) / 2.0
    for differences in (np.zeros(0), np.full(9, np.inf)):
        found = log_evidence(posterior, draws, differences, no_tails(4), stream(1, "bridge"))
        assert found.value == log_normaliser(posterior, draws, stream(1, "bridge")).value
        assert np.isnan(found.standard_error)


def test_draws_that_span_no_volume_leave_it_unknown() -> None:
    still = np.zeros((8, 5, 4))
    found = log_evidence(normal_surrogate(), still, np.zeros(CHECKS), no_tails(4), stream(1, "still"))
    assert np.isnan([found.value, found.standard_error]).all()
