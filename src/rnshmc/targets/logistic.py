"""Bayesian logistic regression with a Gaussian prior (paper A, section 5.1)."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError
from rnshmc.files import naming_file
from rnshmc.targets.checks import check_positive, checked_rows, finite, read_arrays
from rnshmc.types import Array

# Small enough to stay in cache for the gradient's second product; large enough for negligible call overhead.
_BLOCK_BYTES = 2 * 1024 * 1024
_TEMPORARIES = 4
# Rows are sorted by the columns that are zero in more than half of them: indicators, of which a block then has few.
_RARE = 0.5
# exp(-40) is below half a unit in the last place of 1: beyond 40, softplus(z) is z and sigmoid(z) is 1 in doubles.
_SATURATION = 40.0
# The product of this many factors 1 + exp(40) does not overflow, so one logarithm suffices for all.
_FACTORS_PER_LOG = 16
_POTENTIAL, _GRADIENT = "potential of the logistic regression", "gradient of the logistic regression"


class LogisticRegression:
    """Posterior of the coefficients q of a logistic regression, as a potential.

    X, the design matrix, has shape (N, d), where an intercept is a column of ones; labels y, 0 or 1, have shape (N,).
    With signs s_i = 2 y_i - 1 and the prior q ~ N(0, prior_sd^2 I),

        U(q) = sum_i softplus(-s_i x_i'q) + |q|^2 / (2 prior_sd^2).

    The rows are stored with their signs in transposed blocks that fit in cache, so that an evaluation reads the data
    once. Rows with the same rare columns follow each other, and a block omits the columns that are zero in all its
    rows: of data with many indicators, most. Blocks are summed in a fixed order: equal arguments give equal bytes.
    Raises `DataError` if X or y has a wrong shape, X is not finite, or y has another label. Raises `ParameterError` if
    prior_sd is not a positive number.
    """

    def __init__(self, X: npt.ArrayLike, y: npt.ArrayLike, prior_sd: float) -> None:
        rows = checked_rows(X)
        labels = _checked_labels(y, len(rows))
        check_positive("prior_sd", prior_sd)
        self.dim: int = rows.shape[1]
        """Number of coefficients, d."""
        self._prior_precision = 1.0 / prior_sd**2
        order = _by_rare_columns(rows)
        self._blocks = tuple(_signed_blocks(rows[order], labels[order]))

    def value(self, q: Array) -> float:
        """U(q) for q of shape (dim,)."""
        with np.errstate(all="ignore"):
            u = self._prior(q)
            for columns, block in self._blocks:
                margins = q[columns] @ block
                capped = np.minimum(margins, _SATURATION)
                u += _sum_softplus(margins, capped, 1.0 + np.exp(capped))
        return finite(_POTENTIAL, u)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (dim,)."""
        with np.errstate(all="ignore"):
            grad = self._prior_precision * q
            for columns, block in self._blocks:
                odds = np.exp(np.minimum(q[columns] @ block, _SATURATION))
                grad[columns] += block @ (odds / (1.0 + odds))
        return finite(_GRADIENT, grad)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient, for one reading of the data."""
        with np.errstate(all="ignore"):
            u, grad = self._prior(q), self._prior_precision * q
            for columns, block in self._blocks:
                margins = q[columns] @ block
                capped = np.minimum(margins, _SATURATION)
                odds = np.exp(capped)
                one_plus_odds = 1.0 + odds
                u += _sum_softplus(margins, capped, one_plus_odds)
                grad[columns] += block @ (odds / one_plus_odds)
        return finite(_POTENTIAL, u), finite(_GRADIENT, grad)

    def metric(self, q: Array) -> Array:
        """Fisher information plus prior precision, (dim, dim): the expected Hessian, which here is the Hessian.

        G(q) = sum_i p_i (1 - p_i) x_i x_i' + I / prior_sd^2,  p_i = 1 / (1 + exp(-x_i'q))
        """
        metric = self._prior_precision * np.eye(self.dim)
        with np.errstate(all="ignore"):
            for columns, block in self._blocks:
                weighted = block * np.sqrt(_information(q[columns] @ block)[0])
                # For a product with its own transpose, NumPy calls a BLAS routine of half the cost.
                square = (columns, columns) if isinstance(columns, slice) else np.ix_(columns, columns)
                metric[square] += weighted @ weighted.T
        return finite("metric of the logistic regression", metric)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', shape (dim,), in O(N dim r) for a factor of shape (dim, r).

        With the third derivatives written as a sum over the rows of the data, each row needs |factor' x_i|^2 alone.
        """
        product = np.zeros(self.dim)
        with np.errstate(all="ignore"):
            for columns, block in self._blocks:
                slopes = _information(q[columns] @ block)[1]
                projected = factor[columns].T @ block
                product[columns] += block @ (slopes * np.einsum("rn,rn->n", projected, projected))
        return finite("derivative of the metric of the logistic regression", product)

    def _prior(self, q: Array) -> float:
        return 0.5 * self._prior_precision * float(q @ q)


