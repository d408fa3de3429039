"""Relative error of the mean, paper A's measure of convergence."""

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.types import Array


def relative_error_of_mean(draws: Array, reference_mean: Array, iterations: npt.NDArray[np.int64]) -> Array:
    """||qbar(t) - E q|| / ||E q|| after t = `iterations` draws (paper A, section 5.3 and Fig. 8).

    The result has one error for each entry of `iterations`. Draws of one chain have shape (n, d); each entry of
    ``iterations`` is between 1 and n. Raises `ParameterError` if the shapes do not fit, an iteration lies outside 1..n,
    or the reference mean is zero: the error is relative.
    """
    if draws.ndim != 2 or draws.shape[1:] != reference_mean.shape:
        raise ParameterError(f"draws {draws.shape} and reference_mean {reference_mean.shape} do not fit")
    if iterations.min() < 1 or iterations.max() > len(draws):
        raise ParameterError(f"iterations: expected 1..{len(draws)}, got {iterations.min()}..{iterations.max()}")
    scale = np.linalg.norm(reference_mean)
    if scale == 0.0:
        raise ParameterError("reference_mean is zero, and an error relative to it is not defined")
    means = np.cumsum(draws, axis=0)[iterations - 1] / iterations[:, np.newaxis]
    return np.asarray(np.linalg.norm(means - reference_mean, axis=1) / scale)


def iteration_grid(first: int, last: int, points: int = 100) -> npt.NDArray[np.int64]:
    """At most `points` numbers of iterations from `first` to `last`, increasing, even on a logarithmic axis."""
    return np.unique(np.geomspace(first, last, points).round().astype(np.int64))
