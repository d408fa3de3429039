"""Priors of every kind against scipy, by slopes, and by their draws."""

import pickle
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rnshmc
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.inference.exact.priors.base import Prior
from rnshmc.inference.exact.priors.making import make_prior
from rnshmc.inference.exact.priors.named import KINDS
from rnshmc.types import Array
from tests.conftest import z_bound

EPS = float(np.finfo(np.float64).eps)
INF = np.inf
COVARIANCE = np.array([[2.0, 0.9], [0.9, 0.7]])

NAMED: dict[str, tuple[tuple[Any, ...], Any, tuple[float, float]]] = {
    "normal": (("normal", 1.0, 0.5), stats.norm(1.0, 0.5), (-INF, INF)),
    "lognormal": (("lognormal", 0.3, 0.6), stats.lognorm(0.6, scale=np.exp(0.3)), (0.0, INF)),
    "uniform": (("uniform", 0.1, 0.7), stats.uniform(0.1, 0.6), (0.1, 0.7)),
    "uniform_angle": (("uniform_angle", 0.1, 0.7), stats.uniform(0.1, 0.6), (-INF, INF)),
    "loguniform": (("loguniform", 0.1, 20.0), stats.loguniform(0.1, 20.0), (0.1, 20.0)),
    "halfnormal": (("halfnormal", 2.0), stats.halfnorm(scale=2.0), (0.0, INF)),
    "gamma": (("gamma", 2.5, 4.0), stats.gamma(2.5, scale=0.25), (0.0, INF)),
    "inversegamma": (("inversegamma", 5.0, 2.0), stats.invgamma(5.0, scale=2.0), (0.0, INF)),
    "exponential": (("exponential", 3.0), stats.expon(scale=1 / 3.0), (0.0, INF)),
    "beta": (("beta", 2.0, 3.0), stats.beta(2.0, 3.0), (0.0, 1.0)),
    "cauchy": (("cauchy", 1.0, 2.0), stats.cauchy(1.0, 2.0), (-INF, INF)),
    "halfcauchy": (("halfcauchy", 2.0), stats.halfcauchy(scale=2.0), (0.0, INF)),
    "student_t": (("student_t", 3.0, 1.0, 2.0), stats.t(3.0, 1.0, 2.0), (-INF, INF)),
}
FROZEN = {f"scipy {name}": (law, law, support) for name, (_, law, support) in NAMED.items() if name != "uniform_angle"}
UNIVARIATE = {**NAMED, **FROZEN}
univariate = pytest.mark.parametrize("name", UNIVARIATE)


def test_every_kind_is_among_the_cases() -> None:
    assert NAMED.keys() == KINDS.keys()


@univariate
def test_one_parameter_has_the_density_of_scipy(name: str, assert_slope: Callable[..., None]) -> None:
    given, law, support = UNIVARIATE[name]
    prior = make_prior({"a": given}, ["a"])
    x = law.ppf(np.linspace(0.05, 0.95, 7))[:, None]
    values, gradients = prior.potential(x)
    np.testing.assert_allclose(values, -law.logpdf(x[:, 0]), rtol=0, atol=100 * EPS * (1.0 + np.abs(values).max()))
    if name in NAMED:
        step = np.array([0.02 * (law.ppf(0.6) - law.ppf(0.4))])
        assert_slope(lambda q: float(prior.potential(q[None])[0][0]), float(gradients[2, 0] * step[0]), x[2], step)
    assert prior.bounds == ({0: support} if np.isfinite(support).any() else {})


@univariate
def test_gradients_are_exact_to_their_kind_of_rounding(name: str) -> None:
    given, law, _ = UNIVARIATE[name]
    x = law.ppf(np.linspace(0.1, 0.9, 5))[:, None]
    found = make_prior({"a": given}, ["a"]).potential(x)[1]
    exact = make_prior({"a": UNIVARIATE[name.removeprefix("scipy ")][0]}, ["a"]).potential(x)[1]
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-6 * np.abs(exact).max())


def test_slopes_of_a_scipy_distribution_hold_near_the_end_of_its_support() -> None:
    """Its density may be a power of the distance from there: of gamma(0.1), x^-0.9."""
    law = stats.gamma(0.1)
    x = law.ppf([1e-4, 1e-2, 0.1, 0.3])[:, None]
    found = make_prior({"a": law}, ["a"]).potential(x)[1]
    # The error of a central difference of log x with steps of 1e-3 x is (1e-3)^2 / 3 of it.
    np.testing.assert_allclose(found, 1.0 - (0.1 - 1.0) / x, rtol=1e-6)


