"""Gradients in the directions that a descent has not seen, at the distance of typical draws."""

import numpy as np

from rnshmc.inference.archive import Archive
from rnshmc.inference.descent import Mode, gradient_of, secants
from rnshmc.inference.evaluations import Evaluation
from rnshmc.inference.gradients import evaluate_with_gradients
from rnshmc.inference.whitening import NEAR, Secants, Whitening, improved
from rnshmc.types import Array

STAGE = "directions"
BATCHES = 6
"""Directions are probed in about this many batches: each sets the scale of the next."""


def probe(archive: Archive, mode: Mode, rng: np.random.Generator) -> Whitening:
    """The whitening with a curvature measured in every direction; its centre is where gradients say the mode is.

    Each batch takes some of the whitened directions that no secant has explored, orthogonal to one another, at distance
    sqrt(d) of the mode: a secant each, and a training point where training points should be. Directions still unseen
    take on the geometric mean of the curvatures just measured.
    """
    whitening, d = mode.whitening, archive.dim
    size = max(2, d // BATCHES)
    for _ in range(4 * BATCHES):
        whitening, known = _refined(archive, whitening)
        left = known.unexplored()
        count = min(size, left.shape[1])
        if count == 0:
            break
        mixed = np.linalg.qr(rng.standard_normal((left.shape[1], count)))[0]
        probes = np.sqrt(d) * (left @ mixed).T
        found = evaluate_with_gradients(archive, whitening.unwhiten(probes), whitening, STAGE)
        whitening = _rescaled(whitening, left, _curvature(whitening, probes, found))
    return whitening


def _refined(archive: Archive, whitening: Whitening) -> tuple[Whitening, Secants]:
    """The whitening improved by all secants in reach of the best point, and those secants in it."""
    known = archive.slopes()
    found = [Evaluation(*row, None) for row in zip(known.points, known.values, known.gradients, strict=True)]
    near = _in_reach(whitening, found)
    best = min(near, key=lambda one: one.value)
    whitening = whitening.moved(best.point)
    near = _in_reach(whitening, found)
    whitening = improved(whitening, secants(whitening, best, near).hessian())
    reached = secants(whitening, best, near)
    slope = whitening.slopes(gradient_of(best)[None])
    shift = -slope * min(1.0, 1.0 / float(np.linalg.norm(slope)) if slope.any() else 1.0)
    return whitening.moved(whitening.unwhiten(shift)[0]), reached


def _in_reach(whitening: Whitening, found: list[Evaluation]) -> list[Evaluation]:
    """The points near the centre; the nearest alone if none is."""
    lengths = np.linalg.norm(whitening.whiten(np.array([one.point for one in found])), axis=1)
    reach = max(NEAR * np.sqrt(len(whitening.centre)), float(lengths.min()))
    return [one for one, length in zip(found, lengths, strict=True) if length <= reach]


def _curvature(whitening: Whitening, probes: Array, found: list[Evaluation]) -> float:
    """Geometric mean of the curvatures along the probes; a tenth of the assumed one where none is positive."""
    curvatures = [
        float(z @ whitening.slopes(one.gradient[None])[0] / (z @ z))
        for z, one in zip(probes, found, strict=True)
        if one.gradient is not None
    ]
    if not curvatures:
        return 10.0  # nothing but failures out there: nearer, next time
    return float(np.exp(np.mean(np.log(np.clip(curvatures, 0.01, 100.0)))))


def _rescaled(whitening: Whitening, directions: Array, curvature: float) -> Whitening:
    """With another curvature in the span of some whitened directions."""
    d = len(directions)
    basis = np.linalg.qr(np.column_stack((directions, np.eye(d))))[0][:, :d]
    curvatures = np.ones(d)
    curvatures[: directions.shape[1]] = curvature
    return whitening.curved(curvatures, basis)
