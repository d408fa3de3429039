"""Packing of symmetric matrices into their lower triangles, which halves their files."""

import math

import numpy as np
from scipy.linalg.lapack import dtpttr, dtrttp

from rnshmc.types import Array


def packed(matrix: Array) -> Array:
    """The lower triangle of a matrix in Fortran order, shape (s, s), by columns: shape (s (s + 1) / 2,)."""
    triangle, _ = dtrttp(matrix, uplo="L")
    return np.asarray(triangle)


def unpacked(triangle: Array) -> Array:
    """A matrix in Fortran order with this lower triangle, and zeros above it."""
    size = (math.isqrt(8 * len(triangle) + 1) - 1) // 2
    matrix, _ = dtpttr(size, triangle, uplo="L")
    return np.asarray(matrix)
