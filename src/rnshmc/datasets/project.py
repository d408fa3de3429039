"""Random projection of a9a to the dimension in paper A (section 5.1)."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, with_intercept
from rnshmc.errors import ParameterError
from rnshmc.types import Array

# Eigenvalues of a second moment below this multiple of the largest are rounding errors of zero.
_RANK_TOLERANCE = 1e-10


def project_file(path: Path, *, dim: int, rng: np.random.Generator) -> LogisticData:
    """`project` for data in a file."""
    return project(LogisticData.load(path), dim=dim, rng=rng)


def project(data: LogisticData, *, dim: int, rng: np.random.Generator) -> LogisticData:
    """Project on Gaussian directions, centre, whiten, and prepend an intercept.

    The paper states only that a9a was projected to 60 dimensions and normalised. Its chain has 61 coordinates, an
    intercept among them, and standard deviations that this recipe gives and standardised columns do not. The result has
    shape (N, 1 + dim). The data are as they are, neither centred nor scaled; ``dim`` does not count the intercept, and
    the projection has entries from N(0, 1). Raises `ParameterError` if ``dim`` is out of range, or more than the rank
    of the centred data.
    """
    d = data.X.shape[1]
    if not 1 <= dim <= d:
        raise ParameterError(f"dim is {dim}, expected from 1 to {d} for data with {d} columns")
    projected = data.X @ rng.standard_normal((d, dim))
    columns = tuple(f"projection {k}" for k in range(1, dim + 1))
    return with_intercept(replace(data, X=whitened(projected - projected.mean(axis=0)), columns=columns))


def whitened(Z: Array) -> Array:
    """Principal components of centred rows, largest first, each divided by the root of its second moment.

    The sign of a component makes the largest entry of its direction positive, so that it does not depend on the LAPACK
    at hand. Raises `ParameterError` if the rows have no full column rank.
    """
    values, vectors = np.linalg.eigh(Z.T @ Z / len(Z))
    if values[0] <= _RANK_TOLERANCE * values[-1]:
        rank = int((values > _RANK_TOLERANCE * values[-1]).sum())
        raise ParameterError(f"dim is {len(values)}, but the centred data have rank {rank}")
    largest = np.take_along_axis(vectors, np.abs(vectors).argmax(axis=0)[np.newaxis], axis=0)
    directions = (vectors * np.sign(largest) / np.sqrt(values))[:, ::-1]
    white: Array = np.ascontiguousarray(Z @ directions)
    return white
