"""Coordinates fitted by a match of gradients: where a posterior is standard normal in z, its gradient by z is z."""

from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.bend import Layer
from rnshmc.inference.surrogate.layered import Layered, behind, losses, minimised, trust
from rnshmc.inference.surrogate.whitening import Secants, Whitening
from rnshmc.inference.tuning_start import Bending
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Match:
    """Coordinates fitted to gradients.

    Attributes
    ----------
    layer
        From y to x; None where y is x.
    whitening
        From y to z.
    """

    layer: Layer | None
    whitening: Whitening

    def residuals(self, points: Array, gradients: Array) -> Array:
        """Gradients by z, less z, from points and gradients in x: shape (n, d)."""
        z, slopes = self.whitened(points, gradients)
        return slopes - z

    def whitened(self, points: Array, gradients: Array) -> tuple[Array, Array]:
        """z, and gradients by z."""
        y, slopes = behind(self.layer, points, gradients)
        return self.whitening.whiten(y), self.whitening.slopes(slopes)


def match(points: Array, gradients: Array, whitening: Whitening, driver: int | None, tuning: Bending) -> Match:
    """The layer of a driver, and the whitening behind it, that match gradients best.

    They minimise the sum of `losses`, times d, and a weak quadratic penalty on the parameters of the layer. The minimum
    is searched from several starts: units of the given whitening and of the spread of the points, a layer that is the
    identity and one that scales as the lengths of gradients do. The lowest one is returned.

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
    found = []
    for units in (whitening, _by_spread(points, whitening.centre)):
        layer = Layered.of(points, gradients, units, driver, tuning)
        starts = [np.zeros(len(layer.penalties))]
        if driver is not None:
            starts.append(layer.by_sizes(tuning.steepest))
        found += [_alternated(layer, start, tuning) for start in starts]
    return min(found, key=lambda one: float(losses(one.residuals(points, gradients)).sum()))


def rematched(found: Match, points: Array, gradients: Array, tuning: Bending) -> Match:
    """A match of other points, searched from one that was found."""
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


def _alternated(layered: Layered, at: Array, tuning: Bending) -> Match:
    """A layer with scales and shifts of the whitened coordinates, and the Hessian that gradients show, in turns."""
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
    """The whitening by the Hessian that gradients show, each with the weight that it has in the match."""
    z, slopes = found.whitened(points, gradients)
    weights = trust(slopes - z)
    middle, level = (weights @ each / weights.sum() for each in (z, slopes))
    curvatures, directions = np.linalg.eigh(Secants(z - middle, slopes - level, weights).hessian())
    curvatures = np.clip(np.abs(curvatures), 1.0 / tuning.most_curved, tuning.most_curved)
    centre = middle - directions @ ((directions.T @ level) / curvatures)
    return found.whitening.moved(found.whitening.unwhiten(centre[None])[0]).curved(curvatures, directions)
