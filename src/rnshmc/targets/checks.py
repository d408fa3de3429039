"""Checks of settings, shared by all targets."""

import math

import numpy as np

from rnshmc.errors import ParameterError


def check_positive(key: str, number: object) -> None:
    """Check that a number is positive and finite.

    Raises
    ------
    ParameterError
        If it is not; the message names ``key``.
    """
    if not (isinstance(number, int | float | np.number) and math.isfinite(number) and number > 0):
        raise ParameterError(f"{key} must be a positive number, got {number!r}")
