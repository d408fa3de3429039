"""Factors of symmetric matrices."""

import numpy as np

from rnshmc.types import Array


def log_diagonal(factor: Array) -> Array:
    """Logarithms of the sizes on the diagonal of a factor L, shape (n, n): their sum is log |det L|."""
    # `abs` makes a copy: the logarithm of a strided view depends, in its last bit and with AVX-512, on its address.
    return np.asarray(np.log(np.abs(np.diag(factor))))
