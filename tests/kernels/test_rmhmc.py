"""The RMHMC kernel leaves the exact law unchanged whatever drives it and bends its space, and says what it did."""

from collections.abc import Callable

import numpy as np
import pytest

import rnshmc.kernels.rmhmc as rmhmc_module
from rnshmc.dynamics.generalised_leapfrog import Point, generalised_leapfrog, point
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.rmhmc import RMHMC
from rnshmc.random import stream
from rnshmc.types import Array
from tests.kernels.conftest import ShearedLogGamma

N = 4000
THRESHOLD = 4.5
"""For the largest of ten z-scores: exceeded by chance with probability below 1e-4."""


class Wrong:
    """A driver whose force and diagonal metric belong to another target."""

    dim = 2

    def gradient(self, q: Array) -> Array:
        return np.array([0.9 * q[0] - 0.2, 0.8 * q[1] - 0.3])

    def metric(self, q: Array) -> Array:
        return 1.5 + np.tanh(q)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        return np.asarray((factor**2).sum(axis=1) / np.cosh(q) ** 2)


SKEWED = ShearedLogGamma()


def kernel(driver: ShearedLogGamma | Wrong = SKEWED) -> RMHMC:
    return RMHMC(SKEWED, driver, step_size=0.5, n_steps=(1, 3))


@pytest.mark.parametrize("driver", [SKEWED, Wrong()], ids=["exact", "wrong"])
def test_leaves_the_target_invariant(driver: ShearedLogGamma | Wrong, invariance_z: Callable[..., float]) -> None:
    assert invariance_z(SKEWED, kernel(driver), "rmhmc", n=N) < THRESHOLD


def _without_log_det(at: Point, p: Array) -> float:
    return at.metric.kinetic_energy(p)


def _without_the_metric(at: Point, p: Array) -> float:
    return 0.5 * at.metric.log_det + 0.5 * float(p @ p)


@pytest.mark.parametrize("mutant", [_without_log_det, _without_the_metric])
@pytest.mark.parametrize("driver", [SKEWED, Wrong()], ids=["exact", "wrong"])
def test_mutant_energies_are_caught(
    monkeypatch: pytest.MonkeyPatch,
    mutant: Callable[..., float],
    driver: ShearedLogGamma | Wrong,
    invariance_z: Callable[..., float],
) -> None:
    monkeypatch.setattr(rmhmc_module, "_kinetic_energy", mutant)
    assert invariance_z(SKEWED, kernel(driver), "rmhmc mutant", n=N) > THRESHOLD


def _last_half_kick_reversed(start: Point, p: Array, **settings: object) -> tuple[Point, Array]:
    end, p = generalised_leapfrog(start, p, **settings)  # type: ignore[arg-type]
    return end, p + settings["step_size"] * end.force  # type: ignore[operator]


def _euler(start: Point, p: Array, **settings: object) -> tuple[Point, Array]:
    """An explicit step of the same equations: neither reversible nor volume preserving."""
    driver, eps = settings["driver"], settings["step_size"]
    velocity = start.metric.velocity(p)
    force = start.force - 0.5 * driver.metric_vjp(start.q, velocity[:, None])  # type: ignore[attr-defined]
    return point(driver, start.q + eps * velocity), p - eps * force  # type: ignore[arg-type, operator]


@pytest.mark.parametrize("mutant", [_last_half_kick_reversed, _euler])
def test_mutant_integrators_are_caught(
    monkeypatch: pytest.MonkeyPatch,
    mutant: Callable[..., tuple[Point, Array]],
    invariance_z: Callable[..., float],
) -> None:
    monkeypatch.setattr(rmhmc_module, "generalised_leapfrog", mutant)
    assert invariance_z(SKEWED, kernel(), "rmhmc mutant integrator", n=N) > THRESHOLD


def test_mutant_that_lets_the_surrogate_decide_is_caught(invariance_z: Callable[..., float]) -> None:
    class WrongPotential(Wrong):
        def value(self, q: Array) -> float:
            return float(0.45 * q[0] ** 2 - 0.2 * q[0] + 0.4 * q[1] ** 2 - 0.3 * q[1])

        def value_and_grad(self, q: Array) -> tuple[float, Array]:
            return self.value(q), self.gradient(q)

    wrong = WrongPotential()
    mutant = RMHMC(wrong, wrong, step_size=0.5, n_steps=(1, 3))
    assert invariance_z(SKEWED, mutant, "rmhmc mutant surrogate", n=N) > 2 * THRESHOLD


def test_mutant_whose_derivative_is_not_that_of_its_metric_is_caught(invariance_z: Callable[..., float]) -> None:
    class HalfBent(ShearedLogGamma):
        def metric_vjp(self, q: Array, factor: Array) -> Array:
            return -3.0 * super().metric_vjp(q, factor)

    assert invariance_z(SKEWED, kernel(HalfBent()), "rmhmc mutant derivative", n=N) > THRESHOLD


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
    failing = RMHMC(SKEWED, FailsOutside(), step_size=0.5, n_steps=(1, 3))
    for chosen, rng in zip((kernel(), failing), rngs, strict=True):
        chosen.step(rng, chosen.init(np.zeros(2)))
    assert rngs[0].random() == rngs[1].random()


class Broken(ShearedLogGamma):
    """A defect that is nobody's numerical trouble."""

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
