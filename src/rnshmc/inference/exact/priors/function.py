"""Priors by functions of the user."""

from dataclasses import dataclass

import numpy as np

from rnshmc.errors import NumericalError
from rnshmc.inference.exact.priors.base import Flat
from rnshmc.inference.exact.rows import RowFunction
from rnshmc.types import Array, Potential


@dataclass(frozen=True, eq=False)
class FunctionPrior(Flat):
    """A log density of the user. Of bounds, scale and draws as little is known as of a flat one.

    Attributes
    ----------
    log_density
        The user's function, at many points.
    """

    log_density: RowFunction

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density and gradient."""
        values, gradients = self.log_density(x)
        return -values, -gradients


@dataclass(frozen=True, eq=False)
class LogDensity:
    """The log density of a potential at one point, with its gradient; -inf where it cannot be evaluated."""

    potential: Potential

    def __call__(self, x: Array) -> tuple[float, Array]:
        """-U(x) and its gradient."""
        try:
            value, gradient = self.potential.value_and_grad(x)
        except NumericalError:
            return -np.inf, np.zeros(len(x))
        return -value, -gradient
