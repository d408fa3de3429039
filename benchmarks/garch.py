"""GARCH(2, 1) with 1000 observations: value and gradient in under a millisecond, and against two bare recursions."""

import sys

import numpy as np
from harness import compare, report
from scipy.signal import lfilter

from rnshmc.datasets.synthetic import simulate_garch
from rnshmc.random import stream
from rnshmc.targets.garch import Garch

N = 1000
Q = np.array([0.012, 0.1, 0.2, 0.6])
LIMIT_S = 1e-3


def main() -> int:
    y = simulate_garch(N, alpha=Q[:3].tolist(), beta=Q[3:].tolist(), rng=stream(1, "benchmark", "garch")).arrays["y"]
    target = Garch(y, orders=(2, 1), prior_sd=10.0)
    feedback, memory = np.array([1.0, -Q[3]]), np.zeros(1)
    squares = y**2

    def recursions() -> object:
        return lfilter([1.0], feedback, lfilter([1.0], feedback, squares, zi=memory)[0])

    against_recursions = compare(
        "value_and_grad / two bare recursions",
        lambda: target.value_and_grad(Q),
        recursions,
        bound=4,
        repeats=200,
        calls=10,
    )
    status = report([against_recursions])
    fastest = min(against_recursions.candidate_s)
    print(f"{'PASS' if fastest < LIMIT_S else 'OVER'}  value_and_grad: {1e3 * fastest:.3f} ms, limit {1e3 * LIMIT_S:g}")
    return max(status, int(fastest >= LIMIT_S))


if __name__ == "__main__":
    sys.exit(main())
