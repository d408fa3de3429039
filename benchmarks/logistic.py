"""Logistic regression against one product with its design matrix: N = 100000, d = 50."""

import sys

import numpy as np
from harness import compare, report

from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression

N, DIM = 100_000, 50


def main() -> int:
    rng = stream(1, "benchmark", "logistic")
    X = rng.standard_normal((N, DIM))
    y = rng.integers(0, 2, N)
    q = 0.1 * rng.standard_normal(DIM)
    target = LogisticRegression(X, y, prior_sd=10.0)
    np.testing.assert_allclose(
        target.value(q), np.logaddexp(0.0, (1 - 2 * y) * (X @ q)).sum() + q @ q / 200, rtol=1e-12
    )

    def product() -> object:
        return X @ q

    return report(
        [
            compare("value / X @ q", lambda: target.value(q), product, bound=1.4),
            compare("gradient / X @ q", lambda: target.gradient(q), product, bound=2.3),
            compare("value_and_grad / X @ q", lambda: target.value_and_grad(q), product, bound=2.3),
        ]
    )


if __name__ == "__main__":
    sys.exit(main())
