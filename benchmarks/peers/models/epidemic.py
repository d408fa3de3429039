"""A susceptible-infected-recovered epidemic, of which weekly counts of reported cases are seen.

S' = -beta S I / N, I' = beta S I / N - gamma I. Expected counts of week k are rho (S(k - 1) - S(k)) + `SPORADIC`.
"""

from math import exp

import numpy as np
from peers.models.odes import solve

from rnshmc.errors import NumericalError
from rnshmc.types import Array

POPULATION = 50000.0
SPORADIC = 0.5
"""Expected cases of other origin that are reported each week: known."""
WEEKS = 20
TIMES = np.arange(WEEKS + 1.0)


class Epidemic:
    """Expected counts, shape (20,), of (beta, gamma, I(0), rho): rates per week, persons, and the share reported."""

    dim = 4

    def forward(self, x: Array) -> Array:
        beta, gamma, infected, rho = _checked(x)
        start = (np.log1p(-infected / POPULATION), np.log(infected / POPULATION))
        return rho * _weekly(solve(_rates, start, TIMES, beta, gamma)[:, 0]) + SPORADIC

    def jvp(self, x: Array, v: Array) -> Array:
        product: Array = self._jacobian(x) @ v
        return product

    def vjp(self, x: Array, w: Array) -> Array:
        product: Array = w @ self._jacobian(x)
        return product

    def _jacobian(self, x: Array) -> Array:
        """By the sensitivity equations, shape (20, 4)."""
        beta, gamma, infected, rho = _checked(x)
        start = np.zeros(8)
        start[:2] = np.log1p(-infected / POPULATION), np.log(infected / POPULATION)
        start[4], start[7] = -1.0 / (POPULATION - infected), 1.0 / infected
        states = solve(_sensitivities, start, TIMES, beta, gamma)
        susceptible = POPULATION * np.exp(states[:, :1])
        slopes = -np.diff(susceptible * states[:, 2:5], axis=0)
        return np.column_stack((rho * slopes, _weekly(states[:, 0])))


def _checked(x: Array) -> tuple[float, float, float, float]:
    beta, gamma, infected, rho = (float(entry) for entry in x)
    if not (infected < POPULATION and beta < 1e3 and gamma < 1e3 and min(x) > 0):
        raise NumericalError(f"no epidemic has the parameters {x}")
    return beta, gamma, infected, rho


def _weekly(log_susceptible: Array) -> Array:
    """New infections in each week, of log(S / N) at its ends."""
    new: Array = -POPULATION * np.diff(np.exp(log_susceptible))
    return new


def _rates(_: float, y: Array, beta: float, gamma: float) -> tuple[float, float]:
    """Of log(S / N) and log(I / N)."""
    return -beta * exp(y[1]), beta * exp(y[0]) - gamma


def _sensitivities(_: float, y: Array, beta: float, gamma: float) -> list[float]:
    """The same, and of their derivatives by beta, gamma and I(0)."""
    s, i, s_beta, s_gamma, s_start, i_beta, i_gamma, i_start = y.tolist()
    infected, susceptible = exp(i), exp(s)
    of_i, of_s = -beta * infected, beta * susceptible
    return [
        of_i,
        of_s - gamma,
        of_i * i_beta - infected,
        of_i * i_gamma,
        of_i * i_start,
        of_s * s_beta + susceptible,
        of_s * s_gamma - 1.0,
        of_s * s_start,
    ]
