"""The training set of a surrogate: states, and exact potentials matched up to a constant (paper A, Algorithm 2)."""

import numpy as np
import numpy.typing as npt

from rnshmc.errors import FitError
from rnshmc.types import Array


def training_set(q: npt.ArrayLike, u: npt.ArrayLike) -> tuple[Array, Array]:
    """The states, shape (n, dim), and the targets t = u - min(u), shape (n,).

    Raises
    ------
    FitError
        If the states are not the rows of a matrix, there is not one potential per state, or a number is not finite; the
        message names the array and the training state.
    """
    states, potentials = np.asarray(q, dtype=np.float64), np.asarray(u, dtype=np.float64)
    if states.ndim != 2 or states.size == 0:
        raise FitError(f"q must have one row per training state, got shape {states.shape}")
    if potentials.shape != (len(states),):
        raise FitError(f"u must have one potential for each of the {len(states)} states, got shape {potentials.shape}")
    for name, array in (("q", states), ("u", potentials)):
        if not np.isfinite(array).all():
            index = tuple(np.argwhere(~np.isfinite(array))[0])
            raise FitError(f"{name} must be finite, got {array[index]} for training state {index[0]}")
    return states, potentials - potentials.min()
