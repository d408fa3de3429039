"""Bends: bijections of unconstrained coordinates under which a funnel or a curved ridge becomes nearly normal."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

SHIFTS, SCALES = 3, 2
"""Functions of the driver that shift another coordinate, and that scale it."""


@dataclass(frozen=True, eq=False)
class Layer:
    """x_k = y_k, and x_j = m_j(t) + exp(s_j(t)) y_j for the other j, with the driver t = (y_k - origin) / width.

        m_j(t) = a_j + b_j t + c_j t^2        s_j(t) = d_j t + e_j (sqrt(1 + t^2) - 1)

    Attributes
    ----------
    driver
        k.
    origin, width
        Of the driver.
    shifts
        Columns (a, b, c), shape (3, d); 0 for the driver.
    scales
        Columns (d, e), shape (2, d); 0 for the driver.
    units
        Standard deviation of each coordinate where the driver is at its origin, roughly, (d,).
    """

    driver: int
    origin: float
    width: float
    shifts: Array
    scales: Array
    units: Array

    def forward(self, y: Array) -> Array:
        """x of the rows of y; not finite where that overflows, as it may far out."""
        shift, _, scale, _ = self.terms(y[:, self.driver])
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(shift + np.exp(scale) * y)

    def inverse(self, x: Array) -> Array:
        """y of the rows of x."""
        shift, _, scale, _ = self.terms(x[:, self.driver])
        return np.asarray((x - shift) * np.exp(-scale))

    def log_jacobians(self, y: Array) -> Array:
        """log |dx/dy| at the rows of y."""
        return np.asarray(self.terms(y[:, self.driver])[2].sum(axis=1))

    def pulled_back(self, gradients: Array, x: Array) -> Array:
        """Gradients by y of log p + log |dx/dy|, from those of log p by x, at the rows of x."""
        shift, shift_slope, scale, scale_slope = self.terms(x[:, self.driver])
        with np.errstate(over="ignore", invalid="ignore"):
            pulled: Array = np.exp(scale) * gradients
            along = gradients * (shift_slope + scale_slope * (x - shift)) + scale_slope
            pulled[:, self.driver] = gradients[:, self.driver] + along.sum(axis=1)
        return pulled

    def terms(self, driver: Array) -> tuple[Array, Array, Array, Array]:
        """m and dm/dx_k, s and ds/dx_k, each (n, d)."""
        t = (driver - self.origin) / self.width
        shifts, shift_slopes, scales, scale_slopes = functions(t)
        return (
            shifts @ self.shifts,
            shift_slopes @ self.shifts / self.width,
            scales @ self.scales,
            scale_slopes @ self.scales / self.width,
        )


def functions(t: Array) -> tuple[Array, Array, Array, Array]:
    """Functions of the driver that shift, (n, 3), with their derivatives, and those that scale, (n, 2), with theirs."""
    one, zero, root = np.ones_like(t), np.zeros_like(t), np.sqrt(1.0 + t * t)
    return (
        np.stack((one, t, t * t), axis=1),
        np.stack((zero, one, 2.0 * t), axis=1),
        np.stack((t, root - 1.0), axis=1),
        np.stack((one, t / root), axis=1),
    )


@dataclass(frozen=True, eq=False)
class Bend:
    """x of y by layers, of which the last one comes first; the identity without any."""

    layers: tuple[Layer, ...] = ()

    def forward(self, y: Array) -> Array:
        """x of the rows of y."""
        for layer in self.layers[::-1]:
            y = layer.forward(y)
        return y

    def inverse(self, x: Array) -> Array:
        """y of the rows of x."""
        for layer in self.layers:
            x = layer.inverse(x)
        return x

    def log_jacobians(self, y: Array) -> Array:
        """log |dx/dy| at the rows of y."""
        total = np.zeros(len(y))
        for layer in self.layers[::-1]:
            total = total + layer.log_jacobians(y)
            y = layer.forward(y)
        return total

    def pulled_back(self, gradients: Array, y: Array) -> Array:
        """Gradients by y of log p + log |dx/dy|, from those of log p by x, at the rows of y."""
        x = self.forward(y)
        for layer in self.layers:
            gradients = layer.pulled_back(gradients, x)
            x = layer.inverse(x)
        return gradients


STRAIGHT = Bend()
"""The identity."""


@dataclass(frozen=True, eq=False)
class BentTransform(Transform):
    """T(x(y)): from bent coordinates y to bounded parameters."""

    bend: Bend

    @classmethod
    def of(cls, transform: Transform, bend: Bend) -> Transform:
        """A transform behind a bend, in place of the bend that it may have."""
        low, high = transform.low, transform.high
        return cls(low, high, bend) if bend.layers else Transform(low, high)

    def parameters(self, x: Array) -> Array:
        """T(x(y)) for the rows of y or one point."""
        rows = self.bend.forward(np.reshape(x, (-1, self.dim)))
        return super().parameters(rows).reshape(np.shape(x))

    def coordinates(self, theta: Array) -> Array:
        """y with T(x(y)) = ``theta``, of the same shape."""
        rows = super().coordinates(np.reshape(theta, (-1, self.dim)))
        return self.bend.inverse(rows).reshape(np.shape(theta))

    def log_jacobian(self, x: Array) -> float:
        """log |dT/dy| at one position."""
        return float(self.log_jacobians(x[None])[0])

    def log_jacobians(self, x: Array) -> Array:
        """The same at the rows of y."""
        return super().log_jacobians(self.bend.forward(x)) + self.bend.log_jacobians(x)

    def pulled_back(self, gradient: Array, x: Array) -> Array:
        """Gradient in y of log p(T(x(y))) + log |dT/dy|, from that of log p in theta, row by row."""
        rows = np.reshape(x, (-1, self.dim))
        plain = super().pulled_back(np.reshape(gradient, rows.shape), self.bend.forward(rows))
        return self.bend.pulled_back(plain, rows).reshape(np.shape(x))
