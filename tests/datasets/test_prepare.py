"""The sets of the config: stacked parts, standardised columns, and stand-ins for missing data."""

import csv
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.datasets.adult import read_a9a
from rnshmc.datasets.matrix import LogisticData, standardise
from rnshmc.datasets.prepare import prepare, stacked
from rnshmc.datasets.registry import READERS, SIMULATIONS, STAGES, STAND_INS, load
from rnshmc.errors import DataError
from rnshmc.random import stream
from tests.datasets.conftest import FETCHED, prepared, receipt_of

SHAPES = {
    "bank": (40197, 25),
    "a9a_encoded": (32561, 123),
    "census": (48842, 123),
    "news": (39797, 44),
    "dota2": (60000, 116),
    "cover_type": (60000, 54),
}
"""Of the stand-ins, the last two cut off at 60000 rows."""


def small(columns: tuple[str, ...] = ("a", "b"), origin: str = "real") -> LogisticData:
    return LogisticData(np.eye(2), np.array([0, 1], dtype=np.uint8), origin, columns)  # type: ignore[arg-type]


def table(path: Path, rows: list[list[object]]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["x", "ill", "z"], *rows])
    return receipt_of(path)


def test_every_entry_of_the_registries_is_there() -> None:
    for registry in (READERS, STAND_INS, SIMULATIONS, STAGES):
        assert all(callable(load(entry)) for entry in registry.values())


def test_every_set_that_is_fetched_is_tested_here() -> None:
    assert SHAPES.keys() == FETCHED.keys()


@pytest.mark.parametrize("name", SHAPES)
def test_one_missing_part_makes_the_set_a_stand_in_down_to_its_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "first").write_text("never read")
    parts = [receipt_of(tmp_path / "first")] * (len(FETCHED[name]["raw"]) - 1)
    prepared(name, *parts, receipt_of(tmp_path / "missing", "stand-in")).save(tmp_path / "data.npz")
    data = LogisticData.load(tmp_path / "data.npz")
    assert data.X.shape == SHAPES[name]
    assert data.origin == "stand-in"
    # Dota2's is simulated as the real games are prepared, those of a9a and Census are in the units of the raw file.
    if FETCHED[name].get("unit_range", False):
        assert (data.X.min(axis=0) == 0.0).all()
        assert set(data.X.max(axis=0)) <= {0.0, 1.0}
    elif name not in ("dota2", "a9a_encoded", "census"):
        features = data.X[:, int(FETCHED[name].get("intercept", False)) :]
        # Standardised to rounding errors of a sum over the rows.
        np.testing.assert_allclose(features.mean(axis=0), 0.0, atol=1e-12)
        np.testing.assert_allclose(features.std(axis=0, ddof=1), 1.0, rtol=1e-12)


def test_census_is_a9a_above_a9a_t_as_they_are(mirror: Path, tmp_path: Path) -> None:
    halves = [Path(shutil.copy(mirror / name, tmp_path)) for name in ("a9a", "a9a.t")]
    data = prepared("census", *map(receipt_of, halves))
    assert data.X.shape == (48842, 123)
    assert data.origin == "real"
    np.testing.assert_array_equal(data.X, stacked(read_a9a(mirror / "a9a"), read_a9a(mirror / "a9a.t")).X)
    assert set(np.unique(data.X)) == {0.0, 1.0}
    assert data.y.sum() == 7841 + read_a9a(mirror / "a9a.t").y.sum()


def test_a_table_of_numbers_needs_no_code_of_its_own(tmp_path: Path) -> None:
    """Two parts of one set, stacked before they are standardised."""
    parts = table(tmp_path / "1.csv", [[1, 0, 10], [2, 1, 30]]), table(tmp_path / "2.csv", [[3, 0, 20], [6, 1, 20]])
    settings: dict[str, Any] = {"options": {"label": "ill"}, "stand_in": {"kind": "plain"}, "rng": stream(1)}
    plain = prepare(*parts, reader="csv", **settings, standardised=False)
    assert plain.X.tolist() == [[1, 10], [2, 30], [3, 20], [6, 20]]
    data = prepare(*parts, reader="csv", **settings, intercept=True)
    assert data.columns == ("intercept", "x", "z")
    assert data.y.tolist() == [0, 1, 0, 1]
    np.testing.assert_array_equal(data.X[:, 1:], standardise(plain).X)


def test_columns_are_mapped_onto_the_unit_range_where_they_vary(tmp_path: Path) -> None:
    part = table(tmp_path / "1.csv", [[1, 0, 7], [3, 1, 7], [-1, 0, 7]])
    settings: dict[str, Any] = {"options": {"label": "ill"}, "stand_in": {"kind": "plain"}, "rng": stream(1)}
    data = prepare(part, reader="csv", **settings, unit_range=True)
    assert data.X.tolist() == [[0.5, 0.0], [1.0, 0.0], [0.0, 0.0]]


def test_columns_that_are_not_named_stay_as_they_are() -> None:
    data = LogisticData(np.array([[1.0, 5.0], [3.0, 5.0]]), np.array([0, 1], dtype=np.uint8), "real", ("a", "b"))
    np.testing.assert_allclose(standardise(data, ["a"]).X, [[-np.sqrt(0.5), 5], [np.sqrt(0.5), 5]], rtol=1e-15)
    with pytest.raises(DataError, match="no column c to standardise"):
        standardise(data, ["a", "c"])


def test_rows_are_stacked_in_order() -> None:
    data = stacked(small(), small())
    assert data.X.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert data.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("other", [small(columns=("a", "c")), small(origin="stand-in")])
def test_rows_of_other_columns_or_origin_are_not_stacked(other: LogisticData) -> None:
    with pytest.raises(DataError, match="cannot be stacked"):
        stacked(small(), other)
