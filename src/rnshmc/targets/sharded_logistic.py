"""Bayesian logistic regression with rows distributed over MPI ranks: one Allreduce per evaluation."""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError, NumericalError
from rnshmc.targets.checks import check_positive, finite
from rnshmc.targets.ensemble import together
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.types import Array


class ShardedLogistic:
    """The potential of `LogisticRegression` with rows distributed over the ranks.

    Each evaluation is collective: every rank calls it with the same q, evaluates its own rows, and receives the sum
    over the ranks. On one rank the results equal those of `LogisticRegression` to the byte; on several they differ by
    the order of summation. X, shape (n, d), and labels y, (n,), are those of this rank, at least one; ``prior_sd`` is
    the same on every rank. Raises `DataError` on every rank if one has rows that `LogisticRegression` rejects, or if
    numbers of columns differ. Raises `ParameterError` if prior_sd is not a positive number.
    """

    def __init__(self, comm: Any, X: npt.ArrayLike, y: npt.ArrayLike, prior_sd: float) -> None:
        check_positive("prior_sd", prior_sd)
        self._comm = comm
        # Each rank adds an equal share of the prior's precision, so that the prior counts once.
        self._local = together(comm, lambda: LogisticRegression(X, y, prior_sd * sqrt(comm.size)))
        dims = comm.allgather(self._local.dim)
        if len(set(dims)) > 1:
            raise DataError(f"X must have the same number of columns on every rank, got {dims}")
        self.dim: int = self._local.dim
        """Number of coefficients, d."""

    def value(self, q: Array) -> float:
        """U(q) for q of shape (dim,)."""
        return float(self._sum((1,), lambda: np.array([self._local.value(q)]))[0])

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (dim,)."""
        return self._sum((self.dim,), lambda: self._local.gradient(q))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, which travel in one buffer."""
        packed = self._sum((1 + self.dim,), lambda: np.append(*self._local.value_and_grad(q)))
        return float(packed[0]), packed[1:]

    def metric(self, q: Array) -> Array:
        """Fisher information plus prior precision, (dim, dim)."""
        return self._sum((self.dim, self.dim), lambda: self._local.metric(q))

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', shape (dim,), for a factor of shape (dim, r)."""
        return self._sum((self.dim,), lambda: self._local.metric_vjp(q, factor))

    def _sum(self, shape: tuple[int, ...], evaluate: Callable[[], Array]) -> Array:
        """Sum over the ranks of an evaluation on each rank's rows."""
        try:
            part = evaluate()
        except NumericalError:
            # The other ranks are waiting for this one: it sends NaN to make the sum fail on all of them.
            part = np.full(shape, np.nan)
        total = np.empty(shape)
        self._comm.Allreduce(part, total)
        return finite("potential of the sharded logistic regression, or a derivative of it,", total)
