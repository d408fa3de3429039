"""Karhunen-Loeve expansion of a Gaussian field with squared exponential covariance (paper A, section 5.2).

The field has one value in each cell of a uniform mesh of the unit square. Its modes are the eigenvectors v_i of the
kernel matrix on the cell centroids, with equal weights, so that field = sum_i theta_i sqrt(lambda_i) v_i needs no
further scaling: summed over all modes, its variance in each cell is the kernel's.

The symmetry of the square makes eigenvalues coincide, and an eigensolver may return any rotation of such a pair. Here
the pairs are distinguished by symmetry instead, so the basis is the same on every machine, to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy.linalg import eigh
from scipy.spatial import KDTree
from threadpoolctl import threadpool_limits

from rnshmc.errors import ParameterError
from rnshmc.types import Array


@dataclass(frozen=True)
class RandomField:
    """Leading modes of a Karhunen-Loeve expansion."""

    points: Array
    """Cell centroids, shape (n, 2)."""
    vectors_at: Callable[[npt.NDArray[np.intp]], Array]
    """Unit eigenvectors v_i of the n x n kernel matrix at some of its rows: a rank of MPI needs those of its cells."""
    eigenvalues: Array
    """lambda_i, largest first, shape (d,)."""

    @property
    def modes(self) -> Array:
        """sqrt(lambda_i) v_i at the centroids, (n, d)."""
        return self._modes(np.arange(len(self.points)))

    def at(self, centroids: Array) -> Array:
        """Modes at some cells, such as those of one rank: row k of the result, shape (m, d), is for ``centroids[k]``.

        Raises `ParameterError` if a centroid is not among ``points``, up to rounding, or comes twice.
        """
        distance, index = map(np.asarray, KDTree(self.points).query(centroids))
        if len(np.unique(index)) != len(index) or not (distance < 1e-9).all():
            raise ParameterError("centroids must be cells of this random field, each once, in any order")
        return self._modes(index)

    def _modes(self, index: npt.NDArray[np.intp]) -> Array:
        modes: Array = np.sqrt(self.eigenvalues) * self.vectors_at(index)
        return modes


def karhunen_loeve(cell_type: str, cells: int, modes: int, *, length_scale: float, variance: float) -> RandomField:
    """Expand the field on the unit square cut into ``cells`` x ``cells`` squares.

    Squares of ``"triangle"`` are cut in two along the diagonal x1 = x2. The kernel is sigma^2 exp(-|x - y|^2 / (2 l^2))
    with the length scale l and the variance sigma^2. Raises `ParameterError` if ``cell_type`` is unknown or ``modes``
    exceeds what the kernel matrix has above rounding.
    """
    if cell_type not in _EXPANSIONS:
        raise ParameterError(f"cell_type must be one of {', '.join(_EXPANSIONS)}, got {cell_type!r}")
    if modes < 1:
        raise ParameterError(f"modes must be at least 1, got {modes}")
    # More threads would change the order of summation.
    with threadpool_limits(1, user_api="blas"):
        field = _EXPANSIONS[cell_type](cells, modes, length_scale)
    usable = int(np.sum(field.eigenvalues > len(field.points) * np.finfo(float).eps * field.eigenvalues[0]))
    if modes > usable:
        raise ParameterError(
            f"modes must be at most {usable}, got {modes}: with cells = {cells} and length_scale = {length_scale} "
            "the kernel matrix has no further eigenvalue above rounding"
        )
    return replace(field, eigenvalues=variance * field.eigenvalues)


def _quadrilaterals(cells: int, modes: int, length_scale: float) -> RandomField:
    """Products of one-dimensional modes, by eigenvalue; equal eigenvalues by their index pair."""
    x = (np.arange(cells) + 0.5) / cells
    eigenvalues, vectors = _leading_eigenpairs(_kernel(x[:, None], x[:, None], length_scale), cells)
    products = np.outer(eigenvalues, eigenvalues).ravel()
    # A product of floats does not depend on the order of its factors, so pairs are equal to the last bit.
    order = np.argsort(-products, kind="stable")[:modes]
    first, second = np.divmod(order, cells)
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)

    def vectors_at(index: npt.NDArray[np.intp]) -> Array:
        along, up = np.divmod(index[:, None], cells)
        return np.asarray(vectors[along, first] * vectors[up, second])

    return RandomField(points, vectors_at, products[order])


def _triangles(cells: int, modes: int, length_scale: float) -> RandomField:
    """Modes even and odd under exchange of x1 and x2, which separates a square's pairs of equal eigenvalues."""
    corner = np.stack(np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"), axis=-1).reshape(-1, 2)
    lower = (corner + np.array([2.0, 1.0]) / 3.0) / cells
    upper = lower[:, ::-1]
    within, across = _kernel(lower, lower, length_scale), _kernel(lower, upper, length_scale)
    even_values, even = _leading_eigenpairs(within + across, modes)
    odd_values, odd = _leading_eigenpairs(within - across, modes)
    eigenvalues = np.concatenate([even_values, odd_values])
    vectors = np.concatenate([np.hstack([even, odd]), np.hstack([even, -odd])]) / np.sqrt(2.0)
    # If eigenvalues of an even and an odd mode agree to ten digits, the even mode comes first, whatever the rounding.
    order = np.argsort(-np.round(eigenvalues / eigenvalues.max(), 10), kind="stable")[:modes]
    return RandomField(np.concatenate([lower, upper]), vectors[:, order].__getitem__, eigenvalues[order])


_EXPANSIONS: dict[str, Callable[[int, int, float], RandomField]] = {
    "quadrilateral": _quadrilaterals,
    "triangle": _triangles,
}


def _kernel(x: Array, y: Array, length_scale: float) -> Array:
    """Squared exponential kernel of unit variance between the rows of ``x`` and of ``y``."""
    squared = ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2)
    kernel: Array = np.exp(-squared / (2.0 * length_scale**2))
    return kernel


def _leading_eigenpairs(matrix: Array, count: int) -> tuple[Array, Array]:
    """Largest ``count`` eigenvalues, descending, and unit eigenvectors with their sign fixed."""
    n = len(matrix)
    values, vectors = eigh(matrix, subset_by_index=(max(n - count, 0), n - 1))
    return values[::-1], _with_fixed_sign(vectors[:, ::-1])


def _with_fixed_sign(vectors: Array) -> Array:
    """Make each column positive at its first entry of at least half its largest modulus, which is far from zero."""
    size = np.abs(vectors)
    first = np.argmax(size >= 0.5 * size.max(axis=0), axis=0)
    signed: Array = vectors * np.sign(vectors[first, np.arange(vectors.shape[1])])
    return signed
