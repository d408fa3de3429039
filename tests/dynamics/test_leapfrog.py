"""The leapfrog map is reversible, volume-preserving and of second order, with one gradient per step."""

import numpy as np
import pytest

from rnshmc.dynamics.leapfrog import Endpoint, leapfrog
from rnshmc.dynamics.metrics import DenseMetric, IdentityMetric, Metric
from rnshmc.random import stream
from rnshmc.types import Array

DIM = 3
MASS = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])
METRICS = [IdentityMetric(), DenseMetric(MASS)]


def potential(q: Array) -> float:
    """A convex potential that is not quadratic and couples its coordinates."""
    return float(np.sum(np.cosh(q)) + 0.1 * np.sum(q) ** 4)


def gradient(q: Array) -> Array:
    return np.sinh(q) + 0.4 * np.sum(q) ** 3


def integrate(q: Array, p: Array, metric: Metric, *, step_size: float, n_steps: int) -> Endpoint:
    return leapfrog(
        q,
        p,
        gradient(q),
        step_size=step_size,
        n_steps=n_steps,
        metric=metric,
        force=gradient,
        at_end=lambda q: (potential(q), gradient(q)),
    )


@pytest.fixture
def start() -> tuple[Array, Array]:
    rng = stream(1, "leapfrog")
    return rng.normal(size=DIM), rng.normal(size=DIM)


@pytest.mark.parametrize("metric", METRICS)
def test_reverses(start: tuple[Array, Array], metric: Metric) -> None:
    q, p = start
    there = integrate(q, p, metric, step_size=0.1, n_steps=7)
    back = integrate(there.q, -there.p, metric, step_size=0.1, n_steps=7)
    np.testing.assert_allclose(back.q, q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back.p, -p, rtol=0, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_keeps_volume(start: tuple[Array, Array], metric: Metric) -> None:
    z = np.concatenate(start)
    h = 1e-5

    def flow(z: Array) -> Array:
        end = integrate(z[:DIM], z[DIM:], metric, step_size=0.15, n_steps=5)
        return np.concatenate([end.q, end.p])

    jacobian = np.stack([(flow(z + e) - flow(z - e)) / (2 * h) for e in h * np.eye(2 * DIM)], axis=1)
    assert np.linalg.det(jacobian) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("metric", METRICS)
def test_energy_error_is_of_second_order(start: tuple[Array, Array], metric: Metric) -> None:
    q, p = start
    energy = potential(q) + metric.kinetic_energy(p)

    def error(step_size: float) -> float:
        end = integrate(q, p, metric, step_size=step_size, n_steps=round(1.0 / step_size))
        return abs(end.potential + metric.kinetic_energy(end.p) - energy)

    # A fixed trajectory length: halving the step divides the error by four, up to the next order.
    assert error(0.02) / error(0.01) == pytest.approx(4.0, rel=0.05)
    assert error(0.01) / error(0.005) == pytest.approx(4.0, rel=0.05)


def test_is_algorithm_1(start: tuple[Array, Array]) -> None:
    q, p = start
    end = integrate(q, p, IdentityMetric(), step_size=0.1, n_steps=4)
    for _ in range(4):
        p = p - 0.05 * gradient(q)
        q = q + 0.1 * p
        p = p - 0.05 * gradient(q)
    np.testing.assert_allclose(end.q, q, rtol=1e-13)
    np.testing.assert_allclose(end.p, p, rtol=1e-13)
    assert end.potential == potential(end.q)
    np.testing.assert_array_equal(end.gradient, gradient(end.q))


@pytest.mark.parametrize("n_steps", [1, 2, 5])
def test_takes_one_gradient_per_step(start: tuple[Array, Array], n_steps: int) -> None:
    q, p = start
    calls: list[str] = []

    def force(q: Array) -> Array:
        calls.append("force")
        return gradient(q)

    def at_end(q: Array) -> tuple[float, Array]:
        calls.append("end")
        return potential(q), gradient(q)

    leapfrog(q, p, gradient(q), step_size=0.1, n_steps=n_steps, metric=IdentityMetric(), force=force, at_end=at_end)
    assert calls == ["force"] * (n_steps - 1) + ["end"]


def test_leaves_its_arguments_alone(start: tuple[Array, Array]) -> None:
    q, p = start
    before = q.copy(), p.copy()
    integrate(q, p, IdentityMetric(), step_size=0.1, n_steps=3)
    np.testing.assert_array_equal(q, before[0])
    np.testing.assert_array_equal(p, before[1])
