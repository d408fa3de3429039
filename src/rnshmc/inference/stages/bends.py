"""Bent coordinates, where they explain the gradients of all points so far better than the current ones."""

from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Archive, Training
from rnshmc.inference.surrogate.layered import centring, recentred
from rnshmc.inference.surrogate.matching import Candidate, Match, by_driver, match_given, scaling
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Bending, Fitting
from rnshmc.inference.tuning_shared import AGAIN, TOLERATED
from rnshmc.inference.warp import STRAIGHT, Warp
from rnshmc.types import Array

NEARLY_ALL = 1.0 - TOLERATED
"""Share of the points at which the loss of a new warp has to be smaller. On 24 seeds of log-gamma densities, 0.57 to
0.82 for warps that the other criteria took, half of which cost 1000 units and more; on twisted Gaussians, funnels and
eight schools, 0.94 to 1."""


@dataclass(frozen=True, eq=False)
class Bent:
    """A bend, and the whitening of the coordinates behind it.

    ``kept`` is the part of the bend, up to its latest simple layer, that stays whatever more gradients show:
    see `simplified`.
    """

    bend: Warp
    whitening: Whitening
    kept: Warp = STRAIGHT


class Watch:
    """Searches for a bend where a descent takes long, unless it is idle: a funnel has its mode far from its mass.

    ``found`` is the bend; None until there is one.
    """

    def __init__(self, archive: Archive, tuning: Bending, *, idle: bool) -> None:
        self._archive, self._tuning, self._idle = archive, tuning, idle
        self._next = tuning.first[0] + tuning.first[1] * archive.dim
        self.found: Bent | None = None

    def __call__(self, whitening: Whitening) -> bool:
        """Whether a bend is found, so that the descent may end."""
        if self.found is None and not self._idle and (count := len(self._archive.slopes().points)) >= self._next:
            self._next = int(AGAIN * count)
            self.found = better_bend(self._archive, whitening, self._tuning)
        return self.found is not None


def better_bend(
    archive: Archive,
    whitening: Whitening,
    tuning: Bending,
    *,
    begun: Whitening | None = None,
    kept: Warp = STRAIGHT,
    above: float = 0.0,
) -> Bent | None:
    """The bend that matches held-out gradients best; None if it is not clearly better than the current one.

    It has one layer more than the kept part, or than the current bend, or two more than none: a centring, and another.
    So it may have as many as the current bend, the last one fitted again. Whitenings are those of the current
    coordinates, now and when the current bend was taken, ``begun``; None: the same. ``above`` is the loss of held-out
    gradients in the current coordinates up to which none is searched.
    """
    if not archive.has_gradient or not 1 < archive.dim <= tuning.most_dim:
        return None
    found, few = None, archive.dim + tuning.folds
    sloped, heights = _heights(archive)
    for straight in (_latest(_lowest(sloped, heights, tuning), tuning), _latest(sloped, tuning)):
        # Far points are informative, too, where they follow the same law.
        if found is None and len(straight.points) > few:
            few = len(straight.points) + archive.dim
            with suppress(np.linalg.LinAlgError), np.errstate(over="ignore", invalid="ignore"):
                found = _best(straight, archive.bend, kept, whitening, begun or whitening, tuning, above)
    return found


def no_bend(
    archive: Archive, whitening: Whitening, tuning: Bending, *, height: float, begun: Whitening, kept: Warp = STRAIGHT
) -> Bent | None:
    """Coordinates of the kept part of a bend, where the bend does not explain nearly every gradient better; else None.

    A bend may have been taken on the evidence of few points. Points count that are at most ``height`` above the lowest
    behind the bend, where there are enough: a descent comes from where gradients may follow another law. Whitenings are
    those of the bent coordinates, now and when the bend was taken, ``begun``.
    """
    if archive.bend.layers == kept.layers:
        return None
    sloped, heights = _heights(archive)
    near = np.flatnonzero(heights <= height)
    straight = _latest(sloped.where(near) if len(near) > 2 * archive.dim else sloped, tuning)
    bent, plain = (Candidate.behind(one, straight) for one in (archive.bend, kept))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            now = bent.held_out(_without_another(bent, whitening, begun, tuning), tuning)
            found = plain.matched(whitening, tuning)
            missed = plain.held_out(found, tuning)
    except np.linalg.LinAlgError:
        return None
    return Bent(kept, found.whitening, kept) if (now < missed).mean() < NEARLY_ALL else None


def _without_another(current: Candidate, whitening: Whitening, begun: Whitening, tuning: Bending) -> Match:
    """The match of the current coordinates, with no layer more."""
    matches = (current.matched(whitening, tuning), Match(None, begun).again(current.seen, tuning))
    return min(matches, key=lambda one: float(current.missed(one).mean()))


