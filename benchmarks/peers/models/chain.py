"""A linear chain of 30 reactions A_0 -> A_1 -> ... -> A_30, with rates over four orders of magnitude: stiff.

A_i' = k_i A_(i-1) - k_(i+1) A_i, A_0(0) = 1. Concentrations at equal distances of time are powers of one matrix
exponential.
"""

import numpy as np
import scipy.linalg

from rnshmc.errors import NumericalError
from rnshmc.types import Array

REACTIONS = 30
RATES = np.tile([1.0, 100.0, 3.0, 1000.0, 10.0], REACTIONS // 5)
"""Prior medians of the rates."""
STEP, STEPS = 2.0, 10
"""Distance between two times of observation, and their number."""
LARGEST = 1e6
"""Of the rates for which the chain is computed."""


class Chain:
    """31 concentrations at 10 times, shape (310,), times in turn, of the logarithms of the rates, shape (30,)."""

    dim = REACTIONS

    def forward(self, x: Array) -> Array:
        return self._states(_exponential(_matrix(_rates(x))))[1:].ravel()

    def jvp(self, x: Array, v: Array) -> Array:
        rates = _rates(x)
        power, slope = _exponential_and_slope(_matrix(rates), _matrix(rates * v))
        states = self._states(power)
        tangents = [np.zeros(REACTIONS + 1)]
        for state in states[:-1]:
            tangents.append(power @ tangents[-1] + slope @ state)
        return np.stack(tangents)[1:].ravel()

    def vjp(self, x: Array, w: Array) -> Array:
        rates = _rates(x)
        matrix = _matrix(rates)
        power = _exponential(matrix)
        states = self._states(power)
        weights = w.reshape(STEPS, -1)
        adjoint, of_power = np.zeros(REACTIONS + 1), np.zeros_like(power)
        for state, weight in zip(states[-2::-1], weights[::-1], strict=True):
            adjoint = power.T @ adjoint + weight
            of_power += np.outer(adjoint, state)
        # The transpose of the Frechet derivative of the exponential at A is that at A'.
        of_matrix = _exponential_and_slope(matrix.T, of_power)[1]
        return STEP * rates * (np.diagonal(of_matrix, -1) - np.diagonal(of_matrix)[:-1])

    def _states(self, power: Array) -> Array:
        """Concentrations at the times 0, `STEP`, ..., shape (11, 31)."""
        states = np.zeros((STEPS + 1, REACTIONS + 1))
        states[0, 0] = 1.0
        for k in range(STEPS):
            states[k + 1] = power @ states[k]
        return states


def _rates(x: Array) -> Array:
    with np.errstate(over="ignore"):
        rates = np.exp(x)
    if not rates.max() < LARGEST:
        raise NumericalError(f"a rate of the chain is {rates.max():.3g}")
    return rates


def _exponential(matrix: Array) -> Array:
    return np.asarray(scipy.linalg.expm(matrix), dtype=np.float64)


def _exponential_and_slope(matrix: Array, direction: Array) -> tuple[Array, Array]:
    """The exponential, and its Frechet derivative in a direction."""
    power, slope = scipy.linalg.expm_frechet(matrix, direction, check_finite=False)
    return np.asarray(power, dtype=np.float64), np.asarray(slope, dtype=np.float64)


def _matrix(rates: Array) -> Array:
    """The matrix of the linear system, times `STEP`."""
    matrix: Array = STEP * (np.diag(rates, -1) - np.diag(np.append(rates, 0.0)))
    return matrix
