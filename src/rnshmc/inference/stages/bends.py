"""Bent coordinates, where they explain the gradients of all points so far better than the current ones."""

from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.bend import STRAIGHT, Bend
from rnshmc.inference.exact.archive import Archive, Training
from rnshmc.inference.surrogate.centring import centring
from rnshmc.inference.surrogate.layered import trust
from rnshmc.inference.surrogate.matching import Match, match, rematched, simplified
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_start import Bending
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Bent:
    """A bend, and the whitening of the coordinates behind it.

    Attributes
    ----------
    kept
        The part of the bend, up to its latest simple layer, that stays whatever more gradients show: `simplified`.
    """

    bend: Bend
    whitening: Whitening
    kept: Bend = STRAIGHT


class Watch:
    """Looks for a bend where a descent takes long, unless it is idle: a funnel has its mode far from its mass.

    Attributes
    ----------
    found
        The bend; None until there is one.
    """

    def __init__(self, archive: Archive, tuning: Bending, *, idle: bool) -> None:
        self._archive, self._tuning, self._idle = archive, tuning, idle
        self._next = tuning.first[0] + tuning.first[1] * archive.dim
        self.found: Bent | None = None

    def __call__(self, whitening: Whitening) -> bool:
        """Whether a bend is found, so that the descent need not go on."""
        count = len(self._archive.slopes().points)
        if self.found is None and count >= self._next and not self._idle:
            self._next = int(self._tuning.again * count)
            self.found = better_bend(self._archive, whitening, self._tuning)
        return self.found is not None


@dataclass(frozen=True, eq=False)
class _Candidate:
    """Points and gradients behind some layers, to which one of a driver is added; None: none."""

    layers: Bend
    seen: Training
    driver: int | None

    def missed(self, found: Match) -> Array:
        """|r|^2 / (2 d + |r|^2) of each point, between 0 and 1: a point far out counts at most as one that is
        not explained."""
        return 1.0 - trust(found.residuals(self.seen.points, self.seen.gradients))

    def matched(self, whitening: Whitening, tuning: Bending) -> Match:
        return match(self.seen.points, self.seen.gradients, whitening, self.driver, tuning)

    def again(self, found: Match, tuning: Bending) -> Match:
        """Matched to all points, searched from an earlier match."""
        return rematched(found, self.seen.points, self.seen.gradients, tuning)

    def simplified(self, found: Match, tuning: Bending) -> Match | None:
        """The match by a simple layer near that of another; None if there is none."""
        return simplified(found, self.seen.points, self.seen.gradients, tuning)

    def likelier(self, *found: Match) -> Match:
        """The match that misses least."""
        return min(found, key=lambda one: float(self.missed(one).mean()))

    def held_out(self, found: Match, tuning: Bending) -> Array:
        """`missed` by matches that do not know the point, each searched from one that knows all."""
        missed = np.zeros(len(self.seen.points))
        folds = np.arange(len(missed)) % tuning.folds
        for fold in range(tuning.folds):
            known = self.seen.where(np.flatnonzero(folds != fold))
            without = rematched(found, known.points, known.gradients, tuning)
            missed[folds == fold] = self.missed(without)[folds == fold]
        return missed


def better_bend(
    archive: Archive,
    whitening: Whitening,
    tuning: Bending,
    *,
    begun: Whitening | None = None,
    kept: Bend = STRAIGHT,
    above: float = 0.0,
) -> Bent | None:
    """The bend by which held-out gradients are matched best; None if it is not clearly better than what there is.

    It has one layer more than what is kept, or than what there is, or two more than none: a centring, and another. So
    it may have as many as there are, the last one fitted again.

    Parameters
    ----------
    whitening
        That of the current coordinates.
    begun
        That of the coordinates in which the bend was taken; None: the current one.
    kept
        The part of the current bend that stays.
    above
        Loss of held-out gradients in the current coordinates up to which none is searched.
    """
    if not archive.has_gradient or not 1 < archive.dim <= tuning.most_dim:
        return None
    straight = _latest(archive.straight(), tuning)
    if len(straight.points) <= archive.dim + tuning.folds:
        return None
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return _best(straight, archive.bend, kept, whitening, whitening if begun is None else begun, tuning, above)
    except np.linalg.LinAlgError:
        return None


def no_bend(
    archive: Archive, whitening: Whitening, tuning: Bending, *, height: float, begun: Whitening, kept: Bend = STRAIGHT
) -> Bent | None:
    """Coordinates of what is kept of a bend, where the bend does not explain nearly every gradient better; else None.

    A bend may have been taken on the strength of the few points that there were then.

    Parameters
    ----------
    height
        Points count that are at most so much above the lowest behind the bend, where there are enough: a descent comes
        from where gradients may follow another law.
    whitening, begun
        Of the bent coordinates, now and when the bend was taken.
    kept
        The part of the current bend that stays.
    """
    if archive.bend.layers == kept.layers:
        return None
    straight = _latest(_plausible(archive, height), tuning)
    bent, plain = (_Candidate(one, _behind(straight, one), None) for one in (archive.bend, kept))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            now = bent.held_out(_without_another(bent, whitening, begun, tuning), tuning)
            found = plain.matched(whitening, tuning)
            missed = plain.held_out(found, tuning)
    except np.linalg.LinAlgError:
        return None
    return Bent(kept, found.whitening, kept) if (now < missed).mean() < tuning.everywhere else None


