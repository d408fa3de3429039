from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest
from scipy.stats import ortho_group

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.surrogates.softabs import SoftAbsMetric
from rnshmc.types import Array, RiemannianDriver

EPS = float(np.finfo(np.float64).eps)
SOFTNESS = 0.5
Shape = Literal["full", "diagonal"]

pytestmark = pytest.mark.filterwarnings("error")

SPECTRA = {
    "safely positive definite": [20.0, 25.0, 60.0],
    "barely positive definite": [0.1, 0.7, 3.0],
    "indefinite": [-4.0, -1e-3, 2.0],
    "mixed": [-0.2, 0.3, 1e3],
    "zero": [0.0, 0.0, 0.0],
    "degenerate": [0.4, 0.4, 1.0],
    "nearly degenerate": [0.4, 0.4 + 1e-10, -0.4],
}
"""Eigenvalues of a Hessian; those of the first are above 20 times the softness, and stay there near the origin."""


class Cubic:
    """A cubic potential q'A q / 2 + T(q, q, q) / 6, whose third derivatives T are the same everywhere."""

    def __init__(self, quadratic: Array) -> None:
        self.quadratic, self.dim = quadratic, len(quadratic)
        draws = stream(3, "tests", "cubic").standard_normal((self.dim,) * 3)
        orders = [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)]
        self.cubic: Array = np.sum([draws.transpose(order) for order in orders], axis=0) / 6

    def gradient(self, q: Array) -> Array:
        gradient: Array = self.quadratic @ q + 0.5 * self.cubic @ q @ q
        return gradient

    def hessian(self, q: Array) -> Array:
        hessian: Array = self.quadratic + self.cubic @ q
        return hessian

    def hessian_vjp(self, q: Array, m: Array) -> Array:
        contraction: Array = np.einsum("ijk,jk->i", self.cubic, m)
        return contraction

    def hessian_vjp_factored(self, q: Array, factor: Array) -> Array:
        return self.hessian_vjp(q, factor @ factor.T)

    def hessian_diagonal(self, q: Array) -> Array:
        return np.array(np.diag(self.hessian(q)))

    def hessian_diagonal_vjp(self, q: Array, m: Array) -> Array:
        return self.hessian_vjp(q, np.diag(m))


def rotated(spectrum: list[float]) -> Array:
    """A symmetric matrix with these eigenvalues and eigenvectors along no axis."""
    vectors = ortho_group.rvs(len(spectrum), random_state=stream(3, "tests", "rotation"))
    matrix = (vectors * spectrum) @ vectors.T
    return np.array(0.5 * (matrix + matrix.T))


def driver(spectrum: list[float], shape: Shape) -> SoftAbsMetric:
    """The metric of a cubic potential; at the origin the spectrum is that of its Hessian or of its diagonal."""
    quadratic = np.diag(spectrum) + 0.1 * (1 - np.eye(len(spectrum))) if shape == "diagonal" else rotated(spectrum)
    return SoftAbsMetric(Cubic(quadratic), shape, SOFTNESS)


def softabs(x: Array) -> Array:
    return np.array([SOFTNESS if v == 0 else v / np.tanh(v / SOFTNESS) for v in x])


def test_it_is_a_riemannian_driver_and_its_gradient_the_surrogates() -> None:
    metric = driver(SPECTRA["mixed"], "full")
    assert isinstance(metric, RiemannianDriver)
    q = np.array([0.1, 0.2, 0.3])
    assert np.array_equal(metric.gradient(q), metric.surrogate.gradient(q))
    assert metric.dim == 3


@pytest.mark.parametrize("name", SPECTRA)
@pytest.mark.parametrize("shape", ["full", "diagonal"])
class TestEverySpectrum:
    def test_metric_is_softabs_of_the_hessian_and_positive_definite(self, name: str, shape: Shape) -> None:
        metric = driver(SPECTRA[name], shape)
        G = metric.metric(np.zeros(3))
        spectrum = np.sort(softabs(np.array(SPECTRA[name])))
        values = np.linalg.eigvalsh(G) if shape == "full" else np.sort(G)
        assert values == pytest.approx(spectrum, abs=100 * EPS * spectrum.max())
        assert values.min() > 0.99 * SOFTNESS
        assert np.array_equal(G, G.T)
        assert metric.softened(np.zeros(3)) == (name != "safely positive definite")

    def test_metric_vjp_is_the_slope_of_the_contracted_metric(
        self, name: str, shape: Shape, assert_slope: Callable[..., None]
    ) -> None:
        metric, rng = driver(SPECTRA[name], shape), stream(3, "tests", "slope")
        q, direction = np.zeros(3), 0.5 * rng.standard_normal(3)
        for columns in (1, 3):
            factor = rng.standard_normal((3, columns))
            m = factor @ factor.T

            def contracted(q: Array, m: Array = m) -> float:
                G = metric.metric(q)
                return float(np.sum(m * G) if shape == "full" else np.diag(m) @ G)

            size = np.abs(m).sum() * (SOFTNESS + np.abs(metric.surrogate.hessian(q)).max())
            slope = metric.metric_vjp(q, factor) @ direction
            assert_slope(contracted, slope, q, direction, relative_error=100 * EPS * size / contracted(q))