def from_file(path: str | Path, *, prior_sd: float) -> LogisticRegression:
    """The posterior given stored data, X (N, d) and y (N,).

    Raises as `read_arrays` and `LogisticRegression`; the message of a `DataError` names the file.
    """
    X, y = read_arrays(path, "X", "y")
    with naming_file(path):
        return LogisticRegression(X, y, prior_sd)


def _checked_labels(y: npt.ArrayLike, count: int) -> npt.NDArray[np.generic]:
    labels = np.asarray(y)
    if labels.shape != (count,):
        raise DataError(f"y must have one label for each of the {count} rows of X, got shape {labels.shape}")
    others = np.flatnonzero((labels != 0) & (labels != 1))
    if others.size:
        raise DataError(f"y must be 0 or 1, got {labels[others[0]]} in row {others[0]}")
    return labels


class _Block(NamedTuple):
    """Some of the rows, without the columns that are zero in all of them."""

    columns: npt.NDArray[np.intp] | slice
    """Indices of the other columns, ascending, or a slice of all."""
    rows: Array
    """-s_i x_i as columns, contiguous, shape (number of columns, number of rows)."""


def _by_rare_columns(rows: Array) -> npt.NDArray[np.intp] | slice:
    """Order of the rows in which blocks have few columns: by the columns that are mostly zero, the rarest first."""
    nonzero = rows != 0
    share = nonzero.mean(axis=0)
    rare = np.flatnonzero(share < _RARE)
    if not rare.size:
        return slice(None)
    # The last key decides first.
    order: npt.NDArray[np.intp] = np.lexsort(nonzero.T[rare[np.argsort(-share[rare], kind="stable")]])
    return order


def _signed_blocks(rows: Array, labels: npt.NDArray[np.generic]) -> Iterator[_Block]:
    """Blocks of at most about `_BLOCK_BYTES`; fewer columns leave room for more rows."""
    signs = np.where(labels == 1, -1.0, 1.0)
    start = 0
    while start < len(rows):
        expected = len(_nonzero_columns(rows[start : start + _fitting(rows.shape[1])]))
        block = slice(start, start + _fitting(expected))
        used = _nonzero_columns(rows[block])
        columns = used if len(used) < rows.shape[1] else slice(None)
        yield _Block(columns, np.ascontiguousarray(rows[block][:, columns].T * signs[block]))
        start = block.stop


def _nonzero_columns(rows: Array) -> npt.NDArray[np.intp]:
    return np.flatnonzero(rows.any(axis=0))


def _fitting(columns: int) -> int:
    """Number of rows of a block with so many columns, for a gradient's temporary arrays and it to stay in cache."""
    return max(_FACTORS_PER_LOG, _BLOCK_BYTES // (8 * (columns + _TEMPORARIES)) // 16 * 16)


def _sum_softplus(margins: Array, capped: Array, one_plus_exp: Array) -> float:
    """Sum of softplus(margins), given the margins capped at the saturation, and 1 + exp of the capped margins.

    Logarithms are taken of products of several factors, since products cost a fraction of logarithms.
    """
    grouped = len(one_plus_exp) // _FACTORS_PER_LOG * _FACTORS_PER_LOG
    products = np.multiply.reduce(one_plus_exp[:grouped].reshape(_FACTORS_PER_LOG, -1), axis=0)
    logs = np.log(products).sum() + np.log(one_plus_exp[grouped:]).sum()
    return float((margins - capped).sum() + logs)


def _information(margins: Array) -> tuple[Array, Array]:
    """p (1 - p) with p = sigmoid(margins), and its derivative with respect to the margins."""
    odds = np.exp(np.minimum(margins, _SATURATION))
    one_plus_odds = 1.0 + odds
    information = odds / (one_plus_odds * one_plus_odds)
    return information, information * ((1.0 - odds) / one_plus_odds)
