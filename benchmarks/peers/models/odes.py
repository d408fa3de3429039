"""Solutions of small systems of differential equations by LSODA."""

import warnings
from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import ODEintWarning, odeint

from rnshmc.errors import NumericalError
from rnshmc.types import Array

TOLERANCE = 1e-9
"""Relative and absolute tolerance, of states that are of order 1."""
STEPS = 5000
"""Of the solver between two times."""


def solve(
    rates: Callable[..., Sequence[float] | Array], initial: Sequence[float] | Array, times: Array, *args: object
) -> Array:
    """States at ``times``, shape (n, states), the first of which is that of ``initial``.

    Raises
    ------
    NumericalError
        If the solver fails.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ODEintWarning)
            states = odeint(rates, initial, times, args=args, tfirst=True, rtol=TOLERANCE, atol=TOLERANCE, mxstep=STEPS)
    except (ODEintWarning, OverflowError) as error:
        raise NumericalError(f"the differential equations cannot be solved: {error}") from error
    if not np.isfinite(states).all():
        raise NumericalError("the solution of the differential equations is not finite")
    return np.asarray(states)
