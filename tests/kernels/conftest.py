"""The invariance test that every kernel has to pass, and every mutant of it to fail."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import digamma, polygamma

from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound

THRESHOLD = z_bound(11)
"""For the z-scores of `largest_change`: the changes of a reversible kernel have symmetric laws.

A mutant whose largest z-score is 12 on average stays below it with probability 1e-9.
"""


class ShearedLogGamma:
    """Skewed and correlated: q = A z with z_i = log g_i, g_i ~ Gamma(shape_i, 1); metric: Hessian plus 0.3 I in z."""

    dim = 2
    shape = np.array([1.0, 3.0])
    A = np.array([[1.0, 0.0], [0.8, 0.6]])
    inverse = np.linalg.inv(A)

    def value(self, q: Array) -> float:
        z = self.inverse @ q
        return float(np.sum(np.exp(z) - self.shape * z))

    def gradient(self, q: Array) -> Array:
        return np.asarray(self.inverse.T @ (np.exp(self.inverse @ q) - self.shape))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)

    def metric(self, q: Array) -> Array:
        return np.asarray(self.inverse.T @ np.diag(np.exp(self.inverse @ q) + 0.3) @ self.inverse)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        projected = self.inverse @ factor
        return np.asarray(self.inverse.T @ (np.exp(self.inverse @ q) * (projected**2).sum(axis=1)))

    def draws(self, rng: np.random.Generator, n: int) -> Array:
        return np.asarray(np.log(rng.gamma(self.shape, size=(n, 2))) @ self.A.T)

    @property
    def mean(self) -> Array:
        return np.asarray(self.A @ digamma(self.shape))

    @property
    def sd(self) -> Array:
        return np.asarray(np.sqrt(self.A**2 @ polygamma(1, self.shape)))


@pytest.fixture
def invariance_z() -> Callable[..., float]:
    """`largest_change`."""
    return largest_change


def largest_change(target: Any, kernel: Any, *names: str, n: int = 20000) -> float:
    """Largest |z| of changes with expectation zero when ``n`` exact draws make one transition.

    These are the changes of first to third moments, paired draw by draw, so that their Monte Carlo error is that of the
    change alone, and the sign of the energy errors that were accepted: a reversible kernel goes up as often as down.
    """
    rng = stream(11, *names)
    before = target.draws(rng, n)
    transitions = [kernel.step(rng, kernel.init(q)) for q in before]
    after = np.stack([state.q for state, _ in transitions])
    signs = [np.sign(info.delta_h) if info.accepted else 0.0 for _, info in transitions]
    changes = np.column_stack([moment_features(after) - moment_features(before), signs])
    return float(np.max(np.abs(changes.mean(axis=0)) / (changes.std(axis=0, ddof=1) / math.sqrt(n))))


def moment_features(q: Array) -> Array:
    x, y = q.T
    return np.stack([x, y, x**2, y**2, x * y, x**3, y**3, x**2 * y, x * y**2, np.cos(x + y)], axis=1)
