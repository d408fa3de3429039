"""Curvatures in the directions that a descent has not explored, at the distance of typical draws."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.linalg import solve_triangular

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.stages.descent import Mode, Watch, descend_on, far_below, unwatched
from rnshmc.inference.stages.differences import evaluate_with_gradients, search_decay_scales
from rnshmc.inference.surrogate.whitening import Secants, Whitening, gradient_of, improved, secants_from
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import BATCH, TOLERATED, TRIES
from rnshmc.inference.tuning_start import Curvatures, Probing
from rnshmc.types import Array

STAGE = "directions"


def settle(
    archive: Archive, found: Mode, rng: np.random.Generator, tuning: Tuning, *, watch: Watch = unwatched
) -> Mode:
    """The mode after probing, and after further descents with the curvatures found while it is not one.

    Where curvatures are not near one after all batches of two probings, or diverge to a singular Hessian, the Hessian
    is taken not to exist, and scales are distances over which the density falls.
    """
    unconfirmed = 0
    try:
        for _ in range(TRIES if archive.noise < tuning.judging.noisy else int(tuning.descent.noisy * TRIES)):
            probed = probe(archive, found, rng, tuning)
            if probed.converged or watch(probed.whitening):
                return probed
            unconfirmed += np.isinf(probed.distance) and probed.value == found.value
            if unconfirmed > 1:
                return _by_decay(archive, tuning)
            found = descend_again(archive, probed.whitening, tuning, watch=watch)
        return found
    except np.linalg.LinAlgError:
        return _by_decay(archive, tuning)


def descend_again(archive: Archive, whitening: Whitening, tuning: Tuning, *, watch: Watch = unwatched) -> Mode:
    """A descent from the lowest of all points near the centre of coordinates."""
    near = _in_reach(whitening, _with_slopes(archive), tuning.curvatures.near)
    return descend_on(archive, near, whitening, tuning, watch=watch)


def probe(archive: Archive, mode: Mode, rng: np.random.Generator, tuning: Tuning) -> Mode:
    """The mode, with a curvature measured in every direction, centred at the minimum that gradients predict.

    `Mode.distance` is infinite where it is no mode: as soon as a potential is found that is far below, and where the
    batches run out before curvatures are near one. A descent in a narrow curved valley may end anywhere.

    Each batch evaluates some orthogonal whitened directions that no secant has explored, at distance sqrt(d) from the
    mode. Each gives a secant and a training point. The remaining directions take the geometric mean of the curvatures
    just measured. Once all directions are explored, a few random ones check the Hessian. If their curvatures are not
    near 1, the assumed third derivative grows, secants count over shorter distances, and probing continues. If they
    are, directions in which their secants make the Hessian much smaller are probed, too: curvatures along random
    directions are means of eigenvalues, and hide a small one, as along the ridge of an intercept and a slope. The
    curvatures measured there replace those of the secants, which may outweigh them. Where all that leads to a place
    without draws, there is no Hessian, and scales are those over which the density falls.

    A batch of many directions is informative. If the Hessian predicts the gradients there, the others are left
    alone. If not, a few large curvatures that they have in common are known from it (`_low_rank`), as where data inform
    few directions and the prior all others.
    """
    whitening, d = mode.whitening, archive.dim
    own, curved = tuning.probing, tuning.curvatures
    quiet, passed, unconfirmed = archive.noise < tuning.judging.noisy, False, False
    for _ in range(own.batches + TRIES if quiet else BATCH):
        refined, known, lowest = _refined(archive, whitening, curved)
        soft = _softened(whitening, refined.whitening, own.softer) if passed and quiet else np.zeros((d, 0))
        left = known.unexplored()
        seen = left.shape[1] == 0
        if passed and (seen or not quiet) and not soft.shape[1]:
            break
        # The checks may have changed the whitening so much that a direction is not known any more.
        whitening, passed = refined.whitening, passed and seen
        span = soft if passed else np.eye(d) if seen else left
        count = max(own.fewest_checked, d // own.batches // 2) if seen else max(2, d // own.batches)
        count = min(count, span.shape[1])
        mixed = np.linalg.qr(rng.standard_normal((span.shape[1], count)))[0]
        probes = np.sqrt(d) * (span @ mixed).T
        # On the far side of the lowest point: steps from there are then independent.
        probes[probes @ whitening.whiten(lowest.point[None])[0] > 0.0] *= -1.0
        found = evaluate_with_gradients(archive, whitening.unwhiten(probes), whitening, tuning.differences, STAGE)
        if min(one.value for one in found) < mode.value - far_below(archive):
            return Mode(whitening, min(one.value for one in found), np.inf)
        steps, changes = _changes(lowest, whitening, probes, found)
        between = _between(steps, changes)
        curvatures = between.diagonal()
        if not seen and len(steps) >= own.telling:
            if ((changes - steps) ** 2).sum(axis=1).mean() < own.predicted:
                break
            curvatures, inside = np.linalg.eigh(_low_rank(steps @ left, changes @ left, own))
            whitening = _curved_in(whitening, left @ inside, np.clip(curvatures, 0.01, 100.0))
        elif not seen:
            whitening = _rescaled(whitening, left, curvatures)
        elif _near_one(between, own.near_one):
            passed = True
        elif passed:
            passed, whitening = False, _rescaled(whitening, soft, curvatures)
        else:
            curved = replace(curved, third_order=own.near_one * curved.third_order)
    else:
        # Next to a density of zero nothing can be confirmed.
        unconfirmed = quiet and all(np.isfinite(one.value) for one in found)
    # Every direction has a known curvature now: a Newton step may be as long as the distance of draws.
    ended = _refined(archive, whitening, curved, longest=np.sqrt(d))[0]
    if quiet and ended.value > mode.value + tuning.fitting.plausible_height(d):
        return _by_decay(archive, tuning)
    return replace(mode, whitening=whitening, distance=np.inf) if unconfirmed else ended


def _by_decay(archive: Archive, tuning: Tuning) -> Mode:
    """The lowest point as a mode, where no Hessian predicts gradients near it: the density may have a kink."""
    lowest = archive.lowest
    whitening, distance = search_decay_scales(archive, lowest, Whitening.by_size(lowest.point), tuning, STAGE)
    return Mode(whitening, lowest.value, distance)


def _with_slopes(archive: Archive) -> list[Evaluation]:
    known = archive.slopes()
    return [Evaluation(*row, None) for row in zip(known.points, known.values, known.gradients, strict=True)]


def _refined(
    archive: Archive, whitening: Whitening, tuning: Curvatures, longest: float = 1.0
) -> tuple[Mode, Secants, Evaluation]:
    """The whitening fitted to all secants within reach of the lowest point, those secants in its coordinates, and it.

    The centre is a Newton step from the lowest point, of whitened length ``longest`` at most.
    """
    found = _with_slopes(archive)
    best = min(_in_reach(whitening, found, tuning.near), key=lambda one: one.value)
    whitening = whitening.moved(best.point)
    near = _in_reach(whitening, found, tuning.near)
    whitening = improved(whitening, secants_from(best, near, whitening, tuning.third_order).hessian(), tuning)
    reached = secants_from(best, near, whitening, tuning.third_order)
    slope = whitening.slopes(gradient_of(best)[None])
    distance = float(np.linalg.norm(slope))
    shift = -slope / max(1.0, distance / longest)
    return Mode(whitening.moved(whitening.unwhiten(shift)[0]), best.value, distance), reached, best


def _in_reach(whitening: Whitening, found: Sequence[Evaluation], near: float) -> list[Evaluation]:
    """The points near the centre; the nearest point if there is none."""
    lengths = np.linalg.norm(whitening.whiten(np.array([one.point for one in found])), axis=1)
    reach = max(near * np.sqrt(len(whitening.centre)), float(lengths.min()))
    return [one for one, length in zip(found, lengths, strict=True) if length <= reach]


def _between(steps: Array, changes: Array) -> Array:
    """The Hessian in an orthonormal basis of the span of steps (k, d), by changes of the gradient over them.

    The steps begin where the gradient is known: at the centre it is zero only if the Hessian is right, and any
    remaining gradient would hide a small curvature.
    """
    if not len(steps):
        return np.zeros((0, 0))
    basis = np.linalg.cholesky(steps @ steps.T)
    products = solve_triangular(basis, steps @ changes.T, lower=True)
    between = solve_triangular(basis, products.T, lower=True)
    return np.asarray(0.5 * (between + between.T))


def _near_one(between: Array, factor: float) -> bool:
    """Whether curvatures along probes are one within a factor, and no eigenvalue is below its inverse square.

    A curvature along a random direction is a mean of eigenvalues and hides a small one; the span of a few does not.
    """
    curvatures = between.diagonal()
    if not len(curvatures) or not 1.0 / factor < curvatures.min() <= curvatures.max() < factor:
        return False
    return bool(np.linalg.eigvalsh(between).min() > factor**-2)


def _softened(before: Whitening, after: Whitening, softer: float) -> Array:
    """Directions in which the Hessian of a whitening is less than some share of the Hessian of the one before.

    Orthonormal columns in the coordinates of the one after.
    """
    between = solve_triangular(before.factor, after.factor, lower=True)
    curvatures, directions = np.linalg.eigh(between @ between.T)
    return np.asarray(np.linalg.qr(between.T @ directions[:, curvatures < softer])[0])


def _rescaled(whitening: Whitening, directions: Array, curvatures: Array) -> Whitening:
    """The whitening with the geometric mean of some curvatures in the span of whitened directions.

    Without curvatures, because all probes failed, the curvature there is ten times as large.
    """
    mean = float(np.exp(np.log(np.clip(curvatures, 0.01, 100.0)).mean())) if len(curvatures) else 10.0
    return _curved_in(whitening, directions, np.full(directions.shape[1], mean))


def _curved_in(whitening: Whitening, directions: Array, curvatures: Array) -> Whitening:
    """The whitening for curvatures along orthonormal directions, and of one along all others."""
    d = len(directions)
    basis = np.linalg.qr(np.column_stack((directions, np.eye(d))))[0][:, :d]
    return whitening.curved(np.concatenate((curvatures, np.ones(d - len(curvatures)))), basis)


def _changes(
    lowest: Evaluation, whitening: Whitening, probes: Array, found: Sequence[Evaluation]
) -> tuple[Array, Array]:
    """Steps from a point to the probes that did not fail, and changes of the whitened gradient over them."""
    given = [one.gradient is not None for one in found]
    gradients = np.array([gradient_of(one) for one in found if one.gradient is not None]).reshape(-1, probes.shape[1])
    origin = whitening.slopes(gradient_of(lowest)[None])
    return probes[given] - whitening.whiten(lowest.point[None]), whitening.slopes(gradients) - origin


def _low_rank(steps: Array, changes: Array, tuning: Probing) -> Array:
    """A multiple c of the identity plus a positive matrix of low rank that maps steps (k, m) to changes of gradients.

    With an orthonormal basis S of the steps, changes Y = H S and R = Y - c S, H = c I + R (S'R)^-1 R': Nystroem's
    approximation (Halko, Martinsson and Tropp 2011, section 5.4), exact if the rank is less than k. c is small among
    the eigenvalues of S'Y: steps across the low rank have it.
    """
    basis, triangle = np.linalg.qr(steps.T)
    mapped = np.linalg.solve(triangle.T, changes).T
    inner = basis.T @ mapped
    common = max(float(np.quantile(np.linalg.eigvalsh(0.5 * (inner + inner.T)), tuning.common)), 0.01)
    rest = mapped - common * basis
    sizes, vectors = np.linalg.eigh(0.5 * (basis.T @ rest + rest.T @ basis))
    large = sizes > TOLERATED * common
    root = rest @ vectors[:, large] / np.sqrt(sizes[large])
    return np.asarray(common * np.eye(len(basis)) + root @ root.T)
