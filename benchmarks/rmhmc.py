"""RMHMC on logistic regression: its metric against one product, its iteration against the published method.

The published method forms the derivative of the metric as d matrices of size d x d and iterates five times.
"""

import sys

import numpy as np
from harness import compare, report
from scipy.linalg import cho_factor, cho_solve

from rnshmc.dynamics.generalised_leapfrog import FixedPoint, generalised_leapfrog
from rnshmc.kernels.rmhmc import RMHMC
from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.types import Array

N, DIM = 100_000, 50
STEP_SIZE, STEPS, FIXED_POINT_ITERATIONS = 0.54, 2, 5


class PublishedIteration:
    """The generalised leapfrog with one derivative matrix for each coefficient (paper A, eqs. 7 to 9)."""

    def __init__(
        self, X: Array, y: Array, prior_sd: float, *, step_size: float = STEP_SIZE, steps: int = STEPS
    ) -> None:
        self._X, self._precision = X, 1.0 / prior_sd**2
        self._step_size, self._steps = step_size, steps
        self._target = LogisticRegression(X, y, prior_sd)

    def _probabilities(self, q: Array) -> Array:
        return np.asarray(1.0 / (1.0 + np.exp(-self._X @ q)))

    def _metric(self, q: Array) -> Array:
        p = self._probabilities(q)
        return np.asarray((self._X.T * (p * (1.0 - p))) @ self._X + self._precision * np.eye(self._X.shape[1]))

    def _derivatives(self, q: Array) -> Array:
        p = self._probabilities(q)
        slopes = p * (1.0 - p) * (1.0 - 2.0 * p)
        return np.stack([(self._X.T * (slopes * self._X[:, i])) @ self._X for i in range(self._X.shape[1])])

    def trajectory(self, q: Array, p: Array) -> tuple[Array, Array]:
        """Position and momentum after a trajectory from ``q`` with momentum ``p``."""
        eps = self._step_size
        factor, force, derivatives = self._geometry(q)
        for _ in range(self._steps):
            half = p
            for _ in range(FIXED_POINT_ITERATIONS):
                half = p - 0.5 * eps * self._momentum_force(factor, force, derivatives, half)
            start, velocity = q, cho_solve(factor, half)
            for _ in range(FIXED_POINT_ITERATIONS):
                q = start + 0.5 * eps * (velocity + np.linalg.solve(self._metric(q), half))
            factor, force, derivatives = self._geometry(q)
            p = half - 0.5 * eps * self._momentum_force(factor, force, derivatives, half)
        return q, p

    def _geometry(self, q: Array) -> tuple[tuple[Array, bool], Array, Array]:
        factor, derivatives = cho_factor(self._metric(q), lower=True), self._derivatives(q)
        traces = np.array([np.trace(cho_solve(factor, derivative)) for derivative in derivatives])
        return factor, self._target.gradient(q) + 0.5 * traces, derivatives

    def _momentum_force(self, factor: tuple[Array, bool], force: Array, derivatives: Array, p: Array) -> Array:
        velocity = cho_solve(factor, p)
        return np.asarray(force - 0.5 * np.array([velocity @ derivative @ velocity for derivative in derivatives]))


def main() -> int:
    rng = stream(1, "benchmark", "rmhmc")
    X = 0.1 * rng.standard_normal((N, DIM))
    truth = rng.random(DIM)
    y = (rng.random(N) < 1.0 / (1.0 + np.exp(-X @ truth))).astype(np.float64)
    target, published = LogisticRegression(X, y, prior_sd=10.0), PublishedIteration(X, y, 10.0)
    kernel = RMHMC(target, target, step_size=STEP_SIZE, n_steps=(STEPS, STEPS))
    state = kernel.init(truth)
    p = state.point.metric.sample_momentum(rng, DIM)
    factor, weights = state.point.metric.inverse_factor, rng.random(N)
    ours, _ = generalised_leapfrog(
        state.point, p, driver=target, step_size=STEP_SIZE, n_steps=STEPS, fixed_point=FixedPoint(30, 1e-10)
    )
    np.testing.assert_allclose(published.trajectory(truth, p)[0], ours.q, atol=1e-9)

    def product() -> object:
        return (X * weights[:, np.newaxis]).T @ X

    def metric_and_trace() -> object:
        return target.metric(truth), target.metric_vjp(truth, factor)

    return report(
        [
            compare("metric + metric_vjp / (X * w)' X", metric_and_trace, product, bound=4.0, repeats=20),
            compare(
                "RMHMC iteration / published iteration",
                lambda: kernel.step(rng, state),
                lambda: published.trajectory(truth, p),
                bound=1 / 6,
                repeats=3,
            ),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
