"""The whitened exploration: exact, nearly independent, and resumed from its checkpoint."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.run.chain import Phase
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.phases import start_point
from rnshmc.run.whitened import WhitenedHMC, explore_whitened
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array
from tests.conftest import z_bound

MEAN = np.array([30.0, -2.0, 0.5])
FACTOR = np.array([[10.0, 0.0, 0.0], [0.9, 0.1, 0.0], [0.3, 0.05, 0.01]])
TARGET = Gaussian(MEAN, FACTOR @ FACTOR.T)
QUARTER_TURN: dict[str, Any] = {"start": np.zeros(3), "step_size": 0.5, "n_steps": (3, 3)}


def explored(iterations: int, **more: Any) -> Phase:
    return explore_whitened(TARGET, iterations=iterations, rng=np.random.default_rng(7), **{**QUARTER_TURN, **more})


def test_mode_and_metric_of_a_gaussian_are_its_mean_and_precision() -> None:
    whitened = WhitenedHMC.of(TARGET, **QUARTER_TURN)
    assert_allclose(np.linalg.solve(FACTOR, whitened.mode - MEAN), 0.0, atol=1e-4)
    assert_allclose(FACTOR.T @ whitened.metric.mass @ FACTOR, np.eye(3), atol=1e-4)


def test_draws_have_the_moments_of_the_posterior_and_are_nearly_independent() -> None:
    n = 4000
    z = np.linalg.solve(FACTOR, (explored(n).draws - MEAN).T).T
    # Three steps of 0.5 turn by theta with cos(theta) = T_3(1 - 0.5^2 / 2) = 0.055; a rejection leaves the state. With
    # a tenth of them rejected, draws are worth (1 - 0.15) / (1 + 0.15) of independent ones.
    worth = n * 0.85 / 1.15
    assert np.abs(z.mean(axis=0)).max() < z_bound(3) / math.sqrt(worth)
    assert np.abs((z**2).mean(axis=0) - 1.0).max() < z_bound(3) * math.sqrt(2.0 / worth)
    for column in z.T:
        assert abs(np.corrcoef(column[:-1], column[1:])[0, 1]) < 0.15 + z_bound(3) / math.sqrt(n)


def test_an_interrupted_exploration_goes_on(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "whitened.npz", {"target": "gaussian"}, every_s=0.0)
    died = 30

    def die(done: int, of: int, rate: float) -> None:
        if done == died:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explored(100, checkpoint=checkpoint, progress=die)
    seen: list[int] = []
    resumed = explored(100, checkpoint=checkpoint, progress=lambda done, of, rate: seen.append(done))
    assert seen[0] > 1
    assert resumed.draws.tobytes() == explored(100).draws.tobytes()


def test_a_saddle_is_refused() -> None:
    class Saddle:
        """U(q) = (q_1^2 - q_2^2) / 2: at the origin its gradient vanishes, so the search stays there."""

        dim = 2

        def value(self, q: Array) -> float:
            return float(q[0] ** 2 - q[1] ** 2) / 2

        def gradient(self, q: Array) -> Array:
            return np.array([q[0], -q[1]])

        def value_and_grad(self, q: Array) -> tuple[float, Array]:
            return self.value(q), self.gradient(q)

    with pytest.raises(ParameterError, match="not positive definite"):
        WhitenedHMC.of(Saddle(), **{**QUARTER_TURN, "start": np.zeros(2)})


def test_the_search_for_the_mode_begins_at_the_start() -> None:
    class Gamma:
        """U(q) = q - 4 log q: not defined at the origin, the mode is 4 and the curvature there 1/4."""

        dim = 1

        def value(self, q: Array) -> float:
            if q[0] <= 0.0:
                raise NumericalError("outside")
            return float(q[0] - 4.0 * np.log(q[0]))

        def gradient(self, q: Array) -> Array:
            return 1.0 - 4.0 / q

        def value_and_grad(self, q: Array) -> tuple[float, Array]:
            return self.value(q), self.gradient(q)

    whitened = WhitenedHMC.of(Gamma(), **{**QUARTER_TURN, "start": np.array([3.0])})
    assert_allclose([whitened.mode[0], whitened.metric.mass[0, 0]], [4.0, 0.25], rtol=1e-4)
    with pytest.raises(NumericalError, match="outside"):
        WhitenedHMC.of(Gamma(), **{**QUARTER_TURN, "start": np.zeros(1)})


def test_a_start_of_another_length_is_told() -> None:
    assert start_point({}, 2).tolist() == [0.0, 0.0]
    assert start_point({"start": [1, 2]}, 2).tolist() == [1.0, 2.0]
    with pytest.raises(ParameterError, match="start: 2 coordinates, but the posterior has 3"):
        start_point({"start": [1, 2]}, 3)
