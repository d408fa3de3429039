"""Smoothed histograms against the densities behind the samples."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.stats import norm

from rnshmc.diagnostics.density import (
    JOINT_BINS,
    content_levels,
    density,
    density2,
    interval_of,
    joint_cells,
    joint_places,
    support,
)
from rnshmc.random import stream


def test_the_density_of_a_sample_is_near_the_density_it_was_drawn_from() -> None:
    sample = stream(1, "density").normal(2.0, 3.0, size=50_000)
    x, heights = density(sample, support([sample]))
    assert_allclose(heights.sum() * (x[1] - x[0]), 1.0, atol=1e-3)
    # In units of sd, Scott's width is h = 0.115: bias h^2 / 2 of the curvature, which is the peak's height (0.7%), and
    # standard deviation sqrt(p / (2 sqrt(pi) n h)), 0.7% of the peak there. Over 25
    # seeds the largest error is 2.0% with a spread of 0.33%: nine of these.
    assert_allclose(heights, norm.pdf(x, 2.0, 3.0), atol=0.05 * float(norm.pdf(0.0)) / 3.0)


def test_contours_hold_the_content_they_say() -> None:
    sample = stream(1, "content").normal(size=(100_000, 2))
    x, y, heights = density2(sample[:, 0], sample[:, 1], (-4.0, 4.0), (-4.5, 4.5))
    cell = (x[1] - x[0]) * (y[1] - y[0])
    outer, inner = content_levels(heights)
    assert outer < inner
    for level, content in ((outer, 0.9), (inner, 0.5)):
        # A contour between cells takes in or leaves out one cell at most.
        assert abs(heights[heights >= level].sum() * cell - content) <= heights.max() * cell + 1e-3
        # A Gaussian's contour that holds p has 1 - p of the height of the peak; the smoothing widens it by h^2 = 2%,
        # and the counts of a smoothed cell leave an error: over 25 seeds -0.3% and -4.2%, with
        # spreads of 1.9% and 0.8%.
        assert_allclose(level, (1 - content) / (2 * np.pi), rtol=0.13)


def test_the_support_holds_all_samples_with_room() -> None:
    low, high = support([np.array([0.0, 1.0]), np.array([9.0, 10.0])])
    assert (low, high) == (-1.0, 11.0)
    low, high = support([np.ones(5)])
    assert low < 1.0 < high


def test_places_of_a_joint_density_lie_in_their_bins() -> None:
    interval = (-2.0, 7.0)
    assert joint_cells(joint_places(interval), interval).tolist() == list(range(JOINT_BINS))


def test_the_interval_of_a_density_is_known_from_its_places() -> None:
    x, _ = density(np.array([0.0, 1.0, 5.0]), (-2.0, 7.0))
    assert_allclose(interval_of(x), (-2.0, 7.0))
