"""The library's one call of exploration, fit and sampling."""

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.run.sample import sample
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
    chain = sample(
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