def test_a_safely_positive_definite_hessian_is_the_metric_itself() -> None:
    q = np.array([0.1, -0.2, 0.3])
    full, diagonal = driver(SPECTRA["safely positive definite"], "full"), driver([20.0, 25.0, 60.0], "diagonal")
    assert not full.softened(q)
    assert full.metric(q).tobytes() == full.surrogate.hessian(q).tobytes()
    assert diagonal.metric(q).tobytes() == diagonal.surrogate.hessian_diagonal(q).tobytes()


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_metric_and_derivative_go_smoothly_over_the_switch(shape: Shape) -> None:
    """Both sides of the point where the smallest eigenvalue is 20 times the softness agree to rounding."""
    factor = stream(3, "tests", "switch").standard_normal((3, 3))
    step = 1e-12
    above, below = (driver([20 * SOFTNESS + side, 20.0, 60.0], shape) for side in (step, -step))
    q = np.zeros(3)
    assert (above.softened(q), below.softened(q)) == (False, True)
    assert below.metric(q) == pytest.approx(above.metric(q), abs=2 * step + 100 * EPS * 60)
    size = (factor**2).sum() * 60
    assert below.metric_vjp(q, factor) == pytest.approx(above.metric_vjp(q, factor), abs=100 * EPS * size)


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_answers_do_not_depend_on_what_was_asked_before(shape: Shape) -> None:
    rng = stream(3, "tests", "memory")
    q, other, factor = rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal((3, 2))
    metric = driver(SPECTRA["mixed"], shape).metric(q)
    slope = driver(SPECTRA["mixed"], shape).metric_vjp(q, factor)
    used = driver(SPECTRA["mixed"], shape)
    used.metric(q)[:] = 0.0
    position = q.copy()
    for _ in range(2):
        assert np.array_equal(used.metric(position), metric)
        assert np.array_equal(used.metric_vjp(position, factor), slope)
        position[:] = other
        assert not np.array_equal(used.metric_vjp(position, factor), slope)
        assert not np.array_equal(used.metric(position), metric)
        position[:] = q


def test_one_position_costs_one_hessian(monkeypatch: pytest.MonkeyPatch) -> None:
    positions = []
    hessian = Cubic.hessian

    def counted(self: Cubic, q: Array) -> Array:
        positions.append(q)
        return hessian(self, q)

    monkeypatch.setattr(Cubic, "hessian", counted)
    metric = driver(SPECTRA["mixed"], "full")
    for q in (np.zeros(3), np.ones(3)):
        metric.metric(q)
        metric.metric_vjp(q, np.eye(3))
        metric.softened(q)
    assert len(positions) == 2


@pytest.mark.parametrize("shape", ["full", "diagonal"])
@pytest.mark.parametrize(("softness", "softened"), [(1e-3, False), (1.0, True)])
def test_it_works_on_a_random_network(
    shape: Shape, softness: float, softened: bool, assert_slope: Callable[..., None]
) -> None:
    rng = stream(3, "tests", "network")
    states = rng.standard_normal((300, 3))
    potentials = (states**2).sum(axis=1) + 0.3 * states[:, 0] * states[:, 1]
    network = RandomNetwork.fit(states, potentials, rng=rng, hidden_units=60, ridge=1e-4)
    metric = SoftAbsMetric(network, shape, softness)
    q, direction, factor = 0.3 * rng.standard_normal(3), rng.standard_normal(3), rng.standard_normal((3, 3))
    m = factor @ factor.T

    def contracted(q: Array) -> float:
        G = metric.metric(q)
        return float(np.sum(m * G) if shape == "full" else np.diag(m) @ G)

    assert metric.softened(q) == softened
    # Rounding is relative to the terms that cancel in the network.
    terms = np.abs(m).sum() * float((network.weights**2 @ np.abs(network.output_weights)).max())
    slope = metric.metric_vjp(q, factor) @ direction
    assert_slope(contracted, slope, q, direction, relative_error=10 * EPS * terms / contracted(q))


def test_settings_out_of_range_are_refused_by_name() -> None:
    with pytest.raises(ParameterError, match="shape: expected 'full' or 'diagonal', got 'round'"):
        SoftAbsMetric(Cubic(np.eye(2)), "round", SOFTNESS)  # type: ignore[arg-type]
    for softness in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ParameterError, match=f"softness: .* got {softness}"):
            SoftAbsMetric(Cubic(np.eye(2)), "full", softness)


@pytest.mark.parametrize("shape", ["full", "diagonal"])
def test_a_position_that_is_not_finite_is_a_numerical_error(shape: Shape) -> None:
    network = RandomNetwork(np.eye(2), np.zeros(2), np.ones(2), 0.0, "cholesky")
    metric, q = SoftAbsMetric(network, shape, SOFTNESS), np.array([np.nan, 0.0])
    for evaluate in (metric.metric, metric.softened, lambda q: metric.metric_vjp(q, np.eye(2))):
        with pytest.raises(NumericalError, match="Hessian"):
            evaluate(q)
