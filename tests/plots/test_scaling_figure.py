"""Content of the scaling figure."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from rnshmc.plots.parallel import scaling
from rnshmc.types import Array

WORKS = ("pde: solves", "logistic regression: gradient")


@pytest.fixture
def figure() -> Figure:
    rows = [
        (what, 1000, "rows", ranks, repeat, 8.0 / ranks + 0.1 * repeat, 0.0, what == WORKS[0] and ranks == 2, 100.0)
        for what in WORKS
        for ranks in (1, 2, 4)
        for repeat in (1, 2, 3)
    ]
    columns = ["what", "size", "unit", "ranks", "repeat", "seconds", "other_cores", "loaded", "peak_mb"]
    return scaling(pd.DataFrame(rows, columns=columns))


def points(line: Line2D) -> Array:
    return np.array(line.get_xydata(), dtype=np.float64)


def test_lines_go_through_medians_and_dots_are_repeats(figure: Figure) -> None:
    seconds, faster = figure.axes
    for line in seconds.lines:
        np.testing.assert_allclose(points(line), [(1, 8.2), (2, 4.2), (4, 2.2)])
    assert [np.shape(dots.get_offsets()) for dots in seconds.collections] == [(9, 2), (9, 2)]
    np.testing.assert_allclose(points(faster.lines[0])[:, 1], [1, 8.2 / 4.2, 8.2 / 2.2])
    np.testing.assert_allclose(points(faster.lines[-1]), [(1, 1), (2, 2), (4, 4)])


def test_what_was_measured_under_load_is_hollow(figure: Figure) -> None:
    loaded, alone = (np.array(dots.get_facecolor()) for dots in figure.axes[0].collections)
    assert [alpha == 0 for alpha in loaded[:, 3]] == [False] * 3 + [True] * 3 + [False] * 3
    assert (alone[:, 3] == 1).all()
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == [
        "pde: solves, 1,000 rows",
        "logistic regression: gradient, 1,000 rows",
        "in proportion to the ranks",
        "measured under load",
    ]


def test_works_differ_in_more_than_colour(figure: Figure) -> None:
    looks = {(handle.get_marker(), str(handle.get_linestyle())) for handle in figure.legends[0].legend_handles[:2]}  # type: ignore[union-attr]
    assert len(looks) == 2


def test_axes_are_labelled(figure: Figure) -> None:
    assert {(ax.get_xlabel(), ax.get_ylabel()) for ax in figure.axes} == {
        ("MPI ranks", "seconds"),
        ("MPI ranks", "times faster"),
    }
