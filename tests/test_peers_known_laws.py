"""Posteriors of the comparison that independent draws can be made of: gradients, and draws against the density."""

import numpy as np
import pytest
from peers.hospitals import Hospitals
from peers.known_laws import (
    Banana,
    EightSchools,
    Funnel,
    KnownMoments,
    LogGamma,
    NormalMixture,
    Student,
    TwistedGaussian,
    three_normals,
    two_normals,
)
from scipy.special import roots_hermitenorm

from rnshmc.errors import NumericalError
from rnshmc.types import Array, Potential
from tests.conftest import check_slope, z_bound

LAWS = {
    "twisted": TwistedGaussian(),
    "funnel": Funnel(),
    "banana": Banana(),
    "student": Student(),
    "log_gamma": LogGamma(),
    "schools": EightSchools(centred=False),
    "hospitals": Hospitals(centred=False),
    "two": two_normals(),
    "three": three_normals(),
}

CENTRED = {"schools centred": EightSchools(centred=True), "hospitals centred": Hospitals(centred=True)}


@pytest.mark.parametrize("potential", [*LAWS.values(), *CENTRED.values()], ids=[*LAWS, *CENTRED])
def test_gradients_are_slopes(potential: Potential) -> None:
    rng = np.random.default_rng(6)
    for q in (np.linspace(-1.0, 2.0, potential.dim), 3.0 * rng.standard_normal(potential.dim)):
        direction = rng.standard_normal(potential.dim)
        check_slope(potential.value, float(potential.gradient(q) @ direction), q, direction)


def moved(law: str, draws: Array) -> Array:
    """z-scores of the mean over draws of q_i dU/dq_i - 1, which is 0 for draws of exp(-U) (integration by parts)."""
    terms = draws * np.array([LAWS[law].gradient(q) for q in draws]) - 1.0
    return np.asarray(terms.mean(axis=0) / (terms.std(axis=0, ddof=1) / np.sqrt(len(draws))))


@pytest.mark.parametrize("law", LAWS)
def test_draws_are_those_of_the_density(law: str) -> None:
    potential = LAWS[law]
    draws = potential.sample(np.random.default_rng(1), 20000)
    assert np.abs(moved(law, draws)).max() < z_bound(potential.dim)
    # A tenth wider, they are others.
    assert np.abs(moved(law, 1.1 * draws)).max() > z_bound(potential.dim)


@pytest.mark.parametrize("law", ["twisted", "banana", "student", "log_gamma"])
def test_moments_are_those_of_draws(law: str) -> None:
    """Not those of a funnel: of squares with a log-normal factor of log variance 9, 20000 draws tell no error."""
    potential = LAWS[law]
    assert isinstance(potential, KnownMoments)
    draws = potential.sample(np.random.default_rng(4), 20000)
    for values, moment in ((draws, potential.mean), ((draws - potential.mean) ** 2, potential.variance)):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert (np.abs(values.mean(axis=0) - moment) < z_bound(2 * potential.dim) * error).all()


def test_the_variance_of_a_funnel_is_that_of_log_normal_scales() -> None:
    """E exp(v) for v ~ N(0, 9), by quadrature."""
    nodes, weights = roots_hermitenorm(60)
    expected = weights @ np.exp(3.0 * nodes) / weights.sum()
    np.testing.assert_allclose(Funnel(3).variance, [9.0, expected, expected], rtol=1e-12)


def test_both_forms_of_the_eight_schools_are_one_posterior() -> None:
    centred, free = (EightSchools(centred=form) for form in (True, False))
    of_centred, of_free = (form.sample(np.random.default_rng(2), 50) for form in (centred, free))
    tau = np.exp(of_free[:, 9:])
    np.testing.assert_allclose(of_centred[:, :8], of_free[:, 8:9] + tau * of_free[:, :8], rtol=1e-9, atol=1e-9)
    jacobians = [free.value(q) - centred.value(p) + 8.0 * q[9] for q, p in zip(of_free, of_centred, strict=True)]
    np.testing.assert_allclose(jacobians, 0.0, atol=1e-9)


def test_shares_of_a_mixture_are_those_of_its_draws() -> None:
    three = three_normals()
    draws = three.sample(np.random.default_rng(3), 20000)
    nearest = [(draws[:, 0] > 4.0).mean(), (draws[:, 1] > 4.0).mean()]
    error = np.sqrt(np.array([0.16, 0.21]) / len(draws))
    # Each of the others has less than 3e-5 of its mass beyond the middle.
    assert (np.abs(np.array(nearest) - [0.2, 0.3]) < z_bound(2) * error + 1e-3).all()


def test_a_mixture_is_normalised() -> None:
    one = NormalMixture(np.ones(1), np.zeros((1, 2)), np.full(1, 2.0))
    assert one.value(np.zeros(2)) == pytest.approx(np.log(8.0 * np.pi))


@pytest.mark.parametrize("centred", [True, False])
def test_a_spread_that_overflows_is_a_numerical_error(centred: bool) -> None:
    with pytest.raises(NumericalError, match="tau"):
        EightSchools(centred=centred).value(np.full(10, 400.0))