def _best(
    straight: Training,
    bend: Warp,
    kept: Warp,
    whitening: Whitening,
    begun: Whitening,
    tuning: Bending,
    above: float,
) -> Bent | None:
    """As `better_bend`, from the points and gradients without a bend."""
    current = Candidate.behind(bend, straight)
    now = current.held_out(_without_another(current, whitening, begun, tuning), tuning)
    if not now.mean() > max(above, tuning.better / tuning.again_share):
        return None
    bases = [Candidate.behind(kept, straight)]
    if not kept.layers and (centre := centring(straight.points, straight.gradients, tuning)) is not None:
        bases.append(Candidate.behind(Warp((centre,)), straight))
    if bend.layers != kept.layers:
        bases.append(current)
    candidates = [one for base in bases for one in by_driver(base, whitening, tuning)]
    fitted = []
    for one in candidates:
        with suppress(np.linalg.LinAlgError):
            fitted.append((one, one.matched(whitening, tuning)))
    if bend.layers != kept.layers:
        same = Candidate.behind(Warp(bend.layers[:-1]), straight, bend.layers[-1].driver)
        fitted.append((same, Match(bend.layers[-1], begun).again(same.seen, tuning)))
    fitted.sort(key=lambda pair: float(pair[0].missed(pair[1]).mean()))
    finalists = fitted[: tuning.finalists]
    simple = []
    for one, found in finalists:
        with suppress(np.linalg.LinAlgError):
            if (near := one.simplified(found, tuning)) is not None:
                simple.append(_on_the_centre(one, near, straight, tuning))
    # Gradients that are held out are matched no better than with them.
    losses = [float(one.missed(found).mean()) for one, found in (*finalists, *simple)]
    if not np.nanmin([*losses, np.inf]) < tuning.again_share * now.mean() - tuning.better:
        return None
    offered, simplest = (_by_losses(some, tuning) for some in (finalists, simple))
    offered, simplest = offered[:1], _centred_first(simplest, tuning)[:1]
    # Among layers that explain the points about as well, a simple one is right elsewhere, too.
    if simplest and not (offered and _clearly(offered[0][0], simplest[0][0], tuning.again_share, tuning)):
        offered = simplest + offered
    for missed, one, found in offered:
        if found.layer is not None:
            better = Warp((*one.layers.layers, found.layer))
            if _taken(better, bend, missed, now, tuning):
                return Bent(better, found.whitening, better if found.given else kept)
    return None


def _on_the_centre(one: Candidate, found: Match, straight: Training, tuning: Bending) -> tuple[Candidate, Match]:
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
            other = Candidate.behind(Warp((*before, recentred(layer, c))), straight, one.driver)
            simple = scaling(found.layer, other.effects, power)
            with suppress(np.linalg.LinAlgError):
                tried.append((other, match_given(simple, other.seen, tuning)))
    # Far out a layer may overflow.
    missed = [float(np.nan_to_num(each.missed(its).mean(), nan=np.inf)) for each, its in tried]
    as_good = [pair for pair, each in zip(tried, missed, strict=True) if each <= min(missed) + tuning.better]
    least = min(as_good, key=lambda pair: pair[1].coupling)
    return least if least[1].coupling < tuning.coupled else tried[0]


def _taken(better: Warp, bend: Warp, missed: Array, now: Array, tuning: Bending) -> bool:
    """Whether a bend replaces the current one, by losses of held-out gradients."""
    again = [layer.driver for layer in better.layers] == [layer.driver for layer in bend.layers]
    if not _clearly(missed, now, tuning.again_share if again else tuning.share, tuning):
        return False
    # Coordinates that fit a few points far out, and others worse, do not belong to the density.
    return again or bool((missed < now).mean() >= NEARLY_ALL)


def _by_losses(fitted: list[tuple[Candidate, Match]], tuning: Bending) -> list[tuple[Array, Candidate, Match]]:
    """With losses of held-out gradients, the smallest first; without matches that cannot be fitted to a part."""
    found = []
    for one, each in fitted:
        with suppress(np.linalg.LinAlgError):
            found.append((one.held_out(each, tuning), one, each))
    return sorted(found, key=lambda triple: float(triple[0].mean()))


def _centred_first(
    ranked: list[tuple[Array, Candidate, Match]], tuning: Bending
) -> list[tuple[Array, Candidate, Match]]:
    """Matches not clearly worse than the best: those that scale the effects around a centre first, then fewer layers.

    Near a centre of 0, effects and centre shrink together, as if all were scaled.
    """
    as_good = [one for one in ranked if not _clearly(ranked[0][0], one[0], tuning.share, tuning)]
    return sorted(as_good, key=lambda one: (not one[1].scales_effects(one[2]), len(one[1].layers.layers)))


def _clearly(missed: Array, now: Array, share: float, tuning: Bending) -> bool:
    """Whether the first of two losses at the same points is smaller, by its mean and by standard errors."""
    gain = now - missed
    sure = gain.mean() > tuning.sure * gain.std() / np.sqrt(len(gain))
    return bool(sure and missed.mean() < share * now.mean() - tuning.better)


def _latest(training: Training, tuning: Bending) -> Training:
    """As many of the latest points as are matched."""
    most = tuning.points * max(1, training.points.shape[1] // 10)
    return training.where(np.arange(len(training.points))[-most:])


def _lowest(sloped: Training, heights: Array, tuning: Bending) -> Training:
    """Points that are not far above the lowest behind the bend, or the lowest ones if these are few.

    Far up, gradients may follow another law, as those of a logistic regression are bounded.
    """
    dim = sloped.points.shape[1]
    most = max(int((heights <= Fitting().plausible_height(dim)).sum()), int(tuning.fewest * dim) + tuning.folds)
    return sloped.where(np.sort(np.argsort(heights, kind="stable")[:most]))


def _heights(archive: Archive) -> tuple[Training, Array]:
    """Points with gradients, without a bend, and potentials behind it above the lowest: infinite off its range."""
    straight = archive.seen(STRAIGHT).training()
    sloped = straight.where(np.flatnonzero(np.isfinite(straight.gradients).all(axis=1)))
    with np.errstate(over="ignore", invalid="ignore"):
        heights = sloped.values - archive.bend.log_jacobians(archive.bend.inverse(sloped.points))
    heights = np.where(np.isfinite(heights), heights, np.inf)
    return sloped, heights - heights.min(initial=np.finfo(float).max)