def _without_another(current: _Candidate, whitening: Whitening, begun: Whitening, tuning: Bending) -> Match:
    """The match of the current coordinates, with no layer more."""
    return current.likelier(current.matched(whitening, tuning), current.again(Match(None, begun), tuning))


def _best(
    straight: Training,
    bend: Bend,
    kept: Bend,
    whitening: Whitening,
    begun: Whitening,
    tuning: Bending,
    above: float,
) -> Bent | None:
    """The same, from the points and gradients without a bend."""
    current = _Candidate(bend, _behind(straight, bend), None)
    now = current.held_out(_without_another(current, whitening, begun, tuning), tuning)
    if not now.mean() > max(above, tuning.better / tuning.again_share):
        return None
    bases = [_Candidate(kept, _behind(straight, kept), None)]
    if not kept.layers:
        bases += _centred(straight, tuning)
    if bend.layers != kept.layers:
        bases.append(current)
    candidates = [one for base in bases for one in _by_driver(base, whitening, tuning)]
    fitted = []
    for one in candidates:
        with suppress(np.linalg.LinAlgError):
            fitted.append((one, one.matched(whitening, tuning)))
    if bend.layers != kept.layers:
        under = Bend(bend.layers[:-1])
        same = _Candidate(under, _behind(straight, under), bend.layers[-1].driver)
        fitted.append((same, same.again(Match(bend.layers[-1], begun), tuning)))
    fitted.sort(key=lambda pair: float(pair[0].missed(pair[1]).mean()))
    finalists = fitted[: tuning.finalists]
    simple = []
    for one, found in finalists:
        with suppress(np.linalg.LinAlgError):
            if (near := one.simplified(found, tuning)) is not None:
                simple.append((one, near))
    # Gradients that are held out are matched no better than with them.
    losses = [float(one.missed(found).mean()) for one, found in (*finalists, *simple)]
    if not np.nanmin([*losses, np.inf]) < tuning.again_share * now.mean() - tuning.better:
        return None
    offered, simplest = (_by_losses(some, tuning)[:1] for some in (finalists, simple))
    # Of what explains the points about as well, a simple layer is right elsewhere, too.
    if simplest and not (offered and _clearly(offered[0][0], simplest[0][0], tuning.again_share, tuning)):
        offered = simplest + offered
    for missed, one, found in offered:
        if found.layer is not None:
            better = Bend((*one.layers.layers, found.layer))
            if _taken(better, bend, missed, now, tuning):
                return Bent(better, found.whitening, better if found.given else kept)
    return None


def _taken(better: Bend, bend: Bend, missed: Array, now: Array, tuning: Bending) -> bool:
    """Whether a bend is taken in place of the current one, by losses of held-out gradients."""
    again = [layer.driver for layer in better.layers] == [layer.driver for layer in bend.layers]
    if not _clearly(missed, now, tuning.again_share if again else tuning.share, tuning):
        return False
    # Coordinates that fit a few points far out, and others worse, are not those of the density.
    return again or bool((missed < now).mean() >= tuning.everywhere)


def _by_losses(fitted: list[tuple[_Candidate, Match]], tuning: Bending) -> list[tuple[Array, _Candidate, Match]]:
    """With losses of held-out gradients, the smallest first; without what fits no part of them."""
    found = []
    for one, each in fitted:
        with suppress(np.linalg.LinAlgError):
            found.append((one.held_out(each, tuning), one, each))
    return sorted(found, key=lambda triple: float(triple[0].mean()))


def _centred(straight: Training, tuning: Bending) -> list[_Candidate]:
    """Behind the centring of a hierarchy; none where gradients show no centre."""
    layer = centring(straight.points, straight.gradients, tuning)
    return [] if layer is None else [_Candidate(bend := Bend((layer,)), _behind(straight, bend), None)]


def _clearly(missed: Array, now: Array, share: float, tuning: Bending) -> bool:
    """Whether one of two losses of the same points is smaller, by its mean and for its standard error."""
    gain = now - missed
    sure = gain.mean() > tuning.sure * gain.std() / np.sqrt(len(gain))
    return bool(sure and missed.mean() < share * now.mean() - tuning.better)


def _by_driver(base: _Candidate, whitening: Whitening, tuning: Bending) -> list[_Candidate]:
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
    weights = np.sqrt(trust(slopes - z))[:, None]
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
    """Sum of squares that a linear regression leaves."""
    return float(((target - features @ np.linalg.lstsq(features, target, rcond=None)[0]) ** 2).sum())


def _latest(training: Training, tuning: Bending) -> Training:
    """The latest points with gradients."""
    usable = np.flatnonzero(np.isfinite(training.gradients).all(axis=1))
    most = tuning.points * max(1, training.points.shape[1] // 10)
    return training.where(usable[-most:])


def _plausible(archive: Archive, height: float) -> Training:
    """Points without a bend that are at most so much above the lowest behind it; all, where these are few."""
    straight = archive.straight()
    heights = straight.values - archive.bend.log_jacobians(archive.bend.inverse(straight.points))
    sloped = np.isfinite(straight.gradients).all(axis=1)
    near = np.flatnonzero(sloped & (heights <= heights.min() + height))
    return straight.where(near) if len(near) > 2 * archive.dim else straight


def _behind(training: Training, bend: Bend) -> Training:
    """Points and gradients in bent coordinates."""
    points = bend.inverse(training.points)
    return replace(training, points=points, gradients=-bend.pulled_back(-training.gradients, points))
