"""The banana-shaped distribution of paper B, eq. (23): a Gaussian bent along a parabola (Haario et al. 1999)."""

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.targets.checks import check_positive, finite
from rnshmc.types import Array

_WIDE_VARIANCE = 100.0


class TwistedGaussian:
    """A bent Gaussian in two dimensions, as a potential.

        U(x) = (A x_1)^2 / 200 + (C x_2 + B (A x_1)^2 - 100 B)^2 / 2

    A = scale1 and C = scale2: the larger, the narrower the distribution in x_1 and x_2. B = bend is the curvature; 0 is
    a Gaussian. The paper does not print their values. A x_1 and C x_2 + B (A x_1)^2 - 100 B are independent, N(0, 100)
    and N(0, 1). It differs from `rnshmc.targets.banana.Banana`, the posterior of paper A, Fig. 2. Raises
    `ParameterError` if a scale is not a positive number or bend is not finite.
    """

    dim: int = 2
    """Dimension, 2."""

    def __init__(self, *, scale1: float, scale2: float, bend: float) -> None:
        for name, scale in (("scale1", scale1), ("scale2", scale2)):
            check_positive(name, scale)
        if not np.isfinite(bend):
            raise ParameterError(f"bend must be a finite number, got {bend!r}")
        self._scales = np.array([scale1, scale2])
        self._bend = bend

    def value(self, q: Array) -> float:
        """U(q) for q = (x_1, x_2)."""
        with np.errstate(all="ignore"):
            along, across = self._straightened(q)
            value = 0.5 * float(along**2 / _WIDE_VARIANCE + across**2)
        return finite("potential of the twisted Gaussian", value)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (2,)."""
        with np.errstate(all="ignore"):
            along, across = self._straightened(q)
            slope_along = along / _WIDE_VARIANCE + 2.0 * self._bend * along * across
            gradient: Array = self._scales * np.array([slope_along, across])
        return finite("gradient of the twisted Gaussian", gradient)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient."""
        return self.value(q), self.gradient(q)

    def sample(self, rng: np.random.Generator, n: int) -> Array:
        """Independent draws, shape (n, 2)."""
        along, across = rng.standard_normal((2, n)) * np.sqrt([[_WIDE_VARIANCE], [1.0]])
        draws: Array = np.column_stack((along, across - self._bend * (along**2 - _WIDE_VARIANCE))) / self._scales
        return draws

    def _straightened(self, q: Array) -> Array:
        """A x_1 and C x_2 + B (A x_1)^2 - 100 B: independent, with variances 100 and 1."""
        along, scaled = self._scales * q
        return np.array([along, scaled + self._bend * (along**2 - _WIDE_VARIANCE)])
