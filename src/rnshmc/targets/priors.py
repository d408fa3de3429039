"""Independent priors, and potentials or networks under another prior (paper B, section 4.2).

The gradient of a potential is the sum of the likelihood's and the prior's, so an approximation under one prior gives
one under another without new training (paper B, Fig. 4):

    grad U' = grad U - grad P + grad P',  P = -log prior

`SwappedPriorDriver` does this for a driver, `SwappedPrior` for a potential, including its value.
"""

from dataclasses import dataclass

import numpy as np

from rnshmc.targets.checks import check_positive, finite
from rnshmc.types import Array, Driver, Potential


@dataclass(frozen=True)
class NormalPrior:
    """Independent N(0, sd^2): P(q) = |q|^2 / (2 sd^2). Raises `ParameterError` if sd is not a positive number."""

    sd: float

    def __post_init__(self) -> None:
        check_positive("sd", self.sd)

    def value(self, q: Array) -> float:
        """P(q)."""
        return 0.5 * float(q @ q) / self.sd**2

    def gradient(self, q: Array) -> Array:
        """Gradient of P at ``q``."""
        return q / self.sd**2


@dataclass(frozen=True)
class LaplacePrior:
    """Independent Laplace distributions: P(q) = sum_k |q_k| / scale. Paper B, section 4.4, has scale 1.

    Raises `ParameterError` if scale is not a positive number.
    """

    scale: float

    def __post_init__(self) -> None:
        check_positive("scale", self.scale)

    def value(self, q: Array) -> float:
        """P(q)."""
        return float(np.abs(q).sum()) / self.scale

    def gradient(self, q: Array) -> Array:
        """Gradient of P at ``q``; 0 for a coefficient of 0, where P is not differentiable."""
        return np.sign(q) / self.scale


Prior = NormalPrior | LaplacePrior
"""P(q) = -log prior density, up to a constant."""


class SwappedPriorDriver:
    """A driver under a prior that differs from the one of its training.

    ``driver`` is, or approximates, the gradient of a potential under ``old``; ``new`` takes the place of that prior.
    """

    def __init__(self, driver: Driver, *, old: Prior, new: Prior) -> None:
        self.dim: int = driver.dim
        """Dimension of the parameter space."""
        self._driver = driver
        self._old = old
        self._new = new

    def gradient(self, q: Array) -> Array:
        """Gradient at ``q`` under the new prior, both of shape (dim,)."""
        return self._swapped_gradient(q, self._driver.gradient(q))

    def _swapped_gradient(self, q: Array, gradient: Array) -> Array:
        with np.errstate(all="ignore"):
            swapped = gradient + (self._new.gradient(q) - self._old.gradient(q))
        return finite("gradient under the new prior", swapped)


class SwappedPrior(SwappedPriorDriver):
    """A potential under another prior: U'(q) = U(q) - P(q) + P'(q).

    Exact where the potential is, up to rounding errors of the size of those of U.
    """

    def __init__(self, potential: Potential, *, old: Prior, new: Prior) -> None:
        super().__init__(potential, old=old, new=new)
        self._potential = potential

    def value(self, q: Array) -> float:
        """U'(q) for q of shape (dim,)."""
        return self._swapped_value(q, self._potential.value(q))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U'(q) and its gradient, at the price of those of U."""
        value, gradient = self._potential.value_and_grad(q)
        return self._swapped_value(q, value), self._swapped_gradient(q, gradient)

    def _swapped_value(self, q: Array, value: float) -> float:
        with np.errstate(all="ignore"):
            swapped = value + (self._new.value(q) - self._old.value(q))
        return finite("potential under the new prior", swapped)
