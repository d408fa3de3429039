"""Census Income is both halves of Adult, and a stand-in for the whole where one half is missing."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.adult import read_a9a
from rnshmc.datasets.census import prepare_census, stacked
from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.matrix import LogisticData, standardise
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.sources import SourceTable
from rnshmc.errors import DataError
from rnshmc.random import stream

SUMMARY = Path(__file__).parents[2] / "data" / "standin" / "census.csv"


def small(columns: tuple[str, ...] = ("a", "b"), origin: str = "real") -> LogisticData:
    return LogisticData(np.eye(2), np.array([0, 1], dtype=np.uint8), origin, columns)  # type: ignore[arg-type]


def test_it_is_a9a_above_a9a_t_standardised(
    adult: Receipt, table: SourceTable, mirror: Path, raw_dir: Path, tmp_path: Path
) -> None:
    test = fetch("adult-test", table, raw_dir=raw_dir, mirror=mirror, policy="real-only")
    data = prepare_census((adult, test), raw_dir=raw_dir, summary=tmp_path / "unread", rng=stream(0))
    assert data.X.shape == (48842, 123)
    assert data.origin == "real"
    np.testing.assert_array_equal(data.X, standardise(stacked(read_a9a(mirror / "a9a"), read_a9a(mirror / "a9a.t"))).X)
    assert data.y.sum() == 7841 + read_a9a(mirror / "a9a.t").y.sum()


@pytest.mark.parametrize("missing", [0, 1])
def test_half_of_the_real_data_is_not_mixed_with_a_stand_in(missing: int, tmp_path: Path) -> None:
    receipts = [Receipt(name, "real", "a9a", "0" * 64, "a test") for name in ("adult", "adult-test")]
    receipts[missing] = Receipt("adult", "stand-in", None, None, "a test")
    data = prepare_census((receipts[0], receipts[1]), raw_dir=tmp_path, summary=SUMMARY, rng=stream(1, "census"))
    assert data.X.shape == (48842, 123)
    assert data.origin == "stand-in"
    # Standardised to rounding errors of a sum over the rows.
    np.testing.assert_allclose(data.X.mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.X.std(axis=0, ddof=1), 1.0, rtol=1e-12)


def test_rows_are_stacked_in_order() -> None:
    data = stacked(small(), small())
    assert data.X.tolist() == [[1, 0], [0, 1], [1, 0], [0, 1]]
    assert data.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("other", [small(columns=("a", "c")), small(origin="stand-in")])
def test_rows_of_other_columns_or_origin_are_not_stacked(other: LogisticData) -> None:
    with pytest.raises(DataError, match="cannot be stacked"):
        stacked(small(), other)
