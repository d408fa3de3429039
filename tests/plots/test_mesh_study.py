"""Content of the figure of the mesh study."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.parallel import mesh_study
from rnshmc.plots.style import save

CELLS = {"direct": (30, 60), "multigrid": (30, 60, 120)}


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "cells": cells,
            "solver": solver,
            "ranks": ranks,
            "error_uniform": 0.3 / cells**2,
            "error": 0.5 / cells**2 if cells < 120 else np.nan,
            "value_and_grad_s": cells**2 / ranks / 1e6,
            "gain": 2.0 + ranks,
            "loaded": (cells, ranks) == (60, 2),
        }
        for solver, meshes in CELLS.items()
        for cells, ranks in product(meshes, (1, 2))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def figure(table: pd.DataFrame) -> Figure:
    return mesh_study(table)


def test_every_solver_and_number_of_ranks_has_its_curve(figure: Figure, table: pd.DataFrame) -> None:
    _, seconds, gain = figure.axes
    for ax, column in ((seconds, "value_and_grad_s"), (gain, "gain")):
        curves = [np.array(line.get_xydata()) for line in ax.lines]
        assert len(curves) == 4
        expected = [rows[["cells", column]].to_numpy() for _, rows in table.groupby(["solver", "ranks"], sort=False)]
        for curve, rows in zip(curves, expected, strict=True):
            assert_allclose(curve, rows)


def test_curves_are_told_apart_without_colour(figure: Figure) -> None:
    (legend,) = figure.legends
    looks = {(line.get_marker(), str(line.get_linestyle())) for line in legend.get_lines()}
    labels = [text.get_text() for text in legend.get_texts()]
    assert labels == [
        "direct, 1 rank",
        "direct, 2 ranks",
        "multigrid, 1 rank",
        "multigrid, 2 ranks",
        "timed under load",
    ]
    assert len(looks) == len(labels)


def test_what_was_timed_under_load_is_hollow(figure: Figure, table: pd.DataFrame) -> None:
    hollow = sum(int((np.asarray(dots.get_facecolor())[:, 3] == 0).sum()) for dots in figure.axes[1].collections)
    assert hollow == table["loaded"].sum() == 2


def test_errors_are_drawn_once_with_a_line_of_order_two(figure: Figure) -> None:
    uniform, error, guide = (np.array(line.get_xydata()) for line in figure.axes[0].lines)
    assert_allclose(guide, uniform)
    assert_allclose(error[:2, 1], [0.5 / 900, 0.5 / 3600])


def test_equal_tables_give_equal_bytes(table: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("png", "pdf"):
        paths = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
        for path in paths:
            save(mesh_study(table), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()
