"""The RMHMC kernel leaves the exact distribution invariant with any driver and metric, and reports its transitions."""

from collections import Counter
from collections.abc import Callable

import numpy as np
import pytest

import rnshmc.kernels.rmhmc as rmhmc_module
from rnshmc.dynamics.generalised_leapfrog import Point, generalised_leapfrog, point
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.rmhmc import RMHMC
from rnshmc.random import stream
from rnshmc.types import Array
from tests.kernels.conftest import THRESHOLD, ShearedLogGamma

N = {"exact": 5000, "wrong": 4000}
"""Exact draws by the driver: the z-score of every mutant is 12 or more on average, with fewer for a large error."""


class Wrong:
    """A driver whose force and diagonal metric belong to another target."""

    dim = 2

    def gradient(self, q: Array) -> Array:
        return np.array([0.6 * q[0] + 0.36, 0.8 * q[1] - 0.08])

    def metric(self, q: Array) -> Array:
        return np.asarray(np.exp(1.5 * np.tanh(q)))

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        return np.asarray(1.5 * self.metric(q) * (factor**2).sum(axis=1) / np.cosh(q) ** 2)


SKEWED = ShearedLogGamma()


def exact() -> RMHMC:
    """One large step, where an error in an update shows most."""
    return RMHMC(SKEWED, SKEWED, step_size=0.8, n_steps=(1, 1))


def wrong() -> RMHMC:
    """Several steps, at whose ends the metric has changed by much."""
    return RMHMC(SKEWED, Wrong(), step_size=0.4, n_steps=(3, 4))


@pytest.mark.parametrize(("kernel", "n"), [(exact(), N["exact"]), (wrong(), N["wrong"])], ids=["exact", "wrong"])
def test_leaves_the_target_invariant(kernel: RMHMC, n: int, invariance_z: Callable[..., float]) -> None:
    assert invariance_z(SKEWED, kernel, "rmhmc", n=n) < THRESHOLD


def _without_log_det(at: Point, p: Array) -> float:
    return at.metric.kinetic_energy(p)


def _without_the_metric(at: Point, p: Array) -> float:
    return 0.5 * at.metric.log_det + 0.5 * float(p @ p)


@pytest.mark.parametrize(
    ("mutant", "kernel", "n"), [(_without_log_det, wrong(), N["wrong"]), (_without_the_metric, exact(), 1500)]
)
def test_mutant_energies_are_caught(
    monkeypatch: pytest.MonkeyPatch,
    mutant: Callable[..., float],
    kernel: RMHMC,
    n: int,
    invariance_z: Callable[..., float],
) -> None:
    monkeypatch.setattr(rmhmc_module, "_kinetic_energy", mutant)
    assert invariance_z(SKEWED, kernel, "rmhmc mutant", n=n) > THRESHOLD


def _last_half_kick_reversed(start: Point, p: Array, **settings: object) -> tuple[Point, Array]:
    end, p = generalised_leapfrog(start, p, **settings)  # type: ignore[arg-type]
    return end, p + settings["step_size"] * end.force  # type: ignore[operator]


def _euler(start: Point, p: Array, **settings: object) -> tuple[Point, Array]:
    """An explicit step of the same equations: neither reversible nor volume preserving."""
    driver, eps = settings["driver"], settings["step_size"]
    velocity = start.metric.velocity(p)
    force = start.force - 0.5 * driver.metric_vjp(start.q, velocity[:, None])  # type: ignore[attr-defined]
    return point(driver, start.q + eps * velocity), p - eps * force  # type: ignore[arg-type, operator]


@pytest.mark.parametrize(("mutant", "n"), [(_last_half_kick_reversed, N["exact"]), (_euler, 1500)])
def test_mutant_integrators_are_caught(
    monkeypatch: pytest.MonkeyPatch,
    mutant: Callable[..., tuple[Point, Array]],
    n: int,
    invariance_z: Callable[..., float],
) -> None:
    monkeypatch.setattr(rmhmc_module, "generalised_leapfrog", mutant)
    assert invariance_z(SKEWED, exact(), "rmhmc mutant integrator", n=n) > THRESHOLD


