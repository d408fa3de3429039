"""Densities of draws for pictures: histograms smoothed by a Gaussian of Scott's width."""

from collections.abc import Iterable

import numpy as np
from scipy.ndimage import gaussian_filter, gaussian_filter1d

from rnshmc.types import Array

BINS = 60
CONTENT = (0.9, 0.5)
"""Posterior content of the contours of two-dimensional marginals, outermost first."""


Interval = tuple[float, float]


def support(samples: Iterable[Array]) -> Interval:
    """An interval that holds all the samples, with some room on either side."""
    pooled = np.concatenate(list(samples))
    margin = float(0.1 * np.ptp(pooled)) or 0.5
    return float(pooled.min()) - margin, float(pooled.max()) + margin


def density(sample: Array, interval: Interval) -> tuple[Array, Array]:
    """Places in an interval and the heights of the density of a sample of shape (n,) there."""
    edges = _edges(interval)
    histogram, _ = np.histogram(sample, edges, density=True)
    return _centres(edges), np.asarray(gaussian_filter1d(histogram, _scott_bins(sample, edges, 1), mode="constant"))


def density2(x: Array, y: Array, x_interval: Interval, y_interval: Interval) -> tuple[Array, Array, Array]:
    """Places along both axes and the heights, shape (`BINS`, `BINS`), of the joint density of two samples."""
    x_edges, y_edges = _edges(x_interval), _edges(y_interval)
    histogram, _ = np.histogramdd(np.column_stack([x, y]), [x_edges, y_edges], density=True)
    widths = (_scott_bins(x, x_edges, 2), _scott_bins(y, y_edges, 2))
    return _centres(x_edges), _centres(y_edges), np.asarray(gaussian_filter(histogram, widths, mode="constant"))


def content_levels(heights: Array) -> list[float]:
    """Heights above which a density holds `CONTENT`, increasing."""
    descending = np.sort(heights, axis=None)[::-1]
    content = np.cumsum(descending) / descending.sum()
    return [float(descending[np.searchsorted(content, share)]) for share in CONTENT]


def _scott_bins(sample: Array, edges: Array, dimensions: int) -> float:
    """Scott's bandwidth in bins, half a bin at least."""
    bandwidth = sample.std() * sample.size ** (-1 / (dimensions + 4))
    return max(float(bandwidth / (edges[1] - edges[0])), 0.5)


def _edges(interval: Interval) -> Array:
    return np.asarray(np.linspace(*interval, BINS + 1))


def _centres(edges: Array) -> Array:
    return np.asarray((edges[:-1] + edges[1:]) / 2)
