"""Simulated data of paper B: high-dimensional logistic regression, a GARCH series, and Gaussian process regression.

The recipes of paper A are in `rnshmc.datasets.simulate`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.simulate import draw_labels
from rnshmc.errors import ParameterError
from rnshmc.files import atomic_path
from rnshmc.types import Array

_GARCH_BURN_IN = 1000


@dataclass(frozen=True, eq=False)
class SimulatedData:
    """Named arrays of origin "simulated"."""

    arrays: dict[str, Array]

    def save(self, path: str | Path) -> None:
        """Write an npz file with the arrays and ``origin``; equal data give equal bytes."""
        with atomic_path(Path(path)) as part, part.open("wb") as file:
            np.savez(file, origin="simulated", **self.arrays)


def simulate_normal_logistic(n: int, d: int, rng: np.random.Generator) -> LogisticData:
    """Draw covariates from N(0, I), coefficients uniform on [-1, 1]^d, and labels (paper B, section 4.2).

    The paper has n = 50000 and d = 200; there is no constant column. Raises `ParameterError` if a size is too small;
    `DataError` if all labels came out equal, as they may for tiny n.
    """
    _check_sizes(n=(n, 2), d=(d, 1))
    X = rng.standard_normal((n, d))
    y = draw_labels(X, rng.uniform(-1.0, 1.0, d), rng)
    return LogisticData(X, y, "simulated", tuple(f"x{k}" for k in range(1, d + 1)))


def simulate_garch(n: int, *, alpha: Sequence[float], beta: Sequence[float], rng: np.random.Generator) -> SimulatedData:
    """Draw a series from the GARCH model of paper B, eqs. (24) and (25), in its stationary state.

    The paper has n = 1000 and the orders 2 and 1, and does not print the parameters. A start of the series is drawn and
    dropped. Raises `ParameterError` if n is too small or the parameters are not those of a stationary process.
    """
    _check_sizes(n=(n, 1))
    persistence = sum(alpha[1:]) + sum(beta)
    if not (alpha[0] > 0 and min(*alpha, *beta) >= 0 and persistence < 1):
        raise ParameterError(f"alpha = {alpha!r} and beta = {beta!r} are not those of a stationary GARCH process")
    m, r = len(alpha) - 1, len(beta)
    first, steps = max(m, r), _GARCH_BURN_IN + n
    variances = np.full(first + steps, alpha[0] / (1 - persistence))
    squares, y = variances.copy(), np.zeros(first + steps)
    arch, garch = np.asarray(alpha[1:]), np.asarray(beta)
    for t, noise in enumerate(rng.standard_normal(steps), start=first):
        # Most recent first, as the coefficients are.
        variances[t] = alpha[0] + arch @ squares[t - m : t][::-1] + garch @ variances[t - r : t][::-1]
        y[t] = np.sqrt(variances[t]) * noise
        squares[t] = y[t] ** 2
    return SimulatedData({"y": y[-n:].copy()})


def simulate_regression(n: int, *, noise_sd: float, rng: np.random.Generator) -> SimulatedData:
    """Draw inputs from N(0, I) in four dimensions, and standardised noisy values of a polynomial.

    The paper has n = 500 and does not print the polynomial (section 4.3); here it is x_1 + x_2^2 - x_3 x_4. X has shape
    (n, 4), y has shape (n,), mean 0 and standard deviation 1 (divisor n - 1). ``noise_sd`` is that of the noise before
    outputs are standardised. Raises `ParameterError` if n is too small or noise_sd is negative.
    """
    _check_sizes(n=(n, 2))
    if not 0 <= noise_sd < np.inf:
        raise ParameterError(f"noise_sd must be a number of at least 0, got {noise_sd!r}")
    X = rng.standard_normal((n, 4))
    y = X[:, 0] + X[:, 1] ** 2 - X[:, 2] * X[:, 3] + noise_sd * rng.standard_normal(n)
    return SimulatedData({"X": X, "y": (y - y.mean()) / y.std(ddof=1)})


def _check_sizes(**sizes: tuple[int, int]) -> None:
    for name, (size, least) in sizes.items():
        if size < least:
            raise ParameterError(f"{name} must be at least {least}, got {size!r}")
