"""Simulated stand-ins for real data that are unavailable."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.linalg import cholesky, solve_triangular

from rnshmc.datasets.matrix import Labels, LogisticData
from rnshmc.errors import DataError
from rnshmc.types import Array

# The table has ten digits, so smaller eigenvalues of its correlation matrix are zeros of the true one.
_RANK_TOLERANCE = 1e-7


@dataclass(frozen=True, eq=False)
class Summary:
    """First and second moments of real data."""

    columns: tuple[str, ...]
    """Names of the d features."""
    count: int
    positives: int
    """Numbers of rows, and of rows with label 1."""
    mean: Array
    sd: Array
    """Moments of the features, shape (d,); divisor N - 1."""
    correlation: Array
    """Of the features and, last, the label; shape (d + 1, d + 1)."""


def load_summary(path: str | Path) -> Summary:
    """Read a table written by ``scripts/summarise.py``.

    Raises `DataError` if it is no such table; the message names the file.
    """
    try:
        table = pd.read_csv(path, index_col="column")
        moments = table[["count", "mean", "sd"]].to_numpy(dtype=np.float64)
        triangle = np.tril(table.drop(columns=["count", "mean", "sd"]).to_numpy(dtype=np.float64), -1)
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: not a table of summary statistics: {error}") from error
    names = [str(name) for name in table.index]
    if names[-1:] != ["y"] or list(table.columns[3:]) != names:
        raise DataError(f"{path}: the columns of correlations have to match the rows, with y last")
    if not (np.isfinite(moments).all() and np.isfinite(triangle).all() and (np.abs(triangle) <= 1).all()):
        raise DataError(f"{path}: a moment is missing, or a correlation is outside [-1, 1]")
    count = int(moments[0, 0])
    return Summary(
        columns=tuple(names[:-1]),
        count=count,
        positives=round(count * moments[-1, 1]),
        mean=moments[:-1, 1],
        sd=moments[:-1, 2],
        correlation=triangle + triangle.T + np.eye(len(names)),
    )


def simulate_standin(path: str | Path, rng: np.random.Generator) -> LogisticData:
    """Simulate data whose size, class share, means, standard deviations and correlations are those of a summary table.

    Given the labels the features are jointly Gaussian, x = mu + Sigma_xy / Sigma_yy (y - mean(y)) + e with e from N(0,
    Sigma_xx - Sigma_xy Sigma_yx / Sigma_yy). The sample of e is whitened, and freed of y, before it is coloured, so
    that the moments of the sample, not only of its law, are those of the table. Units are those of the real data, but
    counts and indicators become continuous. Raises `DataError` if the table is damaged, or has too few rows for its
    columns.
    """
    summary = load_summary(path)
    d = len(summary.columns)
    if summary.count < d + 3:
        raise DataError(f"{path}: {summary.count} rows are too few for {d} columns")
    y = rng.permutation(np.arange(summary.count) < summary.positives).astype(np.uint8)
    noise = _white_noise(y, d, rng)
    with_y = summary.correlation[-1, :-1]
    colour = _symmetric_root(summary.correlation[:-1, :-1] - np.outer(with_y, with_y))
    Z = np.outer(_standard(y), with_y) + noise @ colour
    return LogisticData(summary.mean + summary.sd * Z, y, "stand-in", summary.columns)


def _standard(y: Labels) -> Array:
    centred = y - y.mean()
    scaled: Array = centred / centred.std(ddof=1)
    return scaled


def _white_noise(y: Labels, d: int, rng: np.random.Generator) -> Array:
    """Noise, shape (N, d), with sample mean 0, sample covariance I (divisor N - 1) and no sample correlation with y."""
    n = len(y)
    noise = rng.standard_normal((n, d))
    noise -= noise.mean(axis=0)
    labels = _standard(y)
    noise -= np.outer(labels, labels @ noise / (n - 1))
    factor = cholesky(noise.T @ noise / (n - 1), lower=True)
    white: Array = solve_triangular(factor, noise.T, lower=True).T
    return white


def _symmetric_root(S: Array) -> Array:
    """The symmetric square root of a positive semidefinite matrix: unlike other factors, it is unique."""
    values, vectors = np.linalg.eigh(S)
    kept = np.where(values > _RANK_TOLERANCE, values, 0.0)
    root: Array = (vectors * np.sqrt(kept)) @ vectors.T
    return root
