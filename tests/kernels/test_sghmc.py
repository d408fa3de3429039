"""SGHMC samples an approximation, whose law is known on a Gaussian; with a Metropolis correction it is exact."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.linalg import solve_discrete_lyapunov

from rnshmc.kernels.hmc import HMC
from rnshmc.kernels.sghmc import SGHMC, CorrectedSGHMC
from rnshmc.kernels.transition import State, TransitionInfo
from rnshmc.random import stream
from rnshmc.targets.minibatch_logistic import MinibatchLogistic
from rnshmc.targets.priors import NormalPrior
from rnshmc.types import Array, Driver
from tests.conftest import z_bound
from tests.kernels.conftest import THRESHOLD, ShearedLogGamma

N = 20000
"""Exact draws: the z-score of every mutant is 12 or more on average."""


class Estimate:
    """A gradient with a constant error."""

    def __init__(self, driver: Driver, error: Array) -> None:
        self.dim = driver.dim
        self.driver = driver
        self.error = error

    def gradient(self, q: Array) -> Array:
        return self.driver.gradient(q) + self.error


class Coordinates:
    """Independent N(0, 1 / precision) in many dimensions; a mini-batch errs by N(0, 1 / size) in each."""

    dim = 400
    precision = 2.0

    def value(self, q: Array) -> float:
        return 0.5 * self.precision * float(q @ q)

    def gradient(self, q: Array) -> Array:
        return self.precision * q

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        return Estimate(self, rng.standard_normal(self.dim) / math.sqrt(size))


def stationary_variance(step_size: float, friction: float, batch_size: int) -> float:
    """Var q of the linear recursion that SGHMC is on a Gaussian, by its discrete Lyapunov equation."""
    spring = step_size * Coordinates.precision
    A = np.array([[1.0, step_size], [-spring, 1.0 - step_size * friction - spring * step_size]])
    noise = step_size**2 / batch_size + 2.0 * friction * step_size
    return float(solve_discrete_lyapunov(A, np.diag([0.0, noise]))[0, 0])


def sampled_variance(step_size: float, friction: float, batch_size: int, n: int = 1000) -> tuple[float, float]:
    """Mean of q^2 over coordinates and iterations, and its Monte Carlo error: coordinates are independent."""
    target, rng = Coordinates(), stream(12, "sghmc", str(step_size), str(batch_size))
    kernel = SGHMC(target, target, step_size=step_size, n_steps=(1, 3), batch_size=batch_size, friction=friction)
    state = kernel.init(rng.standard_normal(target.dim) / math.sqrt(target.precision))
    squares = np.empty((n, target.dim))
    for i in range(n + 100):
        state, _ = kernel.step(rng, state)
        if i >= 100:
            squares[i - 100] = state.q**2
    means = squares.mean(axis=0)
    return float(means.mean()), float(means.std(ddof=1) / math.sqrt(target.dim))


@pytest.mark.parametrize(("step_size", "batch_size"), [(0.6, 1), (0.6, 100), (0.15, 1)])
def test_sghmc_follows_its_own_law_on_a_gaussian(step_size: float, batch_size: int) -> None:
    found, error = sampled_variance(step_size, 1.0, batch_size)
    assert abs(found - stationary_variance(step_size, 1.0, batch_size)) < z_bound() * error


def test_sghmc_is_not_exact_and_the_test_sees_it() -> None:
    found, error = sampled_variance(0.6, 1.0, 1)
    assert abs(found - 1.0 / Coordinates.precision) > 10 * error


@pytest.mark.parametrize(("batch_size", "order"), [(1, 1), (10**9, 2)])
def test_bias_of_sghmc_shrinks_with_the_step(batch_size: int, order: int) -> None:
    """The bias is proportional to the step with the noise of mini-batches, and to its square without."""
    steps = 0.1 * 2.0 ** -np.arange(4)
    biases = np.array([stationary_variance(step, 1.0, batch_size) for step in steps]) - 1.0 / Coordinates.precision
    ratios = biases[:-1] / biases[1:]
    assert np.all(biases > 0)
    assert abs(math.log2(ratios[-1]) - order) < 0.1


class Noisy(ShearedLogGamma):
    """Mini-batches with an error of the size of the gradient."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        return Estimate(self, rng.standard_normal(2) / math.sqrt(size))


