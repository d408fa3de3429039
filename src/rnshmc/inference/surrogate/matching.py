"""Coordinates fitted by a match of gradients: where a posterior is standard normal in z, its gradient by z is z."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.layered import Layered, losses, minimised, robust_weights, without_layer
from rnshmc.inference.surrogate.whitening import Secants, Whitening
from rnshmc.inference.tuning import Bending
from rnshmc.inference.warp import Warp, WarpLayer
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Match:
    """Coordinates fitted to gradients."""

    layer: WarpLayer | None
    """From y to x; None where y is x."""
    whitening: Whitening
    """From y to z."""
    given: bool = False
    """Whether the layer is fixed, and only the whitening fitted."""

    def residuals(self, seen: Training) -> Array:
        """Gradients by z, less z, from points and gradients in x: shape (n, d)."""
        z, slopes = self.whitened(seen)
        return slopes - z

    def whitened(self, seen: Training) -> tuple[Array, Array]:
        """z, and gradients by z."""
        y, slopes = without_layer(self.layer, seen)
        return self.whitening.whiten(y), self.whitening.slopes(slopes)

    def loss(self, seen: Training) -> float:
        """Sum of `losses`."""
        return float(losses(self.residuals(seen)).sum())

    def again(self, seen: Training, tuning: Bending) -> "Match":
        """A match of other points, searched from this one."""
        if self.given:
            return match_given(self.layer, seen, tuning)
        layered = Layered.of(seen, self.whitening, None if self.layer is None else self.layer.driver, tuning)
        if self.layer is None:
            return _alternated(layered, np.zeros(len(layered.penalties)), tuning)
        layered = replace(layered, origin=self.layer.origin, width=self.layer.width)
        return _alternated(layered, layered.parameters(self.layer), tuning)

    @property
    def coupling(self) -> float:
        """Sum of the squared partial correlations of coordinates that the layer scales, over pairs."""
        assert self.layer is not None
        scaled = np.flatnonzero(self.layer.scales[0])
        precision = (self.whitening.factor @ self.whitening.factor.T)[np.ix_(scaled, scaled)]
        scales = np.sqrt(precision.diagonal())
        return float((np.triu(precision / np.outer(scales, scales), 1) ** 2).sum())


def scaling(like: WarpLayer, scaled: Sequence[int], power: float) -> WarpLayer:
    """The simple layer with the driver of another that scales some coordinates by exp(power x_k)."""
    scales = np.zeros(like.scales.shape)
    scales[0, list(scaled)] = power
    return WarpLayer(like.driver, 0.0, 1.0, np.zeros(like.shifts.shape), scales, like.units)


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
    found = match_given(layer, layered.seen, replace(tuning, turns=1))
    return replace(layered, whitening=found.whitening)


def match_given(layer: WarpLayer | None, seen: Training, tuning: Bending) -> Match:
    """A match with a given layer: the Hessian of the gradients whitens, begun from the spread of the points."""
    y, _ = without_layer(layer, seen)
    found = Match(layer, _by_spread(y, np.median(y, axis=0)), given=True)
    for _ in range(tuning.turns):
        found = replace(found, whitening=_turned(found, seen, tuning))
    return found


def _alternated(layered: Layered, at: Array, tuning: Bending) -> Match:
    """Fit a layer, with scales and shifts of the whitened coordinates, and the Hessian of the gradients in turns."""
    dim = len(layered.units)
    for _ in range(tuning.rounds):
        at = minimised(layered, at, tuning)
        layer, logs, shift = layered.parts(at)
        scaled = Whitening(layered.whitening.centre, layered.whitening.factor * np.exp(-logs))
        found = Match(layer, scaled.moved(scaled.unwhiten(shift[None])[0]))
        layered = replace(layered, whitening=_turned(found, layered.seen, tuning))
        at = np.concatenate((at[: -2 * dim], np.zeros(2 * dim)))
    return found


def _turned(found: Match, seen: Training, tuning: Bending) -> Whitening:
    """The whitening by the Hessian of the gradients, each with its weight in the match."""
    z, slopes = found.whitened(seen)
    weights = robust_weights(slopes - z)
    if not np.isfinite(weights).all():
        raise np.linalg.LinAlgError("a layer overflows")
    middle, level = (weights @ each / weights.sum() for each in (z, slopes))
    curvatures, directions = np.linalg.eigh(Secants(z - middle, slopes - level, weights).hessian())
    curvatures = np.clip(np.abs(curvatures), 1.0 / tuning.most_curved, tuning.most_curved)
    centre = middle - directions @ ((directions.T @ level) / curvatures)
    return found.whitening.moved(found.whitening.unwhiten(centre[None])[0]).curved(curvatures, directions)


@dataclass(frozen=True, eq=False)
class Candidate:
    """Points and gradients behind some layers, to which a layer of a driver is added; None: none."""

    layers: Warp
    seen: Training
    driver: int | None

    @classmethod
    def behind(cls, layers: Warp, straight: Training, driver: int | None = None) -> "Candidate":
        """From points and gradients without a bend."""
        points = layers.inverse(straight.points)
        seen = replace(straight, points=points, gradients=-layers.pulled_back(-straight.gradients, points))
        return cls(layers, seen, driver)

    def missed(self, found: Match) -> Array:
        """|r|^2 / (2 d + |r|^2) of each point, between 0 and 1: the largest, far out, count as unexplained."""
        return 1.0 - robust_weights(found.residuals(self.seen))

    def matched(self, whitening: Whitening, tuning: Bending) -> Match:
        """The layer of the driver, and the whitening behind it, that match gradients best.

        They minimise the sum of `losses`, times d, and a weak quadratic penalty on the parameters of the layer. The
        minimum is searched from several starts: units of the given whitening and of the spread of the points, a layer
        that is the identity and one that scales like the lengths of gradients. Raises LinAlgError if the points span
        no volume, or nothing finite fits.
        """
        units = (whitening, _by_spread(self.seen.points, whitening.centre))
        given, spread = (Layered.of(self.seen, one, self.driver, tuning) for one in units)
        flat = np.zeros(len(given.penalties))
        found = [_alternated(given, flat, tuning), _alternated(_begun(spread, flat, tuning), flat, tuning)]
        if self.driver is not None:
            for layered in (given, spread):
                start = layered.by_sizes(tuning.steepest)
                found.append(_alternated(_begun(layered, start, tuning), start, tuning))
        return min(found, key=lambda one: one.loss(self.seen))

    def simplified(self, found: Match, tuning: Bending) -> Match | None:
        """A match with the simple layer, near the layer of a match, that explains gradients best; None if none does.

        The coordinates that a simple layer scales have one scale, exp(p x_k) with the driver x_k and a power p, and
        none is shifted: x_k is the logarithm of a scale, or of a variance. Where such a layer explains gradients it is
        right far from all points, too; slopes fitted one by one are not. The scaled coordinates are those of the
        steepest slopes, or the `effects`.
        """
        if found.layer is None:
            return None
        layer, simple = found.layer, []
        steepest = layer.scales[0, np.argmax(np.abs(layer.scales[0]))] / layer.width
        order = [j for j in np.argsort(-np.sign(steepest) * layer.scales[0]) if j != layer.driver]
        near = [power for power in tuning.powers if tuning.nearly * power > abs(steepest) > power / tuning.nearly]
        groups = [order[:count] for count in range(1, len(order) + 1)]
        if self.effects and layer.driver not in self.effects:
            groups.append(list(self.effects))
        for scaled, power in product(groups, near):
            one = scaling(layer, scaled, float(np.sign(steepest) * power))
            # exp(p x_k) of a large power overflows at points far out, where another power fits.
            with suppress(np.linalg.LinAlgError):
                simple.append(match_given(one, self.seen, tuning))
        return simple[int(np.argmin([one.loss(self.seen) for one in simple]))] if simple else None

    @property
    def effects(self) -> tuple[int, ...]:
        """Coordinates that the last layer centres; none where it is no centring."""
        last = self.layers.layers[-1:]
        return tuple(j for layer in last if not layer.scales.any() for j in np.flatnonzero(layer.shifts[1]))

    def scales_effects(self, found: Match) -> bool:
        """Whether the layer of a match scales the effects, and nothing else."""
        assert found.layer is not None
        return bool(self.effects) and self.effects == tuple(np.flatnonzero(found.layer.scales[0]))

    def held_out(self, found: Match, tuning: Bending) -> Array:
        """`missed` at each point by a match without it, searched from a match to all."""
        missed = np.zeros(len(self.seen.points))
        folds = np.arange(len(missed)) % tuning.folds
        for fold in range(tuning.folds):
            known = self.seen.where(np.flatnonzero(folds != fold))
            missed[folds == fold] = self.missed(found.again(known, tuning))[folds == fold]
        return missed


def by_driver(base: Candidate, whitening: Whitening, tuning: Bending) -> list[Candidate]:
    """Candidates with the drivers on which the residuals of a plain match depend most."""
    dim = base.seen.points.shape[1]
    order = np.arange(dim)
    if dim > tuning.drivers:
        plain = base.matched(whitening, tuning)
        order = np.argsort(-_driven(plain, base.seen))[: tuning.drivers]
    return [replace(base, driver=int(k)) for k in order]


def _driven(plain: Match, seen: Training) -> Array:
    """Share of the residuals that t^2 and t z_j explain, for each driver t, on average over the coordinates j: (d,)."""
    z, slopes = plain.whitened(seen)
    weights = np.sqrt(robust_weights(slopes - z))[:, None]
    shares = np.zeros(seen.points.shape[1])
    for k, x in enumerate(seen.points.T):
        t = (x - x.mean()) / max(float(x.std()), float(np.finfo(float).tiny))
        for j in range(len(shares)):
            less = np.column_stack((np.ones(len(t)), t, z[:, j])) * weights
            more = np.column_stack((less, weights * np.column_stack((t * t, t * z[:, j]))))
            left = [_left(features, weights[:, 0] * slopes[:, j]) for features in (less, more)]
            shares[k] += 1.0 - left[1] / max(left[0], float(np.finfo(float).tiny))
    return shares


def _left(features: Array, target: Array) -> float:
    """Sum of squared residuals of a linear regression."""
    return float(((target - features @ np.linalg.lstsq(features, target, rcond=None)[0]) ** 2).sum())
