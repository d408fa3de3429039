"""Logistic regression whose gradient can be estimated from mini-batches of rows (paper B, section 4.4)."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from scipy.special import expit

from rnshmc.errors import ParameterError
from rnshmc.files import naming_file
from rnshmc.targets.checks import finite, read_arrays
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.priors import LaplacePrior, NormalPrior, Prior, SwappedPrior
from rnshmc.types import Array

# Standard deviation of the prior that is removed from the logistic regression again; any value works.
_REMOVED = NormalPrior(1.0)


class MinibatchLogistic(SwappedPrior):
    """A logistic regression under any prior, exact and by mini-batches.

    The rows are held a second time, one after the other, so that those of a mini-batch are read at once. X has shape
    (N, d), labels 0 or 1 have shape (N,). Raises `DataError` if X or y has a wrong shape, X is not finite, or y holds
    another label.
    """

    def __init__(self, X: npt.ArrayLike, y: npt.ArrayLike, prior: Prior) -> None:
        super().__init__(LogisticRegression(X, y, _REMOVED.sd), old=_REMOVED, new=prior)
        self._rows = np.where(np.asarray(y) == 1, -1.0, 1.0)[:, np.newaxis] * np.asarray(X, dtype=np.float64)

    def minibatch(self, rng: np.random.Generator, size: int, *, scaled: bool = True) -> "Minibatch":
        """The gradient estimated from ``size`` distinct rows, whose sum is multiplied by N / ``size`` if ``scaled``.

        Raises `ParameterError` if there are fewer rows, or size is less than 1.
        """
        count = len(self._rows)
        if not 1 <= size <= count:
            raise ParameterError(f"batch_size: expected 1 to {count} rows, got {size}")
        chosen = rng.choice(count, size, replace=False, shuffle=False)
        return Minibatch(self._rows[chosen], count / size if scaled else 1.0, self._new)


class Minibatch:
    """Gradient of a logistic regression, estimated from n of N rows; unbiased for weight N / n.

        g(q) = w sum_i -s_i sigmoid(-s_i x_i'q) x_i + grad P(q),  P = -log prior

    ``signed_rows`` are -s_i x_i, shape (n, d), and ``weight`` is w: how many rows each stands for.
    """

    def __init__(self, signed_rows: Array, weight: float, prior: Prior) -> None:
        self.dim: int = signed_rows.shape[1]
        """Number of coefficients, d."""
        self._rows = signed_rows
        self._weight = weight
        self._prior = prior

    def gradient(self, q: Array) -> Array:
        """The estimate at ``q``, both of shape (dim,)."""
        with np.errstate(all="ignore"):
            estimate = self._weight * (expit(self._rows @ q) @ self._rows) + self._prior.gradient(q)
        return finite("gradient of a mini-batch of the logistic regression", estimate)


def with_laplace_prior(path: str | Path, *, scale: float) -> MinibatchLogistic:
    """A logistic regression with a Laplace prior (paper B, section 4.4) given stored data, X (N, d) and y (N,).

    Raises as `read_arrays`, `LogisticRegression` and `LaplacePrior`; the message of a `DataError` names the file.
    """
    X, y = read_arrays(path, "X", "y")
    with naming_file(path):
        return MinibatchLogistic(X, y, LaplacePrior(scale))
