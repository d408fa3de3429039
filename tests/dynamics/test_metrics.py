"""Mass matrices: momentum has covariance M, velocity is M^-1 p."""

import numpy as np
import pytest
from scipy import stats

from rnshmc.dynamics.metrics import DenseMetric, IdentityMetric, Metric
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.types import Array

MASS = np.array([[2.0, 0.5], [0.5, 1.0]])


@pytest.mark.parametrize(("metric", "mass"), [(IdentityMetric(), np.eye(2)), (DenseMetric(MASS), MASS)])
def test_momentum_has_the_mass_as_covariance(metric: Metric, mass: Array) -> None:
    rng = stream(3, "momentum")
    n = 20000
    p = np.stack([metric.sample_momentum(rng, 2) for _ in range(n)])
    # Var of a sample covariance entry is (M_ii M_jj + M_ij^2) / n for Gaussian momenta.
    se = np.sqrt((np.outer(np.diag(mass), np.diag(mass)) + mass**2) / n)
    # Five numbers, with probability 1e-6 to fail.
    z = stats.norm.isf(1e-6 / 10)
    assert np.all(np.abs(np.cov(p.T) - mass) < z * se)
    assert np.all(np.abs(p.mean(axis=0)) < z * np.sqrt(np.diag(mass) / n))


@pytest.mark.parametrize(("metric", "mass"), [(IdentityMetric(), np.eye(2)), (DenseMetric(MASS), MASS)])
def test_velocity_is_the_gradient_of_kinetic_energy(metric: Metric, mass: Array) -> None:
    p = np.array([0.3, -1.2])
    np.testing.assert_allclose(metric.velocity(p), np.linalg.solve(mass, p), rtol=1e-13)
    assert metric.kinetic_energy(p) == pytest.approx(0.5 * p @ np.linalg.solve(mass, p), rel=1e-13)


@pytest.mark.parametrize(
    ("mass", "message"),
    [
        (np.array([[1.0, 0.2], [0.3, 1.0]]), "not symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "not positive definite"),
        (np.ones((2, 3)), "square"),
    ],
)
def test_a_bad_mass_is_named(mass: Array, message: str) -> None:
    with pytest.raises(ParameterError, match=f"mass.*{message}"):
        DenseMetric(mass)
