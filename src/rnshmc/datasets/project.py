"""Random projection of a9a to the dimension that paper A runs (section 5.1)."""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.linalg import qr

from rnshmc.datasets.matrix import LogisticData, naming_file, standardise, with_intercept
from rnshmc.errors import ParameterError
from rnshmc.types import Array


def project_file(path: Path, *, dim: int, rng: np.random.Generator) -> LogisticData:
    """`project` for data in a file, which a `DataError` names."""
    data = LogisticData.load(path)
    with naming_file(path):
        return project(data, dim=dim, rng=rng)


def project(data: LogisticData, *, dim: int, rng: np.random.Generator) -> LogisticData:
    """Standardise, project on a random orthonormal basis, standardise again, and put an intercept in front.

    The paper says only that a9a was projected to 60 dimensions and normalised; of the scalings that were tried, this
    one comes nearest to its results.

    Parameters
    ----------
    data
        Encoded data, not standardised, with d columns.
    dim
        Columns of the result, the intercept among them: from 2 to d + 1.
    rng
        Draws the basis.

    Returns
    -------
    LogisticData
        Shape (N, dim).

    Raises
    ------
    ParameterError
        If ``dim`` is out of range.
    DataError
        If a column of ``data`` is constant; none of a9a is.
    """
    d = data.X.shape[1]
    if not 2 <= dim <= d + 1:
        raise ParameterError(f"dim is {dim}, expected from 2 to {d + 1} for data with {d} columns")
    basis = random_basis(d, dim - 1, rng)
    columns = tuple(f"projection {k}" for k in range(1, dim))
    projected = replace(data, X=standardise(data).X @ basis, columns=columns)
    return with_intercept(standardise(projected))


def random_basis(d: int, k: int, rng: np.random.Generator) -> Array:
    """An orthonormal basis of a uniformly distributed k-dimensional subspace of R^d, shape (d, k).

    The factor Q of a Gaussian matrix, with the signs that make the diagonal of R positive: a factorisation that is
    unique, so that the basis does not depend on the LAPACK at hand (Mezzadri, Notices of the AMS 54, 2007).
    """
    Q, R = qr(rng.standard_normal((d, k)), mode="economic")
    basis: Array = Q * np.sign(np.diag(R))
    return basis
