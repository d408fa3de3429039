"""Why Riemannian rows differ from paper A's: seconds per iteration over those of HMC, as published.

The logistic regressions: RMHMC with one derivative matrix for each coefficient, of which the paper says nothing. On one
thread it is about three to four times as far from HMC as printed on each of them; HMC, which waits for memory, gains
nothing from the threads that its matrix products gain from. Our RMHMC contracts the derivative instead. The elliptic
problem: as the original implementation worked, five fixed-point iterations, whatever comes out, and no way back; for
the exact metric 20 tangent solves, for its derivative the 210 second derivatives of the solution besides; HMC as in
`published_baseline`. Data are random: they set the cost by their size alone. Our own ratios are those of Table 1.
"""

from dataclasses import dataclass
from functools import partial
from typing import Protocol

import numpy as np
from harness import compare
from published_baseline import ITERATIONS, FullJacobian, iterations, logistic, network
from rmhmc import PublishedIteration

from rnshmc.random import stream
from rnshmc.surrogates.softabs import SoftAbsMetric
from rnshmc.types import Array

STEPS, FIXED_POINT_ITERATIONS, STEP_SIZE = 3, 5, 1e-9
LOGISTIC = (
    ("lr_simulated", 100_000, 50, 2, 6, 3.794 / 0.061),
    ("bank", 40_197, 25, 3, 45, 0.631 / 0.061),
    ("a9a", 32_561, 61, 4, 10, 3.492 / 0.033),
)
"""Observations, coefficients, steps of RMHMC, most steps of HMC, and the printed ratio."""
PAPER = {"rmhmc": 4.388 / 0.775, "rns_rmhmc": 0.097 / 0.775}


class Geometry(Protocol):
    """A diagonal metric, and the force and the trace term that go with it."""

    @property
    def dim(self) -> int: ...

    def metric(self, q: Array) -> Array: ...

    def geometry(self, q: Array) -> tuple[Array, Array, Array]:
        """The metric, the gradient of the potential, and the contraction of the metric's derivative."""
        ...


class Exact(FullJacobian):
    """The elliptic problem with its metric by 20 tangent solves, the derivative of that by 210 more.

    The metric is as cheap to invert as a diagonal one, which is to the advantage of the published way.
    """

    def metric(self, q: Array) -> Array:
        return np.full(self.dim, 1.0 + self.value(q))

    def geometry(self, q: Array) -> tuple[Array, Array, Array]:
        metric, load = self.metric(q), self._solver.forward()
        second = [self._solver.solve(load) for _ in range(self.dim * (self.dim + 1) // 2)]
        return metric, metric, np.full(self.dim, 1e-9 * float(second[-1].sum()))


class Surrogate(SoftAbsMetric):
    """The network's Hessian as metric."""

    def geometry(self, q: Array) -> tuple[Array, Array, Array]:
        metric = self.metric(q)
        return metric, self.gradient(q), self.metric_vjp(q, np.diag(1.0 / np.sqrt(metric)))


@dataclass(frozen=True)
class PublishedIterations:
    """Iterations of the generalised leapfrog (paper A, eqs. 7 to 9) that stay near where they are."""

    driver: Geometry
    exact: FullJacobian

    def __call__(self) -> None:
        for _ in range(ITERATIONS):
            q = self._trajectory(np.zeros(self.exact.dim), np.ones(self.exact.dim))
            self.exact.value(q)

    def _trajectory(self, q: Array, p: Array) -> Array:
        driver = self.driver
        metric, force, trace = driver.geometry(q)
        for _ in range(STEPS):
            half = p
            for _ in range(FIXED_POINT_ITERATIONS):
                half = p - 0.5 * STEP_SIZE * (force + trace * (1.0 - half @ (half / metric)))
            start, velocity = q, half / metric
            for _ in range(FIXED_POINT_ITERATIONS):
                q = start + 0.5 * STEP_SIZE * (velocity + half / driver.metric(q))
            metric, force, trace = driver.geometry(q)
            p = half - 0.5 * STEP_SIZE * (force + trace * (1.0 - half @ (half / metric)))
        return q


def logistic_regressions() -> None:
    print("logistic regression, seconds per iteration of RMHMC over those of HMC")
    print(f"{'problem':14}{'published':>11}{'paper':>8}")
    for name, n, dim, steps, hmc_steps, paper in LOGISTIC:
        target, rng = logistic(n, dim), stream(1, "published riemannian", name)
        rmhmc = PublishedIteration(
            rng.standard_normal((n, dim)),
            rng.integers(0, 2, n).astype(np.float64),
            10.0,
            step_size=STEP_SIZE,
            steps=steps,
        )
        found = compare(
            name,
            partial(rmhmc.trajectory, np.zeros(dim), np.ones(dim)),
            iterations(target, target, hmc_steps, 2),
            bound=np.inf,
            repeats=1,
        )
        print(f"{name:14}{ITERATIONS * found.ratio:11.1f}{paper:8.1f}", flush=True)


def main() -> None:
    logistic_regressions()
    exact = Exact()
    hmc = iterations(exact, exact, 10, 2)
    drivers: dict[str, Geometry] = {
        "rmhmc": exact,
        "rns_rmhmc": Surrogate(network(20, 1000), shape="diagonal", softness=0.1),
    }
    print("elliptic PDE, seconds per iteration over those of HMC")
    print(f"{'sampler':12}{'published':>11}{'paper':>8}")
    for name, driver in drivers.items():
        found = compare(name, PublishedIterations(driver, exact), hmc, bound=np.inf, repeats=5)
        print(f"{name:12}{found.ratio:11.2f}{PAPER[name]:8.2f}")


if __name__ == "__main__":
    main()
