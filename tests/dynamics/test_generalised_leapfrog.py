"""The generalised leapfrog map is reversible, volume-preserving and of second order, or it fails."""

import math
from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.dynamics.generalised_leapfrog import FixedIterations, FixedPoint, generalised_leapfrog, point
from rnshmc.dynamics.leapfrog import leapfrog
from rnshmc.dynamics.metrics import DenseMetric
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.banana import Banana, banana_data
from rnshmc.types import Array, RiemannianDriver

DIM = 3
TIGHT = FixedPoint(max_iterations=200, tolerance=1e-14)


class Curved:
    """U = sum cosh(q) + (sum q)^4 / 10 with its Hessian, plus a multiple of I, as a full metric."""

    dim = DIM

    def value(self, q: Array) -> float:
        return float(np.sum(np.cosh(q)) + 0.1 * np.sum(q) ** 4)

    def gradient(self, q: Array) -> Array:
        return np.sinh(q) + 0.4 * np.sum(q) ** 3

    def metric(self, q: Array) -> Array:
        return np.diag(np.cosh(q)) + 1.2 * np.sum(q) ** 2 + np.eye(DIM)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        m = factor @ factor.T
        return np.asarray(np.diag(m) * np.sinh(q) + 2.4 * np.sum(q) * np.sum(m))


class Diagonal(Curved):
    """The same potential with a diagonal metric."""

    def metric(self, q: Array) -> Array:
        return np.asarray(np.cosh(q) + np.roll(q, 1) ** 2)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        m = (factor**2).sum(axis=1)
        return np.asarray(m * np.sinh(q) + 2.0 * q * np.roll(m, -1))


class Flat(Curved):
    """A constant metric."""

    mass = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 3.0]])

    def metric(self, q: Array) -> Array:
        return self.mass

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        return np.zeros(DIM)


DRIVERS = [Curved(), Diagonal()]
IDS = ["full", "diagonal"]


def integrate(
    driver: RiemannianDriver,
    q: Array,
    p: Array,
    *,
    step_size: float,
    n_steps: int,
    fixed_point: FixedPoint | FixedIterations = TIGHT,
) -> tuple[Array, Array]:
    end, p = generalised_leapfrog(
        point(driver, q), p, driver=driver, step_size=step_size, n_steps=n_steps, fixed_point=fixed_point
    )
    return end.q, p


def energy(driver: Curved, q: Array, p: Array) -> float:
    metric = point(driver, q).metric
    return driver.value(q) + 0.5 * metric.log_det + metric.kinetic_energy(p)


