"""Checks of settings that all targets share."""

import math

import numpy as np

from rnshmc.errors import ParameterError


def check_positive(key: str, number: object) -> None:
    """Refuse what is not a positive, finite number. Raises `ParameterError`, naming ``key``."""
    if not (isinstance(number, int | float | np.number) and math.isfinite(number) and number > 0):
        raise ParameterError(f"{key} must be a positive number, got {number!r}")
