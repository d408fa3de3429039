"""Warps: bijections of unconstrained coordinates under which a funnel or a curved ridge becomes nearly normal."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

SHIFTS, SCALES = 3, 2
"""Functions of the driver that shift another coordinate, and that scale it."""


@dataclass(frozen=True, eq=False)
class WarpLayer:
    """x_k = y_k, and x_j = m_j(t) + exp(s_j(t)) y_j for the other j, with the driver t = (y_k - origin) / width.

        m_j(t) = a_j + b_j t + c_j t^2        s_j(t) = d_j t + e_j (sqrt(1 + t^2) - 1)

    ``driver`` is k, ``shifts`` are (a, b, c), shape (3, d), and ``scales`` (d, e), shape (2, d), 0 for the driver.
    ``units`` are approximate standard deviations of the coordinates where the driver is at its origin, (d,).
    """

    driver: int
    origin: float
    width: float
    shifts: Array
    scales: Array
    units: Array

    def forward(self, y: Array) -> Array:
        """x of the rows of y, not finite where that overflows."""
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
class Warp:
    """x of y by layers, the last one first; the identity without any."""

    layers: tuple[WarpLayer, ...] = ()

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


STRAIGHT = Warp()
"""The identity."""


@dataclass(frozen=True, eq=False)
class Coordinates:
    """theta = T(x(y)): unbounded coordinates y, a warp x of them, and the transform T to bounded parameters."""

    transform: Transform
    bend: Warp = STRAIGHT

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return self.transform.dim

    def parameters(self, y: Array) -> Array:
        """Theta of one point, (d,)."""
        return self.transform.parameters(self.bend.forward(y[None])[0])

    def coordinates(self, theta: Array) -> Array:
        """Y with T(x(y)) = ``theta``, (d,)."""
        return np.asarray(self.bend.inverse(self.transform.coordinates(theta)[None])[0])

    def log_jacobian(self, y: Array) -> float:
        """log |dT/dy| at one point."""
        straight = float(self.transform.log_jacobians(self.bend.forward(y[None])[0]))
        return straight + float(self.bend.log_jacobians(y[None])[0])

    def pulled_back(self, gradient: Array, y: Array) -> Array:
        """Gradient in y of log p(T(x(y))) + log |dT/dy|, from that of log p in theta, at one point."""
        straight = self.transform.pulled_back(gradient, self.bend.forward(y[None])[0])
        return np.asarray(self.bend.pulled_back(straight[None], y[None])[0])
