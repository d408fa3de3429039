"""A design matrix is valid on disk and in memory, or an error names the entry."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.matrix import LogisticData, standardise, with_intercept
from rnshmc.errors import DataError
from rnshmc.random import stream


@pytest.fixture
def data() -> LogisticData:
    rng = stream(0, "matrix")
    X = 3.0 + 2.0 * rng.standard_normal((50, 3))
    return LogisticData(X, (np.arange(50) % 2).astype(np.uint8), "real", ("a", "b", "c"))


@pytest.mark.parametrize("origin", ["real", "simulated", "stand-in"])
def test_data_survive_their_file(data: LogisticData, origin: str, tmp_path: Path) -> None:
    data = replace(data, origin=origin)  # type: ignore[arg-type]
    data.save(tmp_path / "data.npz")
    loaded = LogisticData.load(tmp_path / "data.npz")
    np.testing.assert_array_equal(loaded.X, data.X)
    np.testing.assert_array_equal(loaded.y, data.y)
    assert (loaded.origin, loaded.columns) == (origin, data.columns)
    assert [path.name for path in tmp_path.iterdir()] == ["data.npz"]


def test_equal_data_give_equal_bytes(data: LogisticData, tmp_path: Path) -> None:
    data.save(tmp_path / "1.npz")
    data.save(tmp_path / "2.npz")
    assert (tmp_path / "1.npz").read_bytes() == (tmp_path / "2.npz").read_bytes()


def test_columns_without_names_are_numbered(data: LogisticData, tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=data.X, y=data.y, origin="real")
    assert LogisticData.load(tmp_path / "data.npz").columns == ("0", "1", "2")


def test_a_damaged_file_is_named(data: LogisticData, tmp_path: Path) -> None:
    path = tmp_path / "data.npz"
    data.save(path)
    content = path.read_bytes()
    for damaged in (b"", b"no archive", content[: len(content) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"data\.npz"):
            LogisticData.load(path)
    np.savez(path, X=data.X, y=data.y)
    with pytest.raises(DataError, match=r"data\.npz.*origin"):
        LogisticData.load(path)
    np.savez(path, X=data.X, y=2 * data.y, origin="real")
    with pytest.raises(DataError, match=r"data\.npz: row 1: label 2"):
        LogisticData.load(path)


def test_an_entry_that_is_not_finite_is_named_by_row_and_column(data: LogisticData) -> None:
    X = data.X.copy()
    X[7, 1] = np.nan
    with pytest.raises(DataError, match="row 7, column 'b': nan"):
        replace(data, X=X)


def test_one_label_alone_is_an_error(data: LogisticData) -> None:
    with pytest.raises(DataError, match="only one of the labels"):
        replace(data, y=np.zeros(50, dtype=np.uint8))


def test_shapes_types_and_origin_have_to_be_right(data: LogisticData) -> None:
    with pytest.raises(DataError, match=r"shape \(50, 2\), expected \(50, 3\)"):
        replace(data, X=np.ascontiguousarray(data.X[:, :2]))
    with pytest.raises(DataError, match="float64"):
        replace(data, X=data.X.astype(np.float32))
    with pytest.raises(DataError, match="expected uint8"):
        replace(data, y=data.y.astype(np.float64))
    with pytest.raises(DataError, match="origin is 'guessed'"):
        replace(data, origin="guessed")  # type: ignore[arg-type]


def test_standardised_columns_have_mean_0_and_sd_1_with_divisor_n_minus_1(data: LogisticData) -> None:
    X = standardise(data).X
    # Rounding: fifty terms of size about one, each off by about 1e-16.
    np.testing.assert_allclose(X.mean(axis=0), 0.0, rtol=0, atol=1e-14)
    np.testing.assert_allclose(X.std(axis=0, ddof=1), 1.0, rtol=1e-14)


def test_a_constant_column_is_named_even_where_its_mean_is_not_exact(data: LogisticData) -> None:
    X = data.X.copy()
    X[:, 2] = 0.1
    with pytest.raises(DataError, match="column 'c' is constant"):
        standardise(replace(data, X=X))


def test_the_intercept_goes_in_front(data: LogisticData) -> None:
    extended = with_intercept(data)
    np.testing.assert_array_equal(extended.X[:, 0], 1.0)
    np.testing.assert_array_equal(extended.X[:, 1:], data.X)
    assert extended.columns == ("intercept", "a", "b", "c")
