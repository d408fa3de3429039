"""Ridge regression on the output matrix of a hidden layer, for the output weights of random networks."""

from collections.abc import Callable
from contextlib import suppress

import numpy as np
from scipy import linalg
from scipy.linalg.blas import dsyrk

from rnshmc.errors import FitError, ParameterError
from rnshmc.types import Array

# Enough rows for fast matrix products; few enough that the hidden layer stays in cache.
_BLOCK_ROWS = 256


def check_settings(hidden_units: int, ridge: float) -> None:
    """Check the number of hidden units and the penalty.

    Raises `ParameterError` if hidden_units is below 1, or ridge is negative or not finite.
    """
    if hidden_units < 1:
        raise ParameterError(f"hidden_units must be at least 1, got {hidden_units!r}")
    if not (np.isfinite(ridge) and ridge >= 0):
        raise ParameterError(f"ridge must be a finite number, not negative, got {ridge!r}")


def by_blocks(function: Callable[[Array], Array], states: Array, *shape: int) -> Array:
    """A function of several states at the rows of ``states``, (n, *shape), in blocks that fit in cache."""
    values = np.empty((len(states), *shape))
    for start in range(0, len(states), _BLOCK_ROWS):
        rows = slice(start, start + _BLOCK_ROWS)
        values[rows] = function(states[rows])
    return values


def output_matrix(layer: Callable[[Array], Array], states: Array, hidden_units: int) -> Array:
    """The output matrix H of a hidden layer, shape (n, s): row j is the layer at the j-th state (Algorithm 2)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return by_blocks(layer, states, hidden_units)


def ridge_regression(hidden: Array, targets: Array, ridge: float) -> tuple[Array, str]:
    """Output weights v that minimise |H v - t|^2 + ridge |v|^2, and the name of the solver.

    They solve (H'H + ridge I) v = H't by Cholesky. If that matrix is not positive definite in doubles, or ridge is 0, v
    is the least-squares solution of the stacked system [H; sqrt(ridge) I] v = [t; 0] by a complete orthogonal
    factorisation, which does not square the condition number; it has the smallest norm if the system is singular, so
    that ridge = 0 gives the Moore-Penrose solution of Algorithm 2. The weights have shape (s,); the solver is
    "cholesky" or "least_squares". H has shape (n, s), t has shape (n,). Raises `FitError` if no finite solution is
    found.
    """
    if ridge > 0:
        with suppress(linalg.LinAlgError):
            return _solve_normal_equations(hidden, targets, ridge), "cholesky"
    return _solve_least_squares(hidden, targets, ridge), "least_squares"


def _solve_normal_equations(hidden: Array, targets: Array, ridge: float) -> Array:
    gram = dsyrk(1.0, hidden.T, lower=True)
    if not np.isfinite(gram).all():
        raise linalg.LinAlgError("H'H overflows")
    gram[np.diag_indices_from(gram)] += ridge
    factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    solution: Array = linalg.cho_solve(factor, targets @ hidden, overwrite_b=True, check_finite=False)
    return solution


def _solve_least_squares(hidden: Array, targets: Array, ridge: float) -> Array:
    """Minimum-norm solution of [H; sqrt(ridge) I] v = [t; 0]; directions below rounding error are left out."""
    n, s = hidden.shape
    system = np.vstack([hidden, np.sqrt(ridge) * np.eye(s)])
    right_side = np.concatenate([targets, np.zeros(s)])
    rounding = float(np.finfo(np.float64).eps) * max(system.shape)
    solution: Array
    try:
        solution, *_ = linalg.lstsq(system, right_side, cond=rounding, lapack_driver="gelsy", overwrite_a=True)
    except (ValueError, linalg.LinAlgError) as error:
        raise FitError(f"no least-squares solution for {s} output weights and {n} training states: {error}") from error
    return solution
