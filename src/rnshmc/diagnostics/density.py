"""Density estimates for plots: histograms smoothed by a Gaussian of Scott's bandwidth."""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
from scipy.ndimage import gaussian_filter, gaussian_filter1d

from rnshmc.types import Array

BINS, JOINT_BINS = 60, 40
"""Number of bins of a density, and of a joint density along each axis."""
CONTENT = (0.9, 0.5)
"""Posterior probability inside the contours of two-dimensional marginals, outermost first."""


Interval = tuple[float, float]


def support(samples: Iterable[Array]) -> Interval:
    """An interval that contains all samples, with a margin on either side."""
    pooled = np.concatenate(list(samples))
    margin = float(0.1 * np.ptp(pooled)) or 0.5
    return float(pooled.min()) - margin, float(pooled.max()) + margin


def density(sample: Array, interval: Interval) -> tuple[Array, Array]:
    """Points of an interval and the density of a sample of shape (n,) there."""
    edges = _edges(interval, BINS)
    histogram, _ = np.histogram(sample, edges, density=True)
    return _centres(edges), np.asarray(gaussian_filter1d(histogram, _scott_bins(sample, edges, 1), mode="constant"))


def density2(x: Array, y: Array, x_interval: Interval, y_interval: Interval) -> tuple[Array, Array, Array]:
    """Points along both axes and the joint density of two samples there, of shape (`JOINT_BINS`, `JOINT_BINS`)."""
    x_edges, y_edges = _edges(x_interval, JOINT_BINS), _edges(y_interval, JOINT_BINS)
    histogram, _ = np.histogramdd(np.column_stack([x, y]), [x_edges, y_edges], density=True)
    widths = (_scott_bins(x, x_edges, 2), _scott_bins(y, y_edges, 2))
    return _centres(x_edges), _centres(y_edges), np.asarray(gaussian_filter(histogram, widths, mode="constant"))


def content_levels(heights: Array) -> list[float]:
    """Density levels whose superlevel sets contain the probabilities `CONTENT`, increasing."""
    descending = np.sort(heights, axis=None)[::-1]
    content = np.cumsum(descending) / descending.sum()
    return [float(descending[np.searchsorted(content, share)]) for share in CONTENT]


def _scott_bins(sample: Array, edges: Array, dimensions: int) -> float:
    """Scott's bandwidth in bins, at least half a bin."""
    bandwidth = sample.std() * sample.size ** (-1 / (dimensions + 4))
    return max(float(bandwidth / (edges[1] - edges[0])), 0.5)


def joint_cells(x: Array, interval: Interval) -> npt.NDArray[np.int64]:
    """Index, 0 to `JOINT_BINS` - 1, of the joint density's bin that contains each point of an interval."""
    return np.searchsorted(_edges(interval, JOINT_BINS), x) - 1


def joint_places(interval: Interval) -> Array:
    """Centres of the bins of a joint density along an axis."""
    return _centres(_edges(interval, JOINT_BINS))


def interval_of(places: Array) -> Interval:
    """The interval from which `density` made these points."""
    margin = float(places[1] - places[0]) / 2
    return float(places[0]) - margin, float(places[-1]) + margin


def _edges(interval: Interval, bins: int) -> Array:
    return np.asarray(np.linspace(*interval, bins + 1))


def _centres(edges: Array) -> Array:
    return np.asarray((edges[:-1] + edges[1:]) / 2)
