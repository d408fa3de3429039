"""A step of SGHMC: evaluations, failures, and invalid settings."""

import math
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.kernels.sghmc import SGHMC, CorrectedSGHMC, LangevinState
from rnshmc.kernels.transition import State
from rnshmc.random import stream
from rnshmc.targets.minibatch_logistic import MinibatchLogistic
from rnshmc.targets.priors import NormalPrior
from rnshmc.types import Array, Driver
from tests.kernels.conftest import ShearedLogGamma
from tests.kernels.test_sghmc import DYNAMICS, Coordinates, Estimate


class Calls(Coordinates):
    """A potential that records its calls."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def value(self, q: Array) -> float:
        self.asked.append("value")
        return super().value(q)

    def gradient(self, q: Array) -> Array:
        self.asked.append("gradient")
        return super().gradient(q)

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        self.asked.append("minibatch")
        return Estimate(Coordinates(), np.zeros(self.dim))


def test_sghmc_takes_a_batch_for_each_step_and_nothing_else() -> None:
    target = Calls()
    kernel = SGHMC(target, target, step_size=0.1, n_steps=(4, 4), batch_size=2, friction=1.0)
    target.asked.clear()
    state = kernel.init(np.zeros(target.dim))
    assert target.asked == ["value"]
    target.asked.clear()
    after, info = kernel.step(stream(1, "calls"), state)
    assert target.asked == ["minibatch"] * 4
    assert math.isnan(after.potential)
    assert math.isnan(info.delta_h)
    assert (info.accepted, info.accept_prob, info.n_steps) == (True, 1.0, 4)


def test_the_correction_takes_one_batch_and_one_exact_value() -> None:
    target = Calls()
    kernel = CorrectedSGHMC(target, target, step_size=0.1, n_steps=(4, 4), batch_size=2)
    state = kernel.init(np.zeros(target.dim))
    target.asked.clear()
    kernel.step(stream(1, "calls"), state)
    assert target.asked == ["minibatch", "value"]


class FailsOutside(Coordinates):
    """Mini-batches that cannot be evaluated away from the origin."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        return self

    def gradient(self, q: Array) -> Array:
        if q @ q > 1.0:
            raise NumericalError("not there")
        return super().gradient(q)


def test_a_gradient_that_fails_leaves_sghmc_where_it_was() -> None:
    target = FailsOutside()
    kernel = SGHMC(target, target, step_size=0.5, n_steps=(1, 1), batch_size=1, friction=1.0)
    state = LangevinState(np.zeros(target.dim), 0.0, np.ones(target.dim))
    after, info = kernel.step(stream(2, "fails"), state)
    assert after is state
    assert info.solver_failed
    assert not info.accepted


def test_a_gradient_that_fails_where_a_trajectory_starts_rejects() -> None:
    target = FailsOutside()
    kernel = CorrectedSGHMC(target, target, step_size=0.5, n_steps=(1, 1), batch_size=1)
    state = State(np.ones(target.dim), 0.0, np.zeros(target.dim))
    after, info = kernel.step(stream(2, "fails"), state)
    assert after is state
    assert info.solver_failed


def test_a_position_that_is_no_longer_finite_is_a_divergence() -> None:
    target = Coordinates()
    kernel = SGHMC(target, target, step_size=1e3, n_steps=(200, 200), batch_size=1, friction=1e-6)
    state = kernel.init(np.ones(target.dim))
    after, info = kernel.step(stream(2, "far"), state)
    assert after is state
    assert info.diverging
    assert not info.accepted


SETTINGS = {"step_size": 0.1, "n_steps": (1, 2), "batch_size": 3}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"friction": 0.0}, r"friction: expected 0 < step_size \* friction < 1, got 0.1 \* 0.0"),
        ({"friction": 10.0}, r"friction: .* got 0.1 \* 10.0"),
        ({"friction": math.nan}, "friction: .* nan"),
        ({"batch_size": 0}, "batch_size: expected at least 1, got 0"),
        ({"step_size": -0.1}, "step_size.*-0.1"),
        ({"n_steps": (0, 1)}, r"n_steps.*\(0, 1\)"),
    ],
)
def test_settings_out_of_range_are_named(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        SGHMC(Coordinates(), Coordinates(), **{**SETTINGS, "friction": 1.0, **changed})
    if "friction" not in changed:
        with pytest.raises(ParameterError, match=message):
            CorrectedSGHMC(Coordinates(), Coordinates(), **{**SETTINGS, **changed})


def test_a_driver_without_minibatches_is_refused() -> None:
    plain: Any = ShearedLogGamma()
    with pytest.raises(ParameterError, match="driver: ShearedLogGamma has no mini-batches"):
        SGHMC(plain, plain, friction=1.0, batch_size=1, **DYNAMICS)
    with pytest.raises(ParameterError, match="driver: ShearedLogGamma has no mini-batches"):
        CorrectedSGHMC(plain, plain, batch_size=1, **DYNAMICS)


def test_a_batch_that_the_data_cannot_give_is_refused_at_once() -> None:
    rng = stream(6, "tests", "few rows")
    few = MinibatchLogistic(rng.normal(size=(5, 2)), np.array([0, 1, 0, 1, 1]), NormalPrior(1.0))
    with pytest.raises(ParameterError, match="batch_size: expected 1 to 5 rows, got 6"):
        CorrectedSGHMC(few, few, batch_size=6, **DYNAMICS)


@pytest.mark.parametrize("start", [np.zeros(3), np.full(400, math.nan)])
def test_a_start_that_cannot_be_used_is_refused(start: Array) -> None:
    target = Coordinates()
    for kernel in (
        SGHMC(target, target, friction=1.0, batch_size=1, **DYNAMICS),
        CorrectedSGHMC(target, target, batch_size=1, **DYNAMICS),
    ):
        with pytest.raises(ParameterError, match="start"):
            kernel.init(start)
