"""Karhunen-Loeve expansion of a Gaussian field with squared exponential covariance (paper A, section 5.2).

The field lives on the cells of a uniform mesh of the unit square, one value per cell. Its modes are the eigenvectors
v_i of the kernel matrix on the cell centroids, with equal weights, so that field = sum_i theta_i sqrt(lambda_i) v_i
needs no further scaling: summed over all modes, its variance in each cell is the kernel's.

The symmetry of the square makes eigenvalues coincide, and an eigensolver may return any rotation of such a pair. Here
the pairs are told apart by symmetry instead, so the basis is the same on every machine, to rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import eigh
from scipy.spatial import KDTree
from threadpoolctl import threadpool_limits

from rnshmc.errors import ParameterError
from rnshmc.types import Array


@dataclass(frozen=True)
class RandomField:
    """Leading modes of a Karhunen-Loeve expansion.

    Attributes
    ----------
    points : (n, 2)
        Cell centroids.
    modes : (n, d)
        sqrt(lambda_i) v_i at the centroids, largest eigenvalue first.
    eigenvalues : (d,)
        lambda_i of the n x n kernel matrix.
    """

    points: Array
    modes: Array
    eigenvalues: Array

    def at(self, centroids: Array) -> Array:
        """Modes in another numbering of the cells.

        Parameters
        ----------
        centroids : (n, 2)
            The same centroids in another order, up to rounding.

        Returns
        -------
        (n, d)
            Row k holds the modes at ``centroids[k]``.

        Raises
        ------
        ParameterError
            If ``centroids`` is not a permutation of ``points``.
        """
        distance, index = map(np.asarray, KDTree(self.points).query(centroids))
        if len(centroids) != len(self.points) or len(np.unique(index)) != len(index) or distance.max() > 1e-9:
            raise ParameterError("centroids must be the cells of this random field, in any order")
        modes: Array = self.modes[index]
        return modes


def karhunen_loeve(cell_type: str, cells: int, modes: int, *, length_scale: float, variance: float) -> RandomField:
    """Expand the field on the unit square cut into ``cells`` x ``cells`` squares.

    Parameters
    ----------
    cell_type
        ``"quadrilateral"``, or ``"triangle"`` for squares cut in two along the diagonal x1 = x2.
    cells
        Number of squares along a side.
    modes
        Number of modes to keep.
    length_scale, variance
        l and sigma^2 of the kernel sigma^2 exp(-|x - y|^2 / (2 l^2)).

    Raises
    ------
    ParameterError
        If ``cell_type`` is unknown or ``modes`` exceeds what the kernel matrix has above rounding.
    """
    if cell_type not in _EXPANSIONS:
        raise ParameterError(f"cell_type must be one of {', '.join(_EXPANSIONS)}, got {cell_type!r}")
    if modes < 1:
        raise ParameterError(f"modes must be at least 1, got {modes}")
    # More threads would add up the same products in another order.
    with threadpool_limits(1, user_api="blas"):
        points, eigenvalues, vectors = _EXPANSIONS[cell_type](cells, modes, length_scale)
    usable = int(np.sum(eigenvalues > len(points) * np.finfo(float).eps * eigenvalues[0]))
    if modes > usable:
        raise ParameterError(
            f"modes must be at most {usable}, got {modes}: with cells = {cells} and length_scale = {length_scale} "
            "the kernel matrix has no further eigenvalue above rounding"
        )
    eigenvalues = variance * eigenvalues[:modes]
    return RandomField(points, np.sqrt(eigenvalues) * vectors[:, :modes], eigenvalues)


def _quadrilaterals(cells: int, modes: int, length_scale: float) -> tuple[Array, Array, Array]:
    """Products of one-dimensional modes, by eigenvalue; equal eigenvalues by their index pair."""
    x = (np.arange(cells) + 0.5) / cells
    eigenvalues, vectors = _leading_eigenpairs(_kernel(x[:, None], x[:, None], length_scale), cells)
    products = np.outer(eigenvalues, eigenvalues).ravel()
    # A product of floats does not depend on the order of its factors, so pairs are equal to the last bit.
    order = np.argsort(-products, kind="stable")[:modes]
    first, second = np.divmod(order, cells)
    product_modes = vectors[:, None, first] * vectors[None, :, second]
    points = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    return points, products[order], product_modes.reshape(cells * cells, -1)


def _triangles(cells: int, modes: int, length_scale: float) -> tuple[Array, Array, Array]:
    """Modes even and odd under exchange of x1 and x2; that separates the pairs a square has."""
    corner = np.stack(np.meshgrid(np.arange(cells), np.arange(cells), indexing="ij"), axis=-1).reshape(-1, 2)
    lower = (corner + np.array([2.0, 1.0]) / 3.0) / cells
    upper = lower[:, ::-1]
    within, across = _kernel(lower, lower, length_scale), _kernel(lower, upper, length_scale)
    even_values, even = _leading_eigenpairs(within + across, modes)
    odd_values, odd = _leading_eigenpairs(within - across, modes)
    eigenvalues = np.concatenate([even_values, odd_values])
    vectors = np.concatenate([np.hstack([even, odd]), np.hstack([even, -odd])]) / np.sqrt(2.0)
    # Of an even and an odd mode whose eigenvalues agree to ten digits the even one comes first, whatever the rounding.
    order = np.argsort(-np.round(eigenvalues / eigenvalues.max(), 10), kind="stable")[:modes]
    return np.concatenate([lower, upper]), eigenvalues[order], vectors[:, order]


_EXPANSIONS: dict[str, Callable[[int, int, float], tuple[Array, Array, Array]]] = {
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
    """Each column positive at its first entry of at least half its largest modulus, an entry far from zero."""
    size = np.abs(vectors)
    first = np.argmax(size >= 0.5 * size.max(axis=0), axis=0)
    signed: Array = vectors * np.sign(vectors[first, np.arange(vectors.shape[1])])
    return signed
