"""The HMC kernel leaves the exact distribution invariant with any driver, and reports its transitions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnshmc.kernels.hmc as hmc_module
from rnshmc.dynamics.leapfrog import Endpoint, leapfrog
from rnshmc.dynamics.metrics import DenseMetric
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.types import Array, Potential
from tests.conftest import z_bound
from tests.kernels.conftest import THRESHOLD, ShearedLogGamma

ONE_STEP: dict[str, Any] = {"step_size": 0.5, "n_steps": (1, 1)}
"""Where an error in a half-kick shows most."""
SEVERAL_STEPS: dict[str, Any] = {"step_size": 0.45, "n_steps": (1, 4)}
N = {1: 40000, 4: 20000}
"""Exact draws by the largest number of steps: the z-scores of mutant integrators are 12 or more on average."""


class Gaussian:
    """Correlated Gaussian with mean zero."""

    dim = 2

    def __init__(self, covariance: Array) -> None:
        self.covariance = covariance
        self.precision = np.linalg.inv(covariance)

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ self.precision @ q)

    def gradient(self, q: Array) -> Array:
        return np.asarray(self.precision @ q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        return rng.multivariate_normal(np.zeros(2), self.covariance, size=n)


SKEWED = ShearedLogGamma()
CORRELATED = Gaussian(np.array([[1.0, 0.9], [0.9, 1.5]]))
WRONG = Gaussian(np.array([[1.6, 0.5], [0.5, 1.2]]))
"""A driver with a force that belongs to neither target."""


@pytest.mark.parametrize("target", [SKEWED, CORRELATED], ids=["skewed", "correlated"])
@pytest.mark.parametrize("driver", ["exact", "wrong"])
@pytest.mark.parametrize("dynamics", [ONE_STEP, SEVERAL_STEPS], ids=["one step", "several steps"])
def test_leaves_the_target_invariant(
    target: ShearedLogGamma | Gaussian, driver: str, dynamics: dict[str, Any], invariance_z: Callable[..., float]
) -> None:
    kernel = HMC(target, target if driver == "exact" else WRONG, **dynamics)
    assert invariance_z(target, kernel, driver, n=N[dynamics["n_steps"][1]]) < THRESHOLD


def test_leaves_the_target_invariant_with_a_mass_matrix(invariance_z: Callable[..., float]) -> None:
    metric = DenseMetric(np.array([[2.0, -1.0], [-1.0, 1.5]]))
    kernel = HMC(SKEWED, SKEWED, step_size=0.6, n_steps=(1, 3), metric=metric)
    assert invariance_z(SKEWED, kernel, "mass") < THRESHOLD


def test_mutant_that_lets_the_surrogate_decide_is_caught(invariance_z: Callable[..., float]) -> None:
    mutant = HMC(WRONG, WRONG, **SEVERAL_STEPS)
    assert invariance_z(SKEWED, mutant, "mutant surrogate", n=4000) > THRESHOLD


def _last_half_kick_reversed(q: Array, p: Array, gradient: Array, **settings: object) -> Endpoint:
    end = leapfrog(q, p, gradient, **settings)  # type: ignore[arg-type]
    return end._replace(p=end.p + settings["step_size"] * end.gradient)  # type: ignore[operator]


def _first_half_kick_missing(q: Array, p: Array, gradient: Array, **settings: object) -> Endpoint:
    return leapfrog(q, p, np.zeros_like(gradient), **settings)  # type: ignore[arg-type]


def _potential_of_the_start(q: Array, p: Array, gradient: Array, **settings: object) -> Endpoint:
    end = leapfrog(q, p, gradient, **settings)  # type: ignore[arg-type]
    return end._replace(potential=settings["at_end"](q)[0])  # type: ignore[operator]


@pytest.mark.parametrize("mutant", [_last_half_kick_reversed, _first_half_kick_missing, _potential_of_the_start])
def test_mutant_integrators_are_caught(
    monkeypatch: pytest.MonkeyPatch, mutant: Callable[..., Endpoint], invariance_z: Callable[..., float]
) -> None:
    monkeypatch.setattr(hmc_module, "leapfrog", mutant)
    kernel = HMC(SKEWED, SKEWED, **ONE_STEP)
    assert invariance_z(SKEWED, kernel, "mutant integrator", n=N[1]) > THRESHOLD


class Calls:
    """A potential that records its calls."""

    dim = 2

    def __init__(self) -> None:
        self.asked: list[str] = []

    def value(self, q: Array) -> float:
        self.asked.append("value")
        return CORRELATED.value(q)

    def gradient(self, q: Array) -> Array:
        self.asked.append("gradient")
        return CORRELATED.gradient(q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        self.asked.append("value_and_grad")
        return CORRELATED.value_and_grad(q)


def test_exact_hmc_evaluates_once_per_step_and_nothing_twice() -> None:
    potential = Calls()
    kernel = HMC(potential, potential, step_size=0.3, n_steps=(4, 4))
    state = kernel.init(np.ones(2))
    potential.asked.clear()
    kernel.step(stream(1, "calls"), state)
    assert potential.asked == ["gradient"] * 3 + ["value_and_grad"]


def test_a_driven_transition_takes_one_exact_value() -> None:
    potential, driver = Calls(), Calls()
    kernel = HMC(potential, driver, step_size=0.3, n_steps=(4, 4))
    state = kernel.init(np.ones(2))
    potential.asked.clear()
    driver.asked.clear()
    kernel.step(stream(1, "calls"), state)
    assert potential.asked == ["value"]
    assert driver.asked == ["gradient"] * 4


def test_number_of_steps_is_uniform() -> None:
    kernel = HMC(CORRELATED, CORRELATED, step_size=0.1, n_steps=(2, 5))
    rng = stream(5, "steps")
    state = kernel.init(np.zeros(2))
    n = 4000
    steps = [kernel.step(rng, state)[1].n_steps for _ in range(n)]
    counts = np.bincount(steps, minlength=6)[2:]
    assert counts.sum() == n
    assert np.all(np.abs(counts - n / 4) < z_bound(4) * math.sqrt(n * 0.25 * 0.75))


class FailsOutside(Gaussian):
    """A solve that fails outside a disc."""

    def value(self, q: Array) -> float:
        if q @ q > 1.0:
            raise NumericalError("no solution there")
        return super().value(q)


def test_a_failed_evaluation_rejects_and_is_flagged() -> None:
    potential = FailsOutside(np.eye(2))
    kernel = HMC(potential, potential, step_size=3.0, n_steps=(1, 1))
    state = kernel.init(np.zeros(2))
    after, info = kernel.step(stream(2, "fails"), state)
    assert after is state
    assert info.solver_failed
    assert not info.accepted
    assert info.accept_prob == 0.0


def test_a_failed_evaluation_is_a_proposal_outside_the_support() -> None:
    potential = FailsOutside(np.eye(2))
    kernel = HMC(potential, CORRELATED, step_size=0.5, n_steps=(1, 3))
    rng = stream(2, "disc")
    normal = rng.normal(size=(30000, 2))
    before = normal[np.sum(normal**2, axis=1) <= 1.0]
    after = np.stack([kernel.step(rng, kernel.init(q))[0].q for q in before])
    change = np.sum(after**2, axis=1) - np.sum(before**2, axis=1)
    assert abs(change.mean()) < z_bound() * change.std() / math.sqrt(len(before))


class NotFinite(Gaussian):
    """NaN outside a disc."""

    def value(self, q: Array) -> float:
        return math.nan if q @ q > 1.0 else super().value(q)


def test_a_potential_that_is_not_finite_rejects_and_diverges() -> None:
    potential = NotFinite(np.eye(2))
    kernel = HMC(potential, potential, step_size=3.0, n_steps=(1, 1))
    state = kernel.init(np.zeros(2))
    after, info = kernel.step(stream(2, "nan"), state)
    assert after is state
    assert info.diverging
    assert not info.accepted


def test_an_energy_error_over_a_thousand_is_a_divergence() -> None:
    kernel = HMC(CORRELATED, CORRELATED, step_size=60.0, n_steps=(3, 3))
    info = kernel.step(stream(2, "far"), kernel.init(np.zeros(2)))[1]
    assert info.diverging
    assert not info.accepted


class Broken(Gaussian):
    """A bug, not a numerical failure."""

    def value(self, q: Array) -> float:
        raise ZeroDivisionError


def test_other_errors_are_not_swallowed() -> None:
    kernel = HMC(Broken(np.eye(2)), CORRELATED, step_size=0.1, n_steps=(1, 1))
    start = HMC(CORRELATED, CORRELATED, step_size=0.1, n_steps=(1, 1)).init(np.zeros(2))
    with pytest.raises(ZeroDivisionError):
        kernel.step(stream(1, "broken"), start)


class Plane:
    """A driver of another dimension."""

    dim = 3

    def gradient(self, q: Array) -> Array:
        return q


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"step_size": 0.0, "n_steps": (1, 1)}, "step_size.*0.0"),
        ({"step_size": math.nan, "n_steps": (1, 1)}, "step_size.*nan"),
        ({"step_size": 0.1, "n_steps": (0, 3)}, r"n_steps.*\(0, 3\)"),
        ({"step_size": 0.1, "n_steps": (4, 3)}, r"n_steps.*\(4, 3\)"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        HMC(CORRELATED, CORRELATED, **settings)  # type: ignore[arg-type]


def test_a_driver_of_another_dimension_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"driver: dimension 3.*2"):
        HMC(CORRELATED, Plane(), step_size=0.1, n_steps=(1, 1))


@pytest.mark.parametrize(
    ("potential", "start"),
    [
        (CORRELATED, np.zeros(3)),
        (CORRELATED, np.full(2, math.nan)),
        (NotFinite(np.eye(2)), np.full(2, 2.0)),
    ],
    ids=["wrong shape", "not finite", "potential not finite"],
)
def test_a_start_that_cannot_be_used_is_refused(potential: Potential, start: Array) -> None:
    kernel = HMC(potential, potential, step_size=0.1, n_steps=(1, 1))
    with pytest.raises(ParameterError, match="start"):
        kernel.init(start)


class Counting:
    """A driver that counts its gradients, and a potential of its own."""

    def __init__(self, target: Gaussian) -> None:
        self.dim = target.dim
        self.target = target
        self.gradients = 0

    def gradient(self, q: Array) -> Array:
        self.gradients += 1
        return self.target.gradient(q)


@pytest.mark.parametrize("gradients_per_step", [1, 2, 3])
def test_gradients_in_vain_change_no_draw(gradients_per_step: int) -> None:
    driver = Counting(WRONG)
    plain = HMC(CORRELATED, WRONG, **SEVERAL_STEPS)
    kernel = HMC(CORRELATED, driver, gradients_per_step=gradients_per_step, **SEVERAL_STEPS)
    state, same, steps = kernel.init(np.ones(2)), plain.init(np.ones(2)), 0
    driver.gradients = 0
    rngs = stream(4, "in vain"), stream(4, "in vain")
    for _ in range(50):
        state, info = kernel.step(rngs[0], state)
        same, _ = plain.step(rngs[1], same)
        steps += info.n_steps
        np.testing.assert_array_equal(state.q, same.q)
    assert driver.gradients == gradients_per_step * steps


def test_fewer_gradients_than_one_a_step_are_refused() -> None:
    with pytest.raises(ParameterError, match="gradients_per_step: expected at least 1, got 0"):
        HMC(CORRELATED, CORRELATED, gradients_per_step=0, **SEVERAL_STEPS)
