"""The library's one call of exploration, fit and sampling."""

from typing import Any

import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.run.sample import run_sampler
from rnshmc.surrogates.gradient_network import GradientNetwork
from rnshmc.types import Array


class Rugged:
    """N(0, I) in two dimensions, which cannot be evaluated in one place and has no finite gradient in another."""

    dim = 2

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ q)

    def gradient(self, q: Array) -> Array:
        if q[0] > 1.5:
            raise NumericalError("not there")
        return np.array([np.inf, 0.0]) if q[0] < -1.5 else q.copy()

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


def test_a_network_is_trained_on_sound_trajectories_after_those_discarded() -> None:
    chain = run_sampler(
        Rugged(),
        sampler="nng_hmc",
        start=np.ones(2),
        step_size=0.5,
        n_steps=(3, 6),
        iterations=1,
        explore_iterations=150,
        discard=40,
        surrogate={"hidden_units": 5, "epochs": 1},
    )
    kept = {name: values[40:] for name, values in chain.exploration.stats.items()}
    assert kept["diverging"].any()
    assert kept["solver_failed"].any()
    assert isinstance(chain.surrogate, GradientNetwork)
    assert chain.surrogate.training_states == kept["n_steps"][~(kept["diverging"] | kept["solver_failed"])].sum()


class Normal:
    """N(0, I) with whatever gradient a test gives it."""

    dim = 2

    def __init__(self, gradient: Any = lambda q: q) -> None:
        self.gradient = gradient

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


class NoGradient:
    dim = 2

    def value(self, q: Array) -> float:
        raise AssertionError("it is not to be evaluated")


NETWORK = {"hidden_units": 5, "ridge": 1e-6}


def tried(potential: Any, **settings: Any) -> None:
    how: dict[str, Any] = {"sampler": "rns_hmc", "surrogate": NETWORK, **settings}
    shared: dict[str, Any] = {"step_size": 0.5, "n_steps": (1, 3), "iterations": 1, "explore_iterations": 10}
    run_sampler(potential, start=np.ones(2), **shared, **how)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"surrogate": {"hidden_units": 5}}, "surrogate: random_network needs ridge"),
        ({"surrogate": None}, "surrogate: random_network needs hidden_units and ridge"),
        ({"surrogate": {**NETWORK, "rigde": 1.0}}, "surrogate: 'rigde' is not a setting.*did you mean 'ridge'"),
        ({"sampler": "hmc"}, "surrogate: hmc has none, got settings hidden_units, ridge"),
        ({"options": {"tolerance": 1.0}}, "options: 'tolerance' is not a setting of rns_hmc"),
        ({"sampler": "rns_rmhmc"}, "options: rns_rmhmc needs metric"),
    ],
)
def test_settings_are_refused_before_anything_is_evaluated(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        tried(NoGradient(), **settings)


@pytest.mark.parametrize(
    ("potential", "message"),
    [
        (NoGradient(), "potential: NoGradient has no gradient and no value_and_grad"),
        (Normal(lambda q: q[:, None]), r"potential: its gradient has shape \(2, 1\), expected \(2,\)"),
        (Normal(lambda q: -q), r"potential: its gradient is wrong: .*; its sign is wrong"),
        (Normal(lambda q: 2 * q), r"potential: its gradient is wrong: "),
    ],
)
def test_a_potential_that_cannot_do_is_refused_before_the_exploration(potential: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        tried(potential)
