"""Content of Figs. 4 and 5."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.style import save
from rnshmc.plots.sweeps import acceptance_sweep

CUTS = {"hidden_units": 50, "training_points": 400}
UNITS, SIZES = (10, 50, 90), (100, 400)


def acceptance_at(hidden_units: int, training_points: int, run: int) -> float:
    return hidden_units / 1000 + training_points / 1000 + run / 100


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "d": 32,
            "hidden_units": units,
            "training_points": size,
            "run": run,
            "ap": acceptance_at(units, size, run),
            "hmc_ap": 0.7 + run / 100,
        }
        for units, size, run in product(UNITS, SIZES, range(11))
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def figure(table: pd.DataFrame) -> Figure:
    return acceptance_sweep(table, CUTS)


def test_cells_hold_means_over_runs(figure: Figure) -> None:
    heat = figure.axes[0]
    shown = {(*text.get_position(), text.get_text()) for text in heat.texts}
    assert shown == {
        (along + 0.5, up + 0.5, f"{acceptance_at(units, size, 5):.2f}")
        for (along, units), (up, size) in product(enumerate(UNITS), enumerate(SIZES))
    }
    assert [label.get_text() for label in heat.get_xticklabels()] == ["10", "50", "90"]
    assert [label.get_text() for label in heat.get_yticklabels()] == ["100", "400"]
    low, high = heat.get_ylim()
    assert low < high


def test_the_cuts_are_outlined(figure: Figure) -> None:
    boxes = {patch.get_bbox().bounds for patch in figure.axes[0].patches}  # type: ignore[attr-defined]
    assert boxes == {(1, 0, 1, 2), (0, 1, 3, 1)}


@pytest.mark.parametrize(
    ("panel", "title", "across", "medians"),
    [
        (1, "s = 50", SIZES, [acceptance_at(50, size, 5) for size in SIZES]),
        (2, "N = 400", UNITS, [acceptance_at(units, 400, 5) for units in UNITS]),
    ],
)
def test_panels_show_medians_bars_and_hmc(
    figure: Figure, panel: int, title: str, across: tuple[int, ...], medians: list[float]
) -> None:
    ax = figure.axes[panel]
    assert ax.get_title(loc="left") == title
    exact, surrogate = (np.array(line.get_xydata()) for line in ax.lines if line.get_linestyle() != "None")
    assert_allclose(surrogate, np.column_stack([across, medians]))
    assert_allclose(exact, [(value, 0.75) for value in across])
    (bars,) = ax.collections
    for bar, median in zip(bars.get_paths(), medians, strict=True):
        # The runs are 0.01 apart, so that the deciles are the second of the eleven and the last but one.
        assert_allclose(np.array(bar.vertices)[:, 1], [median - 0.04, median + 0.04])


def test_fig4_runs_over_dimensions(table: pd.DataFrame) -> None:
    table = table.rename(columns={"training_points": "d", "d": "training_points"})
    figure = acceptance_sweep(table, {"d": 400, "hidden_units": 50})
    heat, middle, right = figure.axes
    assert [ax.get_xlabel() for ax in (heat, middle, right)] == [
        "hidden units $s$",
        "hidden units $s$",
        "parameters $d$",
    ]
    assert [ax.get_title(loc="left") for ax in (middle, right)] == ["d = 400", "s = 50"]


def test_equal_tables_give_equal_bytes(table: pd.DataFrame, tmp_path: Path) -> None:
    for suffix in ("png", "pdf"):
        paths = [tmp_path / f"{name}.{suffix}" for name in ("first", "second")]
        for path in paths:
            save(acceptance_sweep(table, CUTS), path)
        assert paths[0].read_bytes() == paths[1].read_bytes()
