"""Requirements on every sampler. A new one without a case here fails."""

import math
from typing import Any

import numpy as np
import pytest

from rnshmc.diagnostics.summary import summarise
from rnshmc.run.recipes import RECIPES
from rnshmc.run.registry import (
    KERNELS,
    VIEWS,
)
from rnshmc.run.sample import Chain, run_sampler
from rnshmc.types import Array, Driver
from tests.conftest import z_bound

NETWORK = {"hidden_units": 30, "ridge": 1e-6}
SAMPLER_CASES: dict[str, dict[str, Any]] = {
    "hmc": {},
    "rmhmc": {},
    "rns_hmc": {"surrogate": NETWORK},
    "rns_rmhmc": {"surrogate": NETWORK, "options": {"metric": {"shape": "diagonal", "softness": 1.0}}},
    "arns_hmc": {"surrogate": NETWORK, "options": {"offset": 100.0, "exponent": 1.0}},
    "rns_hmc_rbf": {"surrogate": {"hidden_units": 60, "ridge": 1e-6}},
    "gp_hmc": {"surrogate": {"max_evaluations": 30}},
    "fitc_hmc": {"surrogate": {"inducing_points": 40, "max_evaluations": 30}},
    "nng_hmc": {"surrogate": {"hidden_units": 30, "epochs": 10}},
    "sghmc": {"options": {"batch_size": 4, "friction": 1.0}},
    "sghmc_mh": {"options": {"batch_size": 4}},
}
"""Settings of the surrogate's fit and of the kernel, for a target in two dimensions."""
DRAWS = {"rmhmc": 1000, "rns_rmhmc": 1000}
"""Iterations of kernels whose transitions take much longer than those of the others."""


def test_no_sampler_is_left_out() -> None:
    assert set(SAMPLER_CASES) == set(RECIPES)
    assert {recipe.kernel for recipe in RECIPES.values()} == set(KERNELS)
    assert {recipe.view for recipe in RECIPES.values()} - {None} == set(VIEWS)


class Shifted:
    """A gradient with an error that is the same everywhere."""

    dim = 2

    def __init__(self, driver: Driver, error: Array) -> None:
        self.driver = driver
        self.error = error

    def gradient(self, q: Array) -> Array:
        return self.driver.gradient(q) + self.error


class LogGamma:
    """Skewed and correlated: q = (z_1, z_2 + z_1 / 2), z_i = log of a Gamma(3, 1) variable."""

    dim = 2
    shape = 3.0
    unshear = np.array([[1.0, 0.0], [-0.5, 1.0]])

    def value(self, q: Array) -> float:
        z = self._log_gammas(q)
        return float(np.sum(np.exp(z) - self.shape * z))

    def gradient(self, q: Array) -> Array:
        return np.asarray(self.unshear.T @ (np.exp(self._log_gammas(q)) - self.shape))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        return Shifted(self, rng.normal(size=2) / math.sqrt(size))

    def metric(self, q: Array) -> Array:
        weights = 1.0 + np.exp(self._log_gammas(q))
        return np.asarray(self.unshear.T @ np.diag(weights) @ self.unshear)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        weights = np.exp(self._log_gammas(q)) * ((self.unshear @ factor) ** 2).sum(axis=1)
        return np.asarray(self.unshear.T @ weights)

    def _log_gammas(self, q: Array) -> Array:
        return np.asarray(self.unshear @ q)


MEAN = 0.9227843350984671
"""digamma(3)."""
VARIANCE = 0.39493406684822646
"""trigamma(3)."""


@pytest.mark.parametrize("name", SAMPLER_CASES)
class TestSampler:
    def run(self, name: str, chain: int = 1, iterations: int = 50) -> Chain:
        return run_sampler(
            LogGamma(),
            sampler=name,
            start=np.zeros(2),
            step_size=0.35,
            n_steps=(1, 6),
            iterations=iterations,
            explore_iterations=600,
            discard=100,
            seed=8,
            chain=chain,
            **SAMPLER_CASES[name],
        )

    def test_samples_the_posterior(self, name: str) -> None:
        if not RECIPES[name].exact:
            pytest.skip(f"{name} samples an approximation: tests/kernels/test_sghmc.py compares it with its own law")
        iterations = DRAWS.get(name, 5000)
        chains = np.stack([self.run(name, chain, iterations).sampling.draws for chain in (1, 2)])
        z = np.stack([chains[..., 0], chains[..., 1] - 0.5 * chains[..., 0]], axis=-1)
        features = np.concatenate([z, (z - MEAN) ** 2], axis=-1)
        error = summarise(features).mcse_mean
        exact = np.array([MEAN, MEAN, VARIANCE, VARIANCE])
        assert np.all(np.abs(features.mean(axis=(0, 1)) - exact) < z_bound(4) * error)
        assert np.all(error < 0.05 * math.sqrt(VARIANCE)), "too few draws for the test to fail"

    def test_the_same_seed_gives_the_same_bytes(self, name: str) -> None:
        first, second, other = self.run(name), self.run(name), self.run(name, chain=2)
        assert first.sampling.draws.tobytes() == second.sampling.draws.tobytes()
        assert first.sampling.draws.tobytes() != other.sampling.draws.tobytes()

    def test_samplers_share_an_exploration(self, name: str) -> None:
        mine, hmcs = self.run(name, iterations=1).exploration, self.run("hmc", iterations=1).exploration
        assert mine.draws.tobytes() == hmcs.draws.tobytes()

    def test_the_exact_potential_decides_once_and_the_driver_drives(self, name: str) -> None:
        stats = self.run(name).sampling.stats
        recipe = RECIPES[name]
        assert np.all(stats["values"] == (~stats["solver_failed"] if recipe.exact else 0))
        counts = {"gradients", "surrogate_gradients", "minibatch_gradients"}
        mine = (
            "surrogate_gradients" if recipe.surrogate else "minibatch_gradients" if recipe.minibatches else "gradients"
        )
        assert np.all((stats[mine] >= stats["n_steps"]) | stats["solver_failed"])
        for others in counts - {mine}:
            np.testing.assert_array_equal(stats[others], 0)