class Fresh(ShearedLogGamma):
    """A new mini-batch for each gradient of a trajectory."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        return Changing(self, rng, size)


class Changing:
    dim = 2

    def __init__(self, driver: Driver, rng: np.random.Generator, size: int) -> None:
        self.driver = driver
        self.rng = rng
        self.size = size

    def gradient(self, q: Array) -> Array:
        return self.driver.gradient(q) + self.rng.standard_normal(2) / math.sqrt(self.size)


class Picky(CorrectedSGHMC):
    """A mutant: the mini-batch depends on the state, where its gradient is the smallest of five."""

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        batches = [self.driver.minibatch(rng, self.batch_size) for _ in range(5)]
        batch = min(batches, key=lambda batch: float(np.linalg.norm(batch.gradient(state.q))))
        hmc = HMC(self.potential, batch, step_size=self.step_size, n_steps=self.n_steps)
        return hmc.step(rng, state._replace(gradient=batch.gradient(state.q)))


class Uncorrected(CorrectedSGHMC):
    """A mutant: the mini-batch decides as well, by the potential that its gradient belongs to."""

    def step(self, rng: np.random.Generator, state: State) -> tuple[State, TransitionInfo]:
        batch: Any = self.driver.minibatch(rng, self.batch_size)
        tilted = Tilted(batch.error)
        hmc = HMC(tilted, tilted, step_size=self.step_size, n_steps=self.n_steps)
        return hmc.step(rng, hmc.init(state.q))


class Tilted(ShearedLogGamma):
    """The potential of one estimate."""

    def __init__(self, error: Array) -> None:
        self.error = error

    def value(self, q: Array) -> float:
        return super().value(q) + float(self.error @ q)

    def gradient(self, q: Array) -> Array:
        return super().gradient(q) + self.error


DYNAMICS: dict[str, Any] = {"step_size": 0.4, "n_steps": (3, 3)}
TARGET = Noisy()


def test_with_one_batch_and_a_correction_the_target_is_invariant(invariance_z: Callable[..., float]) -> None:
    kernel = CorrectedSGHMC(TARGET, TARGET, batch_size=1, **DYNAMICS)
    assert invariance_z(TARGET, kernel, "sghmc_mh", n=N) < THRESHOLD


def test_a_transition_is_that_of_hmc_with_the_batch() -> None:
    """From its first half-kick on: nothing is left of the batch of the transition before."""
    kernel = CorrectedSGHMC(TARGET, TARGET, batch_size=1, **DYNAMICS)
    rng, expected = stream(3, "sghmc_mh"), stream(3, "sghmc_mh")
    state = kernel.init(np.zeros(2))
    q = state.q
    for _ in range(10):
        state, info = kernel.step(rng, state)
        hmc = HMC(TARGET, TARGET.minibatch(expected, 1), **DYNAMICS)
        there, the_same = hmc.step(expected, hmc.init(q))
        q = there.q
        np.testing.assert_array_equal(state.q, q)
        assert info == the_same


def test_a_batch_for_each_gradient_would_be_exact_too(invariance_z: Callable[..., float]) -> None:
    """No trajectory is another's reversal then, but the batches are as likely in the reverse order."""
    target = Fresh()
    kernel = CorrectedSGHMC(target, target, batch_size=1, **DYNAMICS)
    assert invariance_z(target, kernel, "fresh", n=N) < THRESHOLD


@pytest.mark.parametrize("mutant", [Picky, Uncorrected])
def test_mutants_are_caught(mutant: type[CorrectedSGHMC], invariance_z: Callable[..., float]) -> None:
    kernel = mutant(TARGET, TARGET, batch_size=1, **DYNAMICS)
    assert invariance_z(TARGET, kernel, "sghmc_mh mutant", n=N) > THRESHOLD


class Unscaled(Noisy):
    """Mini-batches that represent a fiftieth of the data."""

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> Driver:
        batch = super().minibatch(rng, size)
        return batch if scaled else Weak(batch)


class Weak:
    """A small part of a force."""

    def __init__(self, driver: Driver) -> None:
        self.dim = driver.dim
        self.driver = driver

    def gradient(self, q: Array) -> Array:
        return 0.02 * self.driver.gradient(q)


def test_an_unscaled_batch_and_a_correction_leave_the_target_invariant(invariance_z: Callable[..., float]) -> None:
    target = Unscaled()
    kernel = CorrectedSGHMC(target, target, batch_size=1, scaled=False, **DYNAMICS)
    assert invariance_z(target, kernel, "sghmc_mh unscaled", n=N) < THRESHOLD


def test_an_unscaled_trajectory_is_driven_by_the_unscaled_batch() -> None:
    target = Unscaled()
    kernel = CorrectedSGHMC(target, target, batch_size=1, scaled=False, **DYNAMICS)
    rng, expected = stream(3, "unscaled"), stream(3, "unscaled")
    state = kernel.init(np.zeros(2))
    hmc = HMC(target, target.minibatch(expected, 1, scaled=False), **DYNAMICS)
    there, _ = hmc.step(expected, hmc.init(state.q))
    np.testing.assert_array_equal(kernel.step(rng, state)[0].q, there.q)


def test_unscaled_sghmc_samples_the_posterior_of_a_part_of_the_data() -> None:
    """A coin tossed 400 times, of which a batch sees 40: the mean is that under the likelihood to the power 1 / 10."""
    labels = np.arange(400) % 4 == 0
    target = MinibatchLogistic(np.ones((400, 1)), labels, NormalPrior(1.0))
    rng = stream(12, "unscaled")
    gradients = [target.minibatch(rng, 40, scaled=False).gradient(np.array([0.3])) for _ in range(400)]
    prior = 0.3
    expected = (target.gradient(np.array([0.3])) - prior) * 40 / 400 + prior
    assert abs(np.mean(gradients) - expected[0]) < z_bound() * np.std(gradients, ddof=1) / 20
    kernel = SGHMC(target, target, step_size=0.05, n_steps=(10, 10), batch_size=40, friction=1.0, scaled=False)
    state, draws = kernel.init(np.array([-1.0])), np.empty((30, 100))
    for chain in draws:
        state = kernel.init(np.array([-1.0]))
        for i in range(len(chain)):
            state, _ = kernel.step(rng, state)
            chain[i] = state.q[0]
    grid = np.linspace(-4.0, 3.0, 2001)
    log_density = -0.1 * (400 * np.logaddexp(0.0, grid) - 100 * grid) - grid**2 / 2
    weights = np.exp(log_density - log_density.max())
    mean = float((weights * grid).sum() / weights.sum())
    means = draws[:, 20:].mean(axis=1)
    assert abs(means.mean() - mean) < z_bound() * means.std(ddof=1) / math.sqrt(len(means))
