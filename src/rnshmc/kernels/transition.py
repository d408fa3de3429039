"""The outcome of a transition: the only place where proposals are accepted, rejected and flagged."""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVarTuple

import numpy as np

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array, Driver, Potential

Ts = TypeVarTuple("Ts")

DIVERGENCE_THRESHOLD = 1000.0
"""A trajectory with a larger energy error is divergent (the convention of Stan and PyMC)."""


class State(NamedTuple):
    """A position with all evaluations there, so that none is repeated."""

    q: Array
    potential: float
    """U(q) of the potential that decides."""
    gradient: Array
    """Gradient of the potential that drives."""


class TransitionInfo(NamedTuple):
    """Record of one transition."""

    accepted: bool
    accept_prob: float
    delta_h: float
    diverging: bool
    solver_failed: bool
    n_steps: int


INFO_DTYPES: dict[str, type] = TransitionInfo.__annotations__
"""Type of each field, with which NumPy makes an array of it."""


def metropolis(uniform: float, delta_h: float, n_steps: int) -> TransitionInfo:
    """Accept with probability min(1, exp(-delta_h)), ``delta_h`` the change of the *exact* Hamiltonian.

    If the change is not finite, reject and record a divergence.
    """
    if not math.isfinite(delta_h):
        return TransitionInfo(False, 0.0, delta_h, diverging=True, solver_failed=False, n_steps=n_steps)
    accept_prob = math.exp(-max(delta_h, 0.0))
    return TransitionInfo(
        accepted=uniform < accept_prob,
        accept_prob=accept_prob,
        delta_h=delta_h,
        diverging=delta_h > DIVERGENCE_THRESHOLD,
        solver_failed=False,
        n_steps=n_steps,
    )


def solver_failure(n_steps: int) -> TransitionInfo:
    """Reject and flag a proposal that could not be evaluated (`NumericalError`)."""
    return TransitionInfo(False, 0.0, math.inf, diverging=False, solver_failed=True, n_steps=n_steps)


def check_dynamics(potential: Potential, driver: Driver, *, step_size: float, n_steps: tuple[int, int]) -> None:
    """Check the settings that all kernels share.

    Raises `ParameterError` if one is out of range, or driver and potential differ in dimension.
    """
    low, high = n_steps
    if not (math.isfinite(step_size) and step_size > 0):
        raise ParameterError(f"step_size: expected a positive number, got {step_size}")
    if not 1 <= low <= high:
        raise ParameterError(f"n_steps: expected 1 <= low <= high, got ({low}, {high})")
    if driver.dim != potential.dim:
        raise ParameterError(f"driver: dimension {driver.dim}, but the potential has {potential.dim}")


def evaluated_start(
    q: Array, dim: int, evaluate: Callable[[Array], tuple[float, Array, *Ts]]
) -> tuple[Array, float, Array, *Ts]:
    """A copy of the start of a chain, with the potential, the driver's gradient and more evaluated there.

    Raises `ParameterError` if it does not have the shape (dim,), cannot be evaluated, or potential or gradient is not
    finite: a chain cannot start there.
    """
    q = np.array(q, dtype=float)
    if q.shape != (dim,):
        raise ParameterError(f"start: expected shape ({dim},), got {q.shape}")
    try:
        evaluated = evaluate(q)
    except NumericalError as error:
        raise ParameterError(f"start: {error}") from error
    potential, gradient = evaluated[:2]
    if not (math.isfinite(potential) and np.all(np.isfinite(gradient))):
        raise ParameterError(
            f"start: the potential or its driver is not finite there (U = {potential}); look for a mistake in the "
            "potential or its data, or start elsewhere"
        )
    return q, *evaluated
