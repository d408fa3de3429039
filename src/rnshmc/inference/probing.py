"""Gradients in the directions that a descent has not seen, at the distance of typical draws."""

import numpy as np

from rnshmc.inference.archive import Archive
from rnshmc.inference.descent import Mode, secants
from rnshmc.inference.evaluations import Evaluation
from rnshmc.inference.gradients import evaluate_with_gradients
from rnshmc.inference.whitening import NEAR, Whitening, improved, secant_hessian, unexplored
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
        whitening, steps = _refined(archive, whitening)
        left = unexplored(steps)
        count = min(size, left.shape[1])
        if count == 0:
            break
        mixed = np.linalg.qr(rng.standard_normal((left.shape[1], count)))[0]
        probes = np.sqrt(d) * (left @ mixed).T
        found = evaluate_with_gradients(archive, whitening.unwhiten(probes), whitening, STAGE)
        whitening = _rescaled(whitening, left, _curvature(whitening, probes, found))
    return whitening


def _refined(archive: Archive, whitening: Whitening) -> tuple[Whitening, Array]:
    """The whitening improved by all secants in reach of the best point, and those secants' steps in it."""
    known = archive.slopes()
    best = int(np.argmin(known.values))
    found = [Evaluation(*row, None) for row in zip(known.points, known.values, known.gradients, strict=True)]
    whitening = whitening.moved(found[best].point)
    reach = NEAR * np.sqrt(archive.dim)
    near = [one for one, z in zip(found, whitening.whiten(known.points), strict=True) if 0 < np.linalg.norm(z) < reach]
    if not near:
        return whitening, np.zeros((0, archive.dim))
    whitening = improved(whitening, secant_hessian(*secants(whitening, found[best], near)))
    steps, _ = secants(whitening, found[best], near)
    slope = whitening.slopes(known.gradients[best : best + 1])
    shift = -slope * min(1.0, 1.0 / float(np.linalg.norm(slope)) if slope.any() else 1.0)
    return whitening.moved(whitening.unwhiten(shift)[0]), steps


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
