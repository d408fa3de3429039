"""Measured seconds, and the comparison of results over numbers of ranks."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from rnshmc.errors import RnshmcError
from rnshmc.experiments.scaling import agreement, measure, speed_up


class Rank:
    """Rank 0 of two; the other one was slower by a second, used as much processor time, and has another peak."""

    rank, size = 0, 2

    def Barrier(self) -> None:  # noqa: N802
        pass

    def allgather(self, mine: tuple[list[float], tuple[str, float, float], float]) -> list[Any]:
        seconds, spent, peak = mine
        return [mine, ([second + 1.0 for second in seconds], spent, peak + 5.0)]


def test_the_slowest_rank_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # The machine was busy for 6 s in 2 s, of which these two ranks used none: three cores.
    busy = iter([100.0, 106.0])
    monkeypatch.setattr("rnshmc.experiments.scaling.busy_s", lambda: next(busy))
    monkeypatch.setattr("time.process_time", lambda: 0.0)
    result, table = measure(Rank(), lambda: "done", what="work", size=3, unit="solves", repeats=2)
    assert result == "done"
    assert list(table["repeat"]) == [1, 2]
    assert table["seconds"].between(1.0, 1.1).all()
    np.testing.assert_allclose(table["other_cores"], 3.0, rtol=0.1)
    assert table["loaded"].all()
    assert (table["ranks"] == 2).all()


def test_what_the_ranks_used_themselves_is_not_load(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, own = iter([100.0, 102.0]), iter([10.0, 11.0])
    monkeypatch.setattr("rnshmc.experiments.scaling.busy_s", lambda: next(busy))
    monkeypatch.setattr("time.process_time", lambda: next(own))
    _, table = measure(Rank(), lambda: None, what="work", size=1, unit="rows", repeats=1)
    assert table["other_cores"].item() == 0.0
    assert not table["loaded"].item()


def files(tmp_path: Path, *changes: float) -> dict[int, Path]:
    for ranks, change in enumerate((0.0, *changes), start=1):
        np.savez(tmp_path / f"{ranks}.npz", values=np.array([1.0, 1e6 * (1 + change)]), draws=np.ones((3, 2)))
    return {ranks: tmp_path / f"{ranks}.npz" for ranks in range(1, len(changes) + 2)}


def test_differences_are_relative_to_each_row(tmp_path: Path) -> None:
    table = agreement("work", files(tmp_path, 1e-12, 3e-11), tolerance=1e-10)
    found = table.groupby("quantity")["difference"].agg(list)
    np.testing.assert_allclose(found["values"], [1e-12, 3e-11], rtol=1e-3)
    assert found["draws"] == [0.0, 0.0]


@pytest.mark.parametrize(("change", "tolerance"), [(2e-10, 1e-10), (1e-15, 0.0), (np.nan, 1e-10)])
def test_results_that_depend_on_the_ranks_are_an_error(tmp_path: Path, change: float, tolerance: float) -> None:
    with pytest.raises(RnshmcError, match="work: values of 2 and 1 ranks differ by"):
        agreement("work", files(tmp_path, change), tolerance=tolerance)


def test_speed_up_is_over_the_fewest_ranks() -> None:
    table = pd.DataFrame(
        {
            "what": ["a"] * 6,
            "ranks": [2, 2, 2, 1, 1, 1],
            "seconds": [4.0, 5.0, 60.0, 9.0, 10.0, 11.0],
            "loaded": [False, False, True, False, False, False],
        }
    )
    found = speed_up(table).set_index("ranks")
    assert found["speed_up"].to_dict() == {1: 1.0, 2: 2.0}
    assert found["loaded"].to_dict() == {1: False, 2: True}
