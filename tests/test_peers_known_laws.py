"""Posteriors of the comparison that independent draws can be made of: gradients, and draws against the density."""

import numpy as np
import pytest
from peers.hierarchies import EightSchools, Hospitals, NormalGamma
from peers.known_laws import (
    Banana,
    Contaminated,
    Funnel,
    Funnels,
    GammaBeta,
    KnownMoments,
    Law,
    LogGamma,
    Logistic,
    NormalMixture,
    SkewNormal,
    Student,
    TwistedGaussian,
    close_normals,
    three_normals,
    two_normals,
)
from scipy import stats
from scipy.special import roots_hermitenorm

from rnshmc.errors import NumericalError
from rnshmc.types import Array, Potential
from tests.conftest import check_slope, z_bound

LAWS: dict[str, Law] = {
    "twisted": TwistedGaussian(),
    "funnel": Funnel(),
    "banana": Banana(),
    "student": Student(),
    "log_gamma": LogGamma(),
    "skew": SkewNormal(),
    "logistic": Logistic(),
    "normal_gamma": NormalGamma(),
    "schools": EightSchools(centred=False),
    "hospitals": Hospitals(centred=False),
    "two": two_normals(),
    "close": close_normals(),
    "contaminated": Contaminated(0.1, 5.0, 3),
    "three": three_normals(),
}

DRAWN = {**LAWS, "bounded": GammaBeta()}
CENTRED = {"schools centred": EightSchools(centred=True), "hospitals centred": Hospitals(centred=True)}


@pytest.mark.parametrize("potential", [*LAWS.values(), *CENTRED.values()], ids=[*LAWS, *CENTRED])
def test_gradients_are_slopes(potential: Potential) -> None:
    rng = np.random.default_rng(6)
    for q in (np.linspace(-1.0, 2.0, potential.dim), 3.0 * rng.standard_normal(potential.dim)):
        direction = rng.standard_normal(potential.dim)
        check_slope(potential.value, float(potential.gradient(q) @ direction), q, direction)


def moved(law: str, draws: Array) -> Array:
    """z-scores of the mean over draws of q_i dU/dq_i - 1, which is 0 for draws of exp(-U) (integration by parts)."""
    terms = draws * np.array([DRAWN[law].gradient(q) for q in draws]) - 1.0
    return np.asarray(terms.mean(axis=0) / (terms.std(axis=0, ddof=1) / np.sqrt(len(draws))))


@pytest.mark.parametrize("law", DRAWN)
def test_draws_are_those_of_the_density(law: str) -> None:
    potential = DRAWN[law]
    draws = potential.sample(np.random.default_rng(1), 5000)
    assert np.abs(moved(law, draws)).max() < z_bound(potential.dim)
    # A tenth wider, they are others.
    assert np.abs(moved(law, 1.1 * draws)).max() > z_bound(potential.dim)


@pytest.mark.parametrize(
    "law", sorted(name for name, law in DRAWN.items() if isinstance(law, KnownMoments) and name != "funnel")
)
def test_moments_are_those_of_draws(law: str) -> None:
    """Not those of a funnel: of squares with a log-normal factor of log variance 9, 20000 draws tell no error."""
    potential = DRAWN[law]
    assert isinstance(potential, KnownMoments)
    draws = potential.sample(np.random.default_rng(4), 20000)
    for values, moment in ((draws, potential.mean), ((draws - potential.mean) ** 2, potential.variance)):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(draws))
        assert (np.abs(values.mean(axis=0) - moment) < z_bound(2 * potential.dim) * error).all()


@pytest.mark.parametrize(
    "law",
    [
        TwistedGaussian(2),
        Funnel(2),
        Funnels(1.0, (1, 1)),
        Contaminated(0.2, 3.0, 2),
        Banana(),
        Student(2),
        LogGamma(2),
        SkewNormal(2),
        Logistic(2),
        NormalGamma(1),
        GammaBeta(),
        three_normals(),
    ],
    ids=lambda law: type(law).__name__,
)
def test_the_integral_is_that_of_the_density(law: KnownMoments) -> None:
    """Over draws, g exp(U) has the mean 1 / Z for a normal density g that is narrower than the law."""
    rng = np.random.default_rng(5)
    centre = min(law.sample(rng, 200), key=law.value)
    draws = law.sample(rng, 20000)
    logs = np.array([law.value(q) for q in draws]) + law.log_evidence
    sd = 0.3 * np.minimum(1.0, np.sqrt(np.broadcast_to(law.variance, law.dim)))
    ratios = np.exp(logs + stats.norm.logpdf(draws, centre, sd).sum(axis=1))
    assert abs(ratios.mean() - 1.0) < z_bound() * ratios.std() / np.sqrt(len(draws)) < 0.5


def test_a_bounded_law_ends_at_its_bounds() -> None:
    law, direction = GammaBeta(), np.array([0.3, -0.1])
    for q in ([0.5, 0.7], [4.0, 0.2]):
        check_slope(law.value, float(law.gradient(np.array(q)) @ direction), np.array(q), direction)
    assert law.value(np.array([-0.1, 0.5])) == law.value(np.array([1.0, 1.1])) == np.inf


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