@pytest.fixture
def start() -> tuple[Array, Array]:
    rng = stream(1, "generalised leapfrog")
    return 0.7 * rng.normal(size=DIM), rng.normal(size=DIM)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_the_metric_of_these_tests_has_the_derivative_that_they_say(
    driver: Curved, start: tuple[Array, Array], assert_slope: Callable[..., None]
) -> None:
    q, direction = start
    factor = stream(1, "factor").normal(size=(DIM, 2))

    def contracted(q: Array) -> float:
        metric = driver.metric(q)
        full = metric if metric.ndim == 2 else np.diag(metric)
        return float(np.sum(full * (factor @ factor.T)))

    assert_slope(contracted, driver.metric_vjp(q, factor) @ direction, q, direction)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_force_is_the_slope_of_potential_and_half_log_det(
    driver: Curved, start: tuple[Array, Array], assert_slope: Callable[..., None]
) -> None:
    q, direction = start

    def phi(q: Array) -> float:
        return driver.value(q) + 0.5 * point(driver, q).metric.log_det

    assert_slope(phi, point(driver, q).force @ direction, q, direction)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_reverses(driver: Curved, start: tuple[Array, Array]) -> None:
    q, p = start
    there = integrate(driver, q, p, step_size=0.1, n_steps=7)
    back = integrate(driver, there[0], -there[1], step_size=0.1, n_steps=7)
    # Seven solutions there and seven back, each known to 1e-14 or to rounding.
    np.testing.assert_allclose(back[0], q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(back[1], -p, rtol=0, atol=1e-12)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_keeps_volume(driver: Curved, start: tuple[Array, Array]) -> None:
    z = np.concatenate(start)
    h = 1e-5

    def flow(z: Array) -> Array:
        return np.concatenate(integrate(driver, z[:DIM], z[DIM:], step_size=0.15, n_steps=4))

    jacobian = np.stack([(flow(z + e) - flow(z - e)) / (2 * h) for e in h * np.eye(2 * DIM)], axis=1)
    assert np.linalg.det(jacobian) == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_energy_error_is_of_second_order(driver: Curved, start: tuple[Array, Array]) -> None:
    q, p = start
    before = energy(driver, q, p)

    def error(step_size: float) -> float:
        end = integrate(driver, q, p, step_size=step_size, n_steps=round(1.0 / step_size))
        return abs(energy(driver, *end) - before)

    assert error(0.02) / error(0.01) == pytest.approx(4.0, rel=0.05)
    assert error(0.01) / error(0.005) == pytest.approx(4.0, rel=0.05)


def test_a_flat_metric_gives_the_leapfrog(start: tuple[Array, Array]) -> None:
    driver, (q, p) = Flat(), start
    end = leapfrog(
        q,
        p,
        driver.gradient(q),
        step_size=0.1,
        n_steps=5,
        metric=DenseMetric(driver.mass),
        force=driver.gradient,
        at_end=lambda q: (driver.value(q), driver.gradient(q)),
    )
    mine = integrate(driver, q, p, step_size=0.1, n_steps=5)
    np.testing.assert_allclose(mine[0], end.q, rtol=1e-12)
    np.testing.assert_allclose(mine[1], end.p, rtol=1e-12)


def test_solves_equations_7_to_9(start: tuple[Array, Array]) -> None:
    """One step, with the published equations evaluated at its solution by other means."""
    driver, (q, p), eps = Curved(), start, 0.2

    def inverse(q: Array) -> Array:
        return np.asarray(np.linalg.inv(driver.metric(q)))

    def derivative_entry(q: Array, i: int, j: int) -> Array:
        """dG_ij/dq, from contractions with (e_i + e_j)(e_i + e_j)' and with (e_i - e_j)(e_i - e_j)'."""
        unit = np.eye(DIM)
        plus, minus = unit[i] + unit[j], unit[i] - unit[j]
        return 0.25 * (driver.metric_vjp(q, plus[:, None]) - driver.metric_vjp(q, minus[:, None]))

    def exact_force(q: Array, p: Array) -> Array:
        derivative = np.stack([np.stack([derivative_entry(q, i, j) for j in range(DIM)]) for i in range(DIM)])
        velocity = inverse(q) @ p
        weights = inverse(q) - np.outer(velocity, velocity)
        return np.asarray(driver.gradient(q) + 0.5 * np.einsum("ij,ijk->k", weights, derivative))

    end_q, end_p = integrate(driver, q, p, step_size=eps, n_steps=1)
    half = np.linalg.solve(inverse(q) + inverse(end_q), 2.0 * (end_q - q) / eps)
    np.testing.assert_allclose(half, p - 0.5 * eps * exact_force(q, half), rtol=0, atol=1e-12)
    np.testing.assert_allclose(end_p, half - 0.5 * eps * exact_force(end_q, half), rtol=0, atol=1e-12)


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_a_looser_tolerance_moves_the_end_by_no_more_than_it_says(driver: Curved, start: tuple[Array, Array]) -> None:
    q, p = start
    exact = integrate(driver, q, p, step_size=0.2, n_steps=3)[0]
    loose = integrate(driver, q, p, step_size=0.2, n_steps=3, fixed_point=FixedPoint(50, 1e-4))[0]
    assert 0.0 < point(driver, q).metric.length(loose - exact) < 10 * 1e-4


def test_an_equation_that_does_not_settle_is_a_failure(start: tuple[Array, Array]) -> None:
    with pytest.raises(NumericalError, match=r"fixed point: moved by .* at most 3 iterations"):
        integrate(Curved(), *start, step_size=0.5, n_steps=1, fixed_point=FixedPoint(3, 1e-12))


def test_a_momentum_that_runs_away_is_a_failure(start: tuple[Array, Array]) -> None:
    """Its length overflows long before its components do."""
    with pytest.raises(NumericalError, match=r"fixed point: moved by (inf|nan)"), np.errstate(all="ignore"):
        integrate(Curved(), start[0], 1e200 * start[1], step_size=1.0, n_steps=1)


class Switching(Flat):
    """A metric with a jump: a step over the jump differs from the step back."""

    def metric(self, q: Array) -> Array:
        return (9.0 if q[0] > 0.5 else 1.0) * np.eye(DIM)


def test_a_step_that_does_not_reverse_is_a_failure() -> None:
    """Both equations have solutions on the way there, and another on the way back."""
    q, p = np.array([0.45, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
    failures = 0
    for x in np.linspace(0.3, 0.5, 41):
        q[0] = x
        try:
            end = integrate(Switching(), q, p, step_size=0.2, n_steps=1, fixed_point=FixedPoint(20, 1e-10))
        except NumericalError:
            failures += 1
        else:
            back = integrate(Switching(), end[0], -end[1], step_size=0.2, n_steps=1, fixed_point=FixedPoint(20, 1e-10))
            np.testing.assert_allclose(back[0], q, rtol=0, atol=1e-8)
    assert 0 < failures < 41


def test_every_step_that_passes_can_be_taken_back() -> None:
    """On a banana, with steps so large that the solver often fails."""
    rng = stream(4, "banana")
    target = Banana(banana_data(rng, 100, mean=1.0, sd=2.0), noise_sd=2.0, prior_sd=1.0)
    fixed_point, passed = FixedPoint(30, 1e-4), 0
    for q in rng.normal(size=(600, 2)):
        p = point(target, q).metric.sample_momentum(rng, 2)
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                end = integrate(target, q, p, step_size=0.3, n_steps=1, fixed_point=fixed_point)
        except NumericalError:
            continue
        passed += 1
        back = integrate(target, end[0], -end[1], step_size=0.3, n_steps=1, fixed_point=fixed_point)
        assert point(target, q).metric.length(back[0] - q) < 0.01
    assert 100 < passed < 580


@pytest.mark.parametrize("driver", DRIVERS, ids=IDS)
def test_many_fixed_iterations_give_the_solution(driver: Curved, start: tuple[Array, Array]) -> None:
    solved = integrate(driver, *start, step_size=0.2, n_steps=3)
    for iterations, same in ((100, True), (2, False)):
        end = integrate(driver, *start, step_size=0.2, n_steps=3, fixed_point=FixedIterations(iterations))
        # Rounding of some hundred operations on numbers of order one.
        assert np.allclose(end, solved, rtol=0, atol=1e-12) == same


def test_five_fixed_iterations_cost_five_metrics_and_no_step_back(start: tuple[Array, Array]) -> None:
    """As in a step of the published implementation: a metric for each iterate, and the geometry at the end."""
    counts = Counter[str]()

    class Counting(Curved):
        def metric(self, q: Array) -> Array:
            counts["metrics"] += 1
            return super().metric(q)

    driver = Counting()
    there = point(driver, start[0])
    counts.clear()
    generalised_leapfrog(
        there, start[1], driver=driver, step_size=0.2, n_steps=3, fixed_point=FixedIterations(iterations=5)
    )
    assert counts["metrics"] == 3 * (5 + 1)


def test_fixed_iterations_go_on_where_a_step_does_not_reverse() -> None:
    for x in np.linspace(0.3, 0.5, 41):
        q, p = np.array([x, 0.0, 0.0]), np.array([1.0, 0.0, 0.0])
        integrate(Switching(), q, p, step_size=0.2, n_steps=1, fixed_point=FixedIterations(5))


def test_a_metric_that_is_not_positive_definite_is_a_failure(start: tuple[Array, Array]) -> None:
    class Indefinite(Flat):
        def metric(self, q: Array) -> Array:
            return np.diag([1.0, -1.0, 1.0])

    with pytest.raises(NumericalError, match="not positive definite"):
        point(Indefinite(), start[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [((0, 1e-3), "max_iterations.*0"), ((5, 0.0), r"tolerance.*0\.0"), ((5, math.nan), "tolerance.*nan")],
)
def test_settings_out_of_range_are_named(settings: tuple[int, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        FixedPoint(*settings)


def test_at_least_one_fixed_iteration_is_asked_for() -> None:
    with pytest.raises(ParameterError, match="fixed_point_iterations: expected at least 1, got 0"):
        FixedIterations(0)
