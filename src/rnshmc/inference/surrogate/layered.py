"""Layers fitted to gradients by least squares: a match of a normal density, and the centring of a hierarchy."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Bending
from rnshmc.inference.warp import SCALES, SHIFTS, WarpLayer, functions
from rnshmc.types import Array


def losses(residuals: Array) -> Array:
    """log(1 + |r|^2 / 2 d) of the rows of residuals: a point that is not explained hardly counts."""
    return np.asarray(np.log1p((residuals**2).sum(axis=1) / (2.0 * residuals.shape[1])))


def robust_weights(residuals: Array) -> Array:
    """1 / (1 + |r|^2 / 2 d) of the rows of residuals: the weights with which least squares minimise `losses`."""
    return np.asarray(np.exp(-losses(residuals)))


def without_layer(layer: WarpLayer | None, seen: Training) -> tuple[Array, Array]:
    """y, and gradients of the potential by y, from x and gradients by x."""
    if layer is None:
        return seen.points, seen.gradients
    return layer.inverse(seen.points), -layer.pulled_back(-seen.gradients, seen.points)


@dataclass(frozen=True, eq=False)
class Layered:
    """Residuals of a match as functions of one vector, of shifts and scales of a layer, l and b:

    y = layer(x)        z = exp(-l) L'(y - centre) - b
    """

    seen: Training
    """Points and gradients in x."""
    whitening: Whitening
    """L and the centre."""
    driver: int | None
    origin: float
    width: float
    """``driver``, ``origin`` and ``width`` of the layer; without a driver there is none."""
    units: Array
    """Conditional standard deviation of each coordinate, in which its shifts are measured, (d,)."""
    others: npt.NDArray[np.intp]
    """The coordinates that are not the driver."""
    penalties: Array
    """Factors of the squares of the parameters."""

    @classmethod
    def of(cls, seen: Training, whitening: Whitening, driver: int | None, tuning: Bending) -> "Layered":
        """With the origin, width and units by a whitening."""
        dim = len(whitening.centre)
        others = np.array([] if driver is None else [j for j in range(dim) if j != driver], dtype=np.intp)
        width = 1.0 if driver is None else float(np.linalg.norm(np.linalg.inv(whitening.factor)[:, driver]))
        origin = 0.0 if driver is None else float(whitening.centre[driver])
        units = 1.0 / np.linalg.norm(whitening.factor, axis=1)
        scales = np.array((tuning.shift, tuning.slope, tuning.turn, tuning.affine))
        penalties = np.repeat(1.0 / scales**2, (SHIFTS * len(others), len(others), len(others), 2 * dim))
        return cls(seen, whitening, driver, origin, width, units, others, penalties)

    def by_sizes(self, steepest: float) -> Array:
        """Parameters of log scales linear in the driver: gradients are long where a density is narrow."""
        at = np.zeros(len(self.penalties))
        t = (self.seen.points[:, self.driver] - self.origin) / self.width
        centred = t - t.mean()
        sizes = np.log(np.abs(self.seen.gradients[:, self.others]) + np.finfo(float).tiny)
        slopes = -centred @ sizes / max(float(centred @ centred), np.finfo(float).tiny)
        first = SHIFTS * len(self.others)
        at[first : first + len(self.others)] = np.clip(slopes, -steepest, steepest)
        return at

    def parts(self, at: Array) -> tuple[WarpLayer | None, Array, Array]:
        """The layer, l and b."""
        dim, count = len(self.units), len(self.others)
        logs, shift = at[-2 * dim : -dim], at[-dim:]
        if self.driver is None:
            return None, logs, shift
        parameters = np.zeros((SHIFTS + SCALES, dim))
        parameters[:, self.others] = at[: -2 * dim].reshape(-1, count)
        shifts, scales = parameters[:SHIFTS] * self.units, parameters[SHIFTS:]
        return WarpLayer(self.driver, self.origin, self.width, shifts, scales, self.units), logs, shift

    def parameters(self, layer: WarpLayer) -> Array:
        """Parameters of a layer with this driver, with l and b of 0."""
        rows = np.concatenate((layer.shifts / self.units, layer.scales))[:, self.others]
        return np.concatenate((rows.ravel(), np.zeros(2 * len(self.units))))

    def residuals(self, at: Array) -> Array:
        """Gradients by z, less z: (n, d)."""
        layer, logs, shift = self.parts(at)
        y, slopes = without_layer(layer, self.seen)
        return np.asarray(
            np.exp(logs) * self.whitening.slopes(slopes) - np.exp(-logs) * self.whitening.whiten(y) + shift
        )

    def total(self, at: Array) -> float:
        """Sum of `losses`, times d, and of the penalties; not finite where a layer overflows."""
        with np.errstate(over="ignore", invalid="ignore"):
            of_points = len(self.units) * losses(self.residuals(at)).sum()
            return float(of_points + 0.5 * self.penalties @ at**2)

    def normal_equations(self, at: Array) -> tuple[Array, Array]:
        """Hessian of the total by Gauss and Newton, J' W J + P, (p, p), and its gradient, J' W r + P at, (p,).

        They have residuals r, (n, d), derivatives J of them, weights W of points, and penalties P. A residual depends
        on its own l and b, and on the parameters of a layer through three features of each point: their effects on
        y_j, and on the gradients by y_j and by the driver. Their products are summed over the points once for all d
        residuals; J itself, of n d rows, is never formed.
        """
        layer, logs, shift = self.parts(at)
        y, slopes = without_layer(layer, self.seen)
        by_slopes, by_points = np.exp(logs) * self.whitening.slopes(slopes), np.exp(-logs) * self.whitening.whiten(y)
        stretch, residuals = by_slopes + by_points, by_slopes - by_points + shift
        weights = robust_weights(residuals)
        features, mixing = self._features(layer, logs, y, slopes)
        weighted, count = weights[:, None] * features, features.shape[1] // 3
        own = weights[:, None] * np.concatenate((stretch, np.ones(stretch.shape)), axis=1)
        products = (features.T @ weighted) * (mixing.T @ mixing)
        by_layer = products.reshape(3, count, 3, count).sum(axis=(0, 2))
        across = (own.T @ features) * np.concatenate((mixing, mixing))
        across = across.reshape(len(across), 3, count).sum(axis=1)
        sums = (weights @ stretch**2, weights @ stretch, np.full(len(logs), weights.sum()))
        squares, mixed, ones = (np.diag(each) for each in sums)
        matrix: Array = np.block([[by_layer, across.T], [across, np.block([[squares, mixed], [mixed, ones]])]])
        along = (weighted * (residuals @ mixing)).sum(axis=0).reshape(3, count).sum(axis=0)
        slope = np.concatenate((along, (own * np.tile(residuals, 2)).sum(axis=0)))
        return matrix + np.diag(self.penalties), slope + self.penalties * at

    def _features(self, layer: WarpLayer | None, logs: Array, y: Array, slopes: Array) -> tuple[Array, Array]:
        """Features of each point, (n, 3 q) for q parameters of the layer, and their weights in residuals, (d, 3 q)."""
        if layer is None:
            return np.zeros((len(y), 0)), np.zeros((y.shape[1], 0))
        stretched = np.exp(logs)[:, None] * np.linalg.inv(self.whitening.factor)
        shrunk = np.exp(-logs)[:, None] * self.whitening.factor.T
        each = SHIFTS + SCALES
        mixing = (
            np.tile(stretched[:, self.others], each),
            np.tile(stretched[:, [layer.driver]], each * len(self.others)),
            np.tile(-shrunk[:, self.others], each),
        )
        return self._by_layer(layer, y, slopes), np.concatenate(mixing, axis=1)

    def _by_layer(self, layer: WarpLayer, y: Array, slopes: Array) -> Array:
        """Derivatives of the gradients by y_j and by the driver and of y_j, by the parameters of j: (n, 15 (d - 1))."""
        others, driver = self.others, self.seen.points[:, layer.driver]
        shifts, shift_slopes, scales, scale_slopes = (
            each[:, :, None] for each in functions((driver - layer.origin) / layer.width)
        )
        shift, _, scale, scale_slope = (term[:, None, others] for term in layer.terms(driver))
        units, gradient = self.units[others], self.seen.gradients[:, None, others]
        by_point = (-np.exp(-scale) * shifts * units, -scales * y[:, None, others])
        by_slope = (np.zeros(by_point[0].shape), scales * slopes[:, None, others])
        by_driver = (
            gradient * (shift_slopes / layer.width - scale_slope * shifts) * units,
            scale_slopes / layer.width * (gradient * (self.seen.points[:, None, others] - shift) - 1.0),
        )
        joined = [np.concatenate(pair, axis=1).reshape(len(y), -1) for pair in (by_slope, by_driver, by_point)]
        return np.concatenate(joined, axis=1)


def minimised(layered: Layered, at: Array, tuning: Bending) -> Array:
    """Damped Gauss-Newton steps from ``at`` that lower `Layered.total` (Levenberg 1944, Marquardt 1963).

    The minimisers of SciPy were slower or ended higher: docs/development/tried/bends.md.
    """
    damping, lowest = tuning.damping, layered.total(at)
    matrix, slope = layered.normal_equations(at)
    for _ in range(tuning.steps):
        step = -np.linalg.solve(matrix + damping * np.diag(matrix.diagonal()), slope)
        value = layered.total(at + step)
        if not value < lowest:
            damping *= tuning.factor
            continue
        at, damping, decrease, lowest = at + step, damping / tuning.factor, lowest - value, value
        if decrease < tuning.settled * (1.0 + lowest):
            break
        matrix, slope = layered.normal_equations(at)
    return at


def centring(points: Array, gradients: Array, tuning: Bending) -> WarpLayer | None:
    """x_j = y_j + b_j x_c for the other j, with the centre c of a hierarchy; None where gradients show no centre.

    A scale drives the deviations of effects from their mean. Where that scale is small, the potential is steep except
    along e_c + sum_j b_j e_j, so that dU/dx_c = -sum_j b_j dU/dx_j nearly, and c is the coordinate of which least
    squares leave the smallest share. Steeper gradients determine b better and are weighted by the root of their length.
    """
    lengths = np.linalg.norm(gradients * points.std(axis=0), axis=1)
    if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
        return None
    slopes = gradients / np.sqrt(lengths)[:, None]
    fits = [_by_others(slopes, c) for c in range(points.shape[1])]
    c = int(np.argmin([share for share, _ in fits]))
    share, found = fits[c]
    if not share < tuning.level:
        return None
    near = np.round(found)
    shifts = np.zeros((SHIFTS, len(found)))
    shifts[1] = np.where(np.abs(found - near) < tuning.near, near, found)
    return WarpLayer(c, 0.0, 1.0, shifts, np.zeros((SCALES, len(found))), np.ones(len(found)))


def recentred(layer: WarpLayer, c: int) -> WarpLayer:
    """The same centring on another centre: along the same combination a potential hardly changes.

    Any one of the effects around a mean is a centre of the others and of the mean in that sense.
    """
    along = np.where(np.arange(layer.shifts.shape[1]) == layer.driver, 1.0, layer.shifts[1])
    shifts = np.zeros(layer.shifts.shape)
    shifts[1] = np.where(np.arange(len(along)) == c, 0.0, along / along[c])
    return replace(layer, driver=c, shifts=shifts)


def _by_others(slopes: Array, c: int) -> tuple[float, Array]:
    """Unexplained share of the slopes by x_c regressed on the others, per degree of freedom, and b, (d,)."""
    n, dim = slopes.shape
    found, others = np.zeros(dim), np.flatnonzero(np.arange(dim) != c)
    found[others] = np.linalg.lstsq(slopes[:, others], -slopes[:, c], rcond=None)[0]
    left, total = slopes[:, c] + slopes @ found, float(slopes[:, c] @ slopes[:, c])
    return (float(left @ left) / total * n / (n - dim + 1) if total > 0.0 else np.inf), found
