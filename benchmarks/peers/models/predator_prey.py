"""The Lotka-Volterra equations: hares u and lynxes v of the Hudson's Bay Company, 1900 to 1920.

u' = (alpha - beta v) u, v' = (-gamma + delta u) v. The posterior is hudson_lynx_hare-lotka_volterra of posteriordb; its
initial counts are those of the first of 21 years here.
"""

from math import exp

import numpy as np
from peers.models.odes import solve

from rnshmc.errors import NumericalError
from rnshmc.types import Array

TIMES = np.arange(21.0)


class PredatorPrey:
    """Hares and lynxes of each year, shape (42,), a year's two in turn, of (alpha, beta, gamma, delta, u(0), v(0))."""

    dim = 6

    def forward(self, x: Array) -> Array:
        logs = solve(_rates, np.log(x[4:]), TIMES, *_checked(x)[:4])
        return np.exp(logs).ravel()

    def jvp(self, x: Array, v: Array) -> Array:
        product: Array = self._jacobian(x) @ v
        return product

    def vjp(self, x: Array, w: Array) -> Array:
        product: Array = w @ self._jacobian(x)
        return product

    def _jacobian(self, x: Array) -> Array:
        """By the sensitivity equations, shape (42, 6)."""
        start = np.zeros(14)
        start[:2] = np.log(x[4:])
        start[6], start[13] = 1.0 / x[4], 1.0 / x[5]
        states = solve(_sensitivities, start, TIMES, *_checked(x)[:4])
        slopes: Array = np.exp(states[:, :2, None]) * states[:, 2:].reshape(-1, 2, 6)
        return slopes.reshape(-1, 6)


def _checked(x: Array) -> list[float]:
    if not (min(x) > 0 and max(x) < 1e6):
        raise NumericalError(f"no populations have the parameters {x}")
    return [float(entry) for entry in x]


def _rates(_: float, y: Array, alpha: float, beta: float, gamma: float, delta: float) -> tuple[float, float]:
    """Of log u and log v."""
    return alpha - beta * exp(y[1]), -gamma + delta * exp(y[0])


def _sensitivities(_: float, y: Array, alpha: float, beta: float, gamma: float, delta: float) -> Array:
    """The same, and of their derivatives by the six parameters."""
    u, v = exp(y[0]), exp(y[1])
    rates = np.empty(14)
    rates[0], rates[1] = alpha - beta * v, -gamma + delta * u
    rates[2:8] = -beta * v * y[8:]
    rates[8:] = delta * u * y[2:8]
    rates[2] += 1.0
    rates[3] -= v
    rates[10] -= 1.0
    rates[11] += u
    return rates