@univariate
def test_outside_the_support_the_potential_is_infinite(name: str) -> None:
    given, _, support = UNIVARIATE[name]
    prior = make_prior({"a": given}, ["a"])
    outside = [side + sign for side, sign in zip(support, (-0.5, 0.5), strict=True) if np.isfinite(side)]
    values, gradients = prior.potential(np.array([*outside, np.nan])[:, None])
    assert (values == INF).all()
    assert not gradients.any()


@univariate
def test_scale_and_draws_are_those_of_the_distribution(name: str) -> None:
    given, law, _ = UNIVARIATE[name]
    prior = make_prior({"a": given}, ["a"])
    heavy = "cauchy" in name
    assert prior.scale is not None
    np.testing.assert_allclose(prior.scale, np.nan if heavy else law.std())
    draws = prior.draws(np.random.default_rng(0), 4000)
    assert draws is not None
    # Uniform in (0, 1), whatever the distribution.
    ranks = law.cdf(draws[:, 0])
    bound = z_bound(2) * np.sqrt(1 / 12 / 4000)
    assert abs(ranks.mean() - 0.5) < bound
    assert abs((ranks**2).mean() - 1 / 3) < 1.1 * bound


@pytest.mark.parametrize("given", [(1.0, 2.0), (np.array([1.0, -1.0]), 2.0), rnshmc.Normal([1.0, -1.0], [0.5, 2.0])])
def test_independent_normal_priors(given: Any) -> None:
    mean, sd = (given.mean, given.sd) if isinstance(given, rnshmc.Normal) else given
    x = np.random.default_rng(1).normal(size=(6, 2))
    check_density(make_prior(given, ["a", "b"]), x, np.sum(stats.norm.logpdf(x, mean, sd), axis=1))


def test_a_normal_prior_with_a_covariance(assert_slope: Callable[..., None]) -> None:
    prior = make_prior(rnshmc.Normal([1.0, -1.0], covariance=COVARIANCE), ["a", "b"])
    x, direction = np.random.default_rng(2).normal(size=(6, 2)), np.array([0.3, -0.2])
    check_density(prior, x, stats.multivariate_normal.logpdf(x, [1.0, -1.0], COVARIANCE))
    slope = float(prior.potential(x)[1][0] @ direction)
    assert_slope(lambda q: float(prior.potential(q[None])[0][0]), slope, x[0], direction)
    np.testing.assert_allclose(prior.scale, np.sqrt([2.0, 0.7]))  # type: ignore[arg-type]
    draws = prior.draws(np.random.default_rng(3), 4000)
    assert draws is not None
    offset = draws - [1.0, -1.0]
    products = np.einsum("ki,kj->kij", offset, offset)
    z = (products.mean(axis=0) - COVARIANCE) / (products.std(axis=0) / np.sqrt(4000))
    assert np.abs(z).max() < z_bound(4)


def check_density(prior: Prior, x: Array, log_density: Array) -> None:
    np.testing.assert_allclose(
        prior.potential(x)[0], -log_density, rtol=0, atol=1e3 * EPS * (1.0 + np.abs(log_density).max())
    )


def test_a_mapping_may_mix_everything() -> None:
    given: Mapping[Any, Any] = {
        ("c", "a"): rnshmc.Normal([1.0, -1.0], covariance=COVARIANCE),
        "e": ("gamma", 2.0, 1.0),
        "b": stats.norm(0.0, 3.0),
        "f": rnshmc.Normal(0.0, 2.0),
        "g": ("gamma", 5.0, 2.0),
    }
    prior = make_prior(given, ["a", "b", "c", "d", "e", "f", "g"])
    x = np.random.default_rng(4).uniform(0.5, 2.0, (5, 7))
    exact = stats.multivariate_normal.logpdf(x[:, [2, 0]], [1.0, -1.0], COVARIANCE)
    exact += stats.gamma.logpdf(x[:, 4], 2.0) + stats.gamma.logpdf(x[:, 6], 5.0, scale=0.5)
    exact += stats.norm.logpdf(x[:, 1], 0.0, 3.0) + stats.norm.logpdf(x[:, 5], 0.0, 2.0)
    check_density(prior, x, exact)
    assert isinstance(prior, Prior)
    assert prior.bounds == {4: (0.0, INF), 6: (0.0, INF)}
    scale = [np.sqrt(0.7), 3.0, np.sqrt(2.0), np.nan, np.sqrt(2.0), 2.0, np.sqrt(5) / 2]
    np.testing.assert_allclose(prior.scale, scale)  # type: ignore[arg-type]
    assert prior.draws(np.random.default_rng(0), 3) is None
    assert not prior.potential(x)[1][:, 3].any()
    x[1, 4] = -1.0
    values, gradients = prior.potential(x)
    np.testing.assert_array_equal(np.isinf(values), [False, True, False, False, False])
    assert not gradients[1].any()