def test_mutant_that_lets_the_surrogate_decide_is_caught(invariance_z: Callable[..., float]) -> None:
    class WrongPotential(Wrong):
        def value(self, q: Array) -> float:
            return float(0.3 * q[0] ** 2 + 0.36 * q[0] + 0.4 * q[1] ** 2 - 0.08 * q[1])

        def value_and_grad(self, q: Array) -> tuple[float, Array]:
            return self.value(q), self.gradient(q)

    surrogate = WrongPotential()
    mutant = RMHMC(surrogate, surrogate, step_size=0.4, n_steps=(3, 4))
    assert invariance_z(SKEWED, mutant, "rmhmc mutant surrogate", n=3500) > THRESHOLD


def test_mutant_whose_derivative_is_not_that_of_its_metric_is_caught(invariance_z: Callable[..., float]) -> None:
    class HalfBent(ShearedLogGamma):
        def metric_vjp(self, q: Array, factor: Array) -> Array:
            return -3.0 * super().metric_vjp(q, factor)

    mutant = RMHMC(SKEWED, HalfBent(), step_size=0.8, n_steps=(1, 1))
    assert invariance_z(SKEWED, mutant, "rmhmc mutant derivative", n=2500) > THRESHOLD


class FailsOutside(ShearedLogGamma):
    """A metric that cannot be evaluated away from the start."""

    def metric(self, q: Array) -> Array:
        if q @ q > 1e-6:
            raise NumericalError("no metric there")
        return super().metric(q)


def test_a_failed_step_rejects_and_is_flagged() -> None:
    failing = RMHMC(SKEWED, FailsOutside(), step_size=0.5, n_steps=(1, 1))
    state = failing.init(np.zeros(2))
    after, info = failing.step(stream(2, "fails"), state)
    assert after is state
    assert info.solver_failed
    assert not info.accepted
    assert info.accept_prob == 0.0


def test_the_number_of_random_draws_does_not_depend_on_what_happens() -> None:
    rngs = [stream(3, "draws"), stream(3, "draws")]
    for driver, rng in zip((SKEWED, FailsOutside()), rngs, strict=True):
        chosen = RMHMC(SKEWED, driver, step_size=0.5, n_steps=(1, 3))
        chosen.step(rng, chosen.init(np.zeros(2)))
    assert rngs[0].random() == rngs[1].random()


def test_as_published_the_cost_of_a_step_is_fixed() -> None:
    """Five iterates of the position and the geometry at the end, for any step size."""
    metrics = Counter[str]()

    class Counting(ShearedLogGamma):
        def metric(self, q: Array) -> Array:
            metrics["evaluations"] += 1
            return super().metric(q)

    published = RMHMC(SKEWED, Counting(), step_size=0.8, n_steps=(3, 3), fixed_point_iterations=5)
    state = published.init(np.zeros(2))
    metrics.clear()
    published.step(stream(4, "published"), state)
    assert metrics["evaluations"] == 3 * (5 + 1)


class Broken(ShearedLogGamma):
    """A bug, not a numerical failure."""

    def gradient(self, q: Array) -> Array:
        raise ZeroDivisionError


def test_other_errors_are_not_swallowed() -> None:
    with pytest.raises(ZeroDivisionError):
        RMHMC(SKEWED, Broken(), step_size=0.5, n_steps=(1, 1)).init(np.zeros(2))


class NoMetric:
    """A driver for HMC alone."""

    dim = 2

    def gradient(self, q: Array) -> Array:
        return q


def test_a_driver_without_a_metric_is_refused() -> None:
    with pytest.raises(ParameterError, match="driver: NoMetric has no metric"):
        RMHMC(SKEWED, NoMetric(), step_size=0.5, n_steps=(1, 1))  # type: ignore[arg-type]


def test_a_start_without_a_metric_is_refused() -> None:
    with pytest.raises(ParameterError, match="start: no metric there"):
        RMHMC(SKEWED, FailsOutside(), step_size=0.5, n_steps=(1, 1)).init(np.ones(2))
