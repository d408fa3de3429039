"""Potential matching: distance between a surrogate's potential and the exact one (paper A, appendix 2)."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array


@dataclass(frozen=True)
class PotentialMatch:
    """The squared distance of potential matching, estimated over states of the posterior."""

    variance: float
    """Var(V - U) over the states (eq. 15): 0 if and only if V = U + constant there."""
    potential_variance: float
    """Var(U) over the same states, the distance of a constant V."""
    states: int
    """Number of states."""


def potential_matching(v: Array, u: Array) -> PotentialMatch:
    """Compare a surrogate's values V with exact potentials U, up to a constant (paper A, eqs. 14 and 15).

    Both are at the same held-out draws of the posterior, shape (n,). Raises `ParameterError` if the shapes differ, or
    the potentials do not vary: no share can then be stated; `NumericalError` if the variance of V - U is not finite.
    """
    if v.shape != u.shape:
        raise ParameterError(f"u: expected one potential for each value of v, got shapes {u.shape} and {v.shape}")
    potential_variance = float(np.var(u)) if u.size else 0.0
    if not potential_variance > 0:
        raise ParameterError(f"u: the potentials of the {len(u)} held-out states do not vary")
    variance = float(np.var(v - u))
    if not np.isfinite(variance):
        raise NumericalError(f"the variance of the surrogate's error over {len(u)} held-out states is {variance}")
    return PotentialMatch(variance, potential_variance, len(u))
