"""Published data are read unchanged, and nothing replaces them if they cannot be fetched."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from rnshmc.datasets.receipt import read_published
from rnshmc.errors import DataError
from tests.datasets.conftest import receipt_of


def test_columns_become_vectors_and_other_arrays_are_left_out(tmp_path: Path) -> None:
    savemat(tmp_path / "data.mat", {"X": [[1], [2]], "Y": [[0.5], [0.25]], "C": np.eye(2), "name": "other"})
    found = read_published(receipt_of(tmp_path / "data.mat"), "X", "Y", "C")
    assert found is not None
    assert [array.tolist() for array in found] == [[1, 2], [0.5, 0.25], [[1, 0], [0, 1]]]
    assert {array.dtype for array in found} == {np.dtype(np.float64)}


def test_what_was_not_fetched_is_none(tmp_path: Path) -> None:
    assert read_published(receipt_of(tmp_path / "data.mat", "stand-in"), "X") is None


def test_a_file_that_changed_is_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "data.mat", {"X": [1.0]})
    receipt = receipt_of(tmp_path / "data.mat")
    savemat(tmp_path / "data.mat", {"X": [2.0]})
    with pytest.raises(DataError, match=r"data\.mat: changed since it was fetched"):
        read_published(receipt, "X")
