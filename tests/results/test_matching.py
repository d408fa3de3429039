"""The table of potential matching."""

import json
from pathlib import Path

import pytest

from rnshmc.errors import StoreError
from rnshmc.report.table_text import readable_matching
from rnshmc.results.tables import MATCHING_COLUMNS, matching_table

MATCH = {
    "problem": "bank",
    "surrogate": "random_network",
    "chain": 2,
    "origin": "stand-in",
    "train_residual_sd": 0.1,
    "variance": 0.5,
    "potential_variance": 10.0,
    "states": 5000,
}


def test_a_fit_is_a_row_and_says_what_it_misses(tmp_path: Path) -> None:
    path = tmp_path / "chain2.json"
    path.write_text(json.dumps(MATCH))
    table = matching_table([path])
    assert tuple(table.columns) == MATCHING_COLUMNS
    assert table.iloc[0][["chain", "share", "data"]].tolist() == [2, 0.05, "stand-in"]
    assert matching_table([]).empty


def test_a_file_that_lacks_something_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chain2.json"
    path.write_text(json.dumps({key: value for key, value in MATCH.items() if key != "states"}))
    with pytest.raises(StoreError, match=r"chain2\.json.*states"):
        matching_table([path])


def test_fits_are_told_as_means_with_errors(tmp_path: Path) -> None:
    paths = []
    for chain, variance in ((1, 0.4), (2, 0.6)):
        paths.append(tmp_path / f"chain{chain}.json")
        paths[-1].write_text(json.dumps({**MATCH, "chain": chain, "variance": variance}))
    row = readable_matching(matching_table(paths), {"bank": "Bank Marketing"}).iloc[0]
    assert row[["problem", "surrogate", "fits"]].tolist() == ["Bank Marketing", "random network", "2"]
    assert row[["Var(V − U)", "share of Var(U)"]].tolist() == ["0.500 ± 0.10", "5.00%"]
