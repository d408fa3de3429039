"""Gaussian process regression, n = 500, against one Cholesky factorisation and one inverse of its size."""

import sys

import numpy as np
from harness import compare, report
from scipy.linalg import lapack

from rnshmc.datasets.synthetic import simulate_regression
from rnshmc.random import stream
from rnshmc.targets.gp_regression import GPRegression

N = 500


def main() -> int:
    rng = stream(1, "benchmark", "gp regression")
    arrays = simulate_regression(N, noise_sd=0.15, rng=rng).arrays
    target = GPRegression(arrays["X"], arrays["y"], prior_sd=10.0)
    # A new position for each call, as in a chain; near the mode.
    positions = iter(np.array([1.5, -5.5]) + 0.1 * rng.standard_normal((1000, 2)))
    root = rng.standard_normal((N, N))
    matrix = np.asfortranarray(root @ root.T + N * np.eye(N))

    def cholesky_and_inverse() -> object:
        return lapack.dpotri(lapack.dpotrf(matrix, lower=1)[0], lower=1, overwrite_c=1)

    def cholesky() -> object:
        return lapack.dpotrf(matrix, lower=1)

    def value_and_grad() -> object:
        return target.value_and_grad(next(positions))

    def value() -> object:
        return target.value(next(positions))

    return report(
        [
            compare("value_and_grad / Cholesky + inverse", value_and_grad, cholesky_and_inverse, bound=3),
            compare("value / Cholesky", value, cholesky, bound=6),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
