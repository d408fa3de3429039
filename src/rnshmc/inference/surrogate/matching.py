"""Coordinates fitted by a match of gradients: where a posterior is standard normal in z, its gradient by z is z."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.bend import SCALES, SHIFTS, Layer
from rnshmc.inference.surrogate.layered import Layered, losses, minimised, robust_weights, without_layer
from rnshmc.inference.surrogate.whitening import Secants, Whitening
from rnshmc.inference.tuning_bends import Bending
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Match:
    """Coordinates fitted to gradients."""

    layer: Layer | None
    """From y to x; None where y is x."""
    whitening: Whitening
    """From y to z."""
    given: bool = False
    """Whether the layer is fixed, and only the whitening fitted."""

    def residuals(self, points: Array, gradients: Array) -> Array:
        """Gradients by z, less z, from points and gradients in x: shape (n, d)."""
        z, slopes = self.whitened(points, gradients)
        return slopes - z

    def whitened(self, points: Array, gradients: Array) -> tuple[Array, Array]:
        """z, and gradients by z."""
        y, slopes = without_layer(self.layer, points, gradients)
        return self.whitening.whiten(y), self.whitening.slopes(slopes)


def match(points: Array, gradients: Array, whitening: Whitening, driver: int | None, tuning: Bending) -> Match:
    """The layer of a driver, and the whitening behind it, that match gradients best.

    They minimise the sum of `losses`, times d, and a weak quadratic penalty on the parameters of the layer. The minimum
    is searched from several starts: units of the given whitening and of the spread of the points, a layer that is the
    identity and one that scales like the lengths of gradients. The lowest is returned.

    Parameters
    ----------
    points, gradients
        In x, (n, d).
    whitening
        Of coordinates near y.
    driver
        None: y is x.

    Raises
    ------
    numpy.linalg.LinAlgError
        If the points span no volume, or nothing finite fits.
    """
    units = (whitening, _by_spread(points, whitening.centre))
    given, spread = (Layered.of(points, gradients, one, driver, tuning) for one in units)
    flat = np.zeros(len(given.penalties))
    found = [_alternated(given, flat, tuning), _alternated(_begun(spread, flat, tuning), flat, tuning)]
    if driver is not None:
        for layered in (given, spread):
            start = layered.by_sizes(tuning.steepest)
            found.append(_alternated(_begun(layered, start, tuning), start, tuning))
    return min(found, key=lambda one: float(losses(one.residuals(points, gradients)).sum()))


def simplified(
    found: Match, points: Array, gradients: Array, effects: tuple[int, ...], tuning: Bending
) -> Match | None:
    """A match with the simple layer, near the layer of a match, that explains gradients best; None if there is none.

    The coordinates that a simple layer scales have one scale, exp(p x_k) with the driver x_k and a power p, and none is
    shifted: x_k is the logarithm of a scale, or of a variance. Where such a layer explains gradients it is right far
    from all points, too; slopes fitted one by one are not. The scaled coordinates are those of the steepest slopes, or
    ``effects`` of a hierarchy that were centred before.
    """
    if found.layer is None:
        return None
    layer, simple = found.layer, []
    steepest = layer.scales[0, np.argmax(np.abs(layer.scales[0]))] / layer.width
    order = [j for j in np.argsort(-np.sign(steepest) * layer.scales[0]) if j != layer.driver]
    near = [power for power in tuning.powers if tuning.nearly * power > abs(steepest) > power / tuning.nearly]
    groups = [order[:count] for count in range(1, len(order) + 1)]
    if effects and layer.driver not in effects:
        groups.append(list(effects))
    for scaled in groups:
        for power in near:
            one = scaling(layer, scaled, float(np.sign(steepest) * power))
            # exp(p x_k) of a large power overflows at points far out, where another power fits.
            with suppress(np.linalg.LinAlgError):
                simple.append(match_given(one, points, gradients, tuning))
    by_loss = [float(losses(one.residuals(points, gradients)).sum()) for one in simple]
    return simple[int(np.argmin(by_loss))] if simple else None


def scaling(like: Layer, scaled: Sequence[int], power: float) -> Layer:
    """The simple layer with the driver of another that scales some coordinates by exp(power x_k)."""
    scales = np.zeros(like.scales.shape)
    scales[0, list(scaled)] = power
    return Layer(like.driver, 0.0, 1.0, np.zeros(like.shifts.shape), scales, like.units)


def rematched(found: Match, points: Array, gradients: Array, tuning: Bending) -> Match:
    """A match of other points, searched from a known one."""
    if found.given:
        return match_given(found.layer, points, gradients, tuning)
    driver = None if found.layer is None else found.layer.driver
    layered = Layered.of(points, gradients, found.whitening, driver, tuning)
    if found.layer is None:
        return _alternated(layered, np.zeros(len(layered.penalties)), tuning)
    layered = replace(layered, origin=found.layer.origin, width=found.layer.width)
    return _alternated(layered, layered.parameters(found.layer), tuning)


def _by_spread(points: Array, centre: Array) -> Whitening:
    """Coordinates in units of the median distance of the points from their medians; of their spread where that is 0."""
    spread = np.median(np.abs(points - np.median(points, axis=0)), axis=0)
    with np.errstate(divide="ignore"):
        return Whitening(centre, np.diag(1.0 / np.where(spread > 0.0, spread, points.std(axis=0))))


def _begun(layered: Layered, at: Array, tuning: Bending) -> Layered:
    """With the whitening by points and gradients behind the layer from which a search starts.

    In another one, the first steps leave that layer, and miss the scale of a centred hierarchy.
    """
    layer, *_ = layered.parts(at)
    found = match_given(layer, layered.points, layered.gradients, replace(tuning, turns=1))
    return replace(layered, whitening=found.whitening)


def coupling(found: Match) -> float:
    """Sum of the squared partial correlations of coordinates that the layer of a match scales, over pairs."""
    assert found.layer is not None
    scaled = np.flatnonzero(found.layer.scales[0])
    precision = (found.whitening.factor @ found.whitening.factor.T)[np.ix_(scaled, scaled)]
    scales = np.sqrt(precision.diagonal())
    return float((np.triu(precision / np.outer(scales, scales), 1) ** 2).sum())


def match_given(layer: Layer | None, points: Array, gradients: Array, tuning: Bending) -> Match:
    """A match with a given layer: the Hessian of the gradients whitens, begun from the spread of the points."""
    y, _ = without_layer(layer, points, gradients)
    found = Match(layer, _by_spread(y, np.median(y, axis=0)), given=True)
    for _ in range(tuning.turns):
        found = replace(found, whitening=_turned(found, points, gradients, tuning))
    return found


def _alternated(layered: Layered, at: Array, tuning: Bending) -> Match:
    """Fit a layer, with scales and shifts of the whitened coordinates, and the Hessian of the gradients in turns."""
    points, gradients = layered.points, layered.gradients
    dim = points.shape[1]
    for _ in range(tuning.rounds):
        at = minimised(layered, at, tuning)
        layer, logs, shift = layered.parts(at)
        scaled = Whitening(layered.whitening.centre, layered.whitening.factor * np.exp(-logs))
        found = Match(layer, scaled.moved(scaled.unwhiten(shift[None])[0]))
        layered = replace(layered, whitening=_turned(found, points, gradients, tuning))
        at = np.concatenate((at[: -2 * dim], np.zeros(2 * dim)))
    return found


def _turned(found: Match, points: Array, gradients: Array, tuning: Bending) -> Whitening:
    """The whitening by the Hessian of the gradients, each with its weight in the match."""
    z, slopes = found.whitened(points, gradients)
    weights = robust_weights(slopes - z)
    if not np.isfinite(weights).all():
        raise np.linalg.LinAlgError("a layer overflows")
    middle, level = (weights @ each / weights.sum() for each in (z, slopes))
    curvatures, directions = np.linalg.eigh(Secants(z - middle, slopes - level, weights).hessian())
    curvatures = np.clip(np.abs(curvatures), 1.0 / tuning.most_curved, tuning.most_curved)
    centre = middle - directions @ ((directions.T @ level) / curvatures)
    return found.whitening.moved(found.whitening.unwhiten(centre[None])[0]).curved(curvatures, directions)


def centring(points: Array, gradients: Array, tuning: Bending) -> Layer | None:
    """x_j = y_j + b_j x_c for the other j, with the centre c of a hierarchy; None where gradients show no centre.

    A scale drives the deviations of effects from their mean. Where that scale is small, the potential is steep except
    along e_c + sum_j b_j e_j, so that dU/dx_c = -sum_j b_j dU/dx_j nearly, and c is the coordinate of which least
    squares leave the smallest share. Steeper gradients determine b better and are weighted by the root of their length.

    Parameters
    ----------
    points, gradients
        Shape (n, d), n > d.
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
    return Layer(c, 0.0, 1.0, shifts, np.zeros((SCALES, len(found))), np.ones(len(found)))


def recentred(layer: Layer, c: int) -> Layer:
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