def test_a_mapping_without_flat_parameters_has_draws() -> None:
    prior = make_prior({"b": ("uniform", 2, 3), "a": ("normal", -5, 0.1)}, ["a", "b"])
    draws = prior.draws(np.random.default_rng(0), 50)
    assert draws is not None
    assert draws.shape == (50, 2)
    assert (draws[:, 0] < 0).all()
    assert (draws[:, 1] > 2).all()


def test_no_prior_is_flat() -> None:
    prior = make_prior(None, ["a", "b"])
    values, gradients = prior.potential(np.ones((3, 2)))
    assert not values.any()
    assert gradients.shape == (3, 2)
    assert (prior.bounds, prior.scale) == ({}, None)


class Quartic:
    dim = 2

    def value(self, q: Array) -> float:
        return self.value_and_grad(q)[0]

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if q[0] > 5:
            raise NumericalError("too far")
        return float((q**4).sum()), 4 * q**3


def number(x: Array) -> float:
    return -float((x**4).sum()) if x[0] <= 5 else -np.inf


def pair(x: Array) -> tuple[float, Array]:
    return number(x), -4 * x**3


def in_jax(x: Any) -> Any:
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    return jnp.where(x[0] <= 5, -(x**4).sum(), -jnp.inf)


@pytest.mark.parametrize(
    ("given", "rtol"),
    [(Quartic(), 1e-14), (pair, 1e-14), (in_jax, 1e-14), (number, 1e-8)],
    ids=["potential", "pair", "jax", "number"],
)
def test_a_function_or_a_potential(given: Any, rtol: float) -> None:
    prior = make_prior(given, ["a", "b"])
    x = np.array([[1.0, -2.0], [6.0, 1.0], [0.5, 0.25]])
    values, gradients = prior.potential(x)
    np.testing.assert_allclose(values, [17.0, INF, 0.5**4 + 0.25**4], rtol=1e-14)
    np.testing.assert_allclose(gradients, np.where(x[:, :1] > 5, 0.0, 4 * x**3), rtol=rtol, atol=10 * rtol)
    assert (prior.bounds, prior.scale, prior.draws(np.random.default_rng(0), 2)) == ({}, None, None)


