"""Start of the explorations of a problem."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.types import Array


def start_point(settings: Mapping[str, Any], dim: int) -> Array:
    """The ``start`` of a problem's settings, shape (dim,), or the origin if there is none.

    Raises `ParameterError` if it has another number of coordinates.
    """
    start: Array = np.array(settings.get("start", [0.0] * dim), dtype=float)
    if start.shape != (dim,):
        raise ParameterError(f"start: {start.size} coordinates, but the posterior has {dim}")
    return start
