"""Bends that gradients may follow: a layer of a driver, on coordinates that are centred or bent already."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.bend import Bend
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.layered import robust_weights
from rnshmc.inference.surrogate.matching import (
    Match,
    centring,
    coupling,
    match,
    match_given,
    recentred,
    rematched,
    scaling,
    simplified,
)
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_bends import Bending
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Candidate:
    """Points and gradients behind some layers, to which a layer of a driver is added; None: none."""

    layers: Bend
    seen: Training
    driver: int | None

    @classmethod
    def behind(cls, layers: Bend, straight: Training, driver: int | None = None) -> "Candidate":
        """From points and gradients without a bend."""
        points = layers.inverse(straight.points)
        seen = replace(straight, points=points, gradients=-layers.pulled_back(-straight.gradients, points))
        return cls(layers, seen, driver)

    def missed(self, found: Match) -> Array:
        """|r|^2 / (2 d + |r|^2) of each point, between 0 and 1: the largest, far out, count as unexplained."""
        return 1.0 - robust_weights(found.residuals(self.seen.points, self.seen.gradients))

    def matched(self, whitening: Whitening, tuning: Bending) -> Match:
        """Matched to all points, searched from a whitening."""
        return match(self.seen.points, self.seen.gradients, whitening, self.driver, tuning)

    def again(self, found: Match, tuning: Bending) -> Match:
        """Matched to all points, searched from an earlier match."""
        return rematched(found, self.seen.points, self.seen.gradients, tuning)

    def simplified(self, found: Match, tuning: Bending) -> Match | None:
        """The match by a simple layer near the layer of another match; None if there is none."""
        return simplified(found, self.seen.points, self.seen.gradients, self.effects, tuning)

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
            without = rematched(found, known.points, known.gradients, tuning)
            missed[folds == fold] = self.missed(without)[folds == fold]
        return missed


def centred(straight: Training, tuning: Bending) -> list[Candidate]:
    """Behind the centring of a hierarchy; none where gradients show no centre."""
    layer = centring(straight.points, straight.gradients, tuning)
    return [] if layer is None else [Candidate.behind(Bend((layer,)), straight)]


def on_the_centre(one: Candidate, found: Match, straight: Training, tuning: Bending) -> tuple[Candidate, Match]:
    """A simple match of effects, behind another centre if that explains as much and hardly couples them.

    Gradients show which coordinates have a common centre, but not which of them is the centre: where the effects are
    small, each is a centre of the others. They are independent around their mean only.
    """
    assert found.layer is not None
    tried = [(one, found)]
    if one.scales_effects(found):
        *before, layer = one.layers.layers
        power = float(found.layer.scales[0, one.effects[0]])
        for c in one.effects:
            other = Candidate.behind(Bend((*before, recentred(layer, c))), straight, one.driver)
            simple = scaling(found.layer, other.effects, power)
            with suppress(np.linalg.LinAlgError):
                tried.append((other, match_given(simple, other.seen.points, other.seen.gradients, tuning)))
    # Far out a layer may overflow.
    missed = [float(np.nan_to_num(each.missed(its).mean(), nan=np.inf)) for each, its in tried]
    as_good = [pair for pair, each in zip(tried, missed, strict=True) if each <= min(missed) + tuning.better]
    least = min(as_good, key=lambda pair: coupling(pair[1]))
    return least if coupling(least[1]) < tuning.coupled else tried[0]


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
    z, slopes = plain.whitened(seen.points, seen.gradients)
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