def test_differences_at_the_edge_of_the_support_are_one_sided() -> None:
    prior = make_prior(lambda x: -3.0 * float(x[0]) if x[0] >= 0 else -np.inf, ["a"])
    np.testing.assert_allclose(prior.potential(np.zeros((1, 1)))[1], [[3.0]], rtol=1e-9)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            rnshmc.Normal([0.0], [1.0]),
            "prior: a normal prior of 1 parameters was given, there are 2: a, b; for a normal prior of some of them, "
            "give a mapping: {('a',): rnshmc.Normal(...), ...}",
        ),
        ((np.zeros(3), 1.0), "prior: a normal prior of 3 parameters was given, there are 2: a, b"),
        ({"c": ("normal", 0, 1)}, "prior: no parameter is named 'c'; there are 2: a, b"),
        ({"a": ("normal", 0, 1), ("b", "a"): rnshmc.Normal(0, 1)}, "prior: 'a' has two entries, expected at most one"),
        (
            {("a", "b"): ("normal", 0, 1)},
            "prior of ('a', 'b'): expected rnshmc.Normal for several names, got ('normal'",
        ),
        ({("a", "b"): rnshmc.Normal([0.0] * 3, 1)}, "prior: a normal prior of 3 parameters was given, there are 2"),
        ({"a": ("norm", 0, 1)}, "prior of a: there is no distribution 'norm'; there are normal, lognormal, uniform"),
        ({"a": (0, 1)}, "prior of a: there is no distribution 0; there are normal"),
        ({"a": ("normal", 0)}, "prior of a: expected ('normal', mean, sd) with finite numbers, got ('normal', 0)"),
        ({"a": ("normal", 0, "s")}, "prior of a: expected ('normal', mean, sd) with numbers, got [0, 's']"),
        ({"a": ("normal", 0, -1)}, "prior of a: expected a positive sd in ('normal', mean, sd), got -1"),
        ({"a": ("uniform", 2, 1)}, "prior of a: expected low < high in ('uniform', low, high), got ('uniform', 2, 1)"),
        ({"a": ("uniform", 0, np.inf)}, "prior of a: expected ('uniform', low, high) with finite numbers"),
        ({"a": 3.0}, 'prior of a: expected a distribution such as ("normal", 0, 1), rnshmc.Normal or a frozen'),
        ({"a": stats.poisson(3)}, 'prior of a: expected a distribution such as ("normal", 0, 1)'),
        (stats.norm(), "prior: got one distribution, "),
        (("normal", 0, 1), "prior: got one distribution, ('normal', 0, 1); give one for each name: {'a': ..., ...}"),
        (("exponential", 1), "prior: got one distribution, ('exponential', 1)"),
        (([0.0], [1.0], [2.0]), "prior: got ([0.0], [1.0], [2.0]), expected None"),
        (3.0, "prior: got 3.0, expected None, a pair (mean, sd), rnshmc.Normal"),
    ],
)
def test_unusable_priors_are_refused(given: Any, sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_prior(given, ["a", "b"])
    assert str(error.value).startswith(sentence)


def test_differences_are_right_for_parameters_of_any_size() -> None:
    law = stats.lognorm(0.7, scale=1e-6)
    prior = make_prior(lambda z: law.logpdf(z[0]) - 0.5 * z[1] ** 2, ["small", "one"])
    x = np.column_stack((law.ppf([0.02, 0.3, 0.8]), [1e-7, -0.3, 0.0]))
    exact = np.column_stack(((1.0 + np.log(x[:, 0] / 1e-6) / 0.49) / x[:, 0], x[:, 1]))
    # Of an entry near 0 that is of size 1, a step of its own size leaves rounding errors of 1e-16 over 6e-13.
    np.testing.assert_allclose(prior.potential(x)[1], exact, rtol=1e-5, atol=1e-3)


def test_a_potential_has_the_dimension_of_the_parameters() -> None:
    with pytest.raises(ParameterError, match="prior: the potential has 2 parameters, there are 3: a, b, c"):
        make_prior(Quartic(), ["a", "b", "c"])


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rnshmc.Normal(0.0), "Normal: expected sd or covariance, got none"),
        (lambda: rnshmc.Normal(0.0, 1.0, covariance=np.eye(1)), "Normal: expected sd or covariance, got both"),
        (lambda: rnshmc.Normal(0.0, 0.0), "Normal: expected a positive sd, got 0.0"),
        (
            lambda: rnshmc.Normal([0.0, 1.0], [1.0] * 3),
            "Normal: mean has shape (2,), sd or covariance is for 3 parameters",
        ),
        (
            lambda: rnshmc.Normal([0.0, 1.0], covariance=np.eye(3)),
            "Normal: mean has shape (2,), sd or covariance is for",
        ),
        (lambda: rnshmc.Normal(np.inf, 1.0), "Normal: expected mean to be finite numbers of shape (d,), got inf"),
        (lambda: rnshmc.Normal([0.0], covariance=[[-1.0]]), "Normal: covariance: expected a positive definite matrix"),
    ],
)
def test_arguments_of_normal_that_cannot_be_used(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(sentence)


def test_return_values_of_a_function_are_checked() -> None:
    with pytest.raises(ParameterError, match=r"prior: its gradient has shape \(1,\), expected \(2,\)"):
        make_prior(lambda x: (0.0, x[:1]), ["a", "b"]).potential(np.ones((1, 2)))


@univariate
def test_a_prior_can_be_pickled(name: str) -> None:
    prior = make_prior({"a": UNIVARIATE[name][0]}, ["a"])
    x = np.array([[0.3], [0.6]])
    expected = prior.potential(x)
    sent = pickle.loads(pickle.dumps(prior))
    for found, part in zip(sent.potential(x), expected, strict=True):
        np.testing.assert_array_equal(found, part)
