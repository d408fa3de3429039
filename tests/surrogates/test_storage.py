from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import StoreError
from rnshmc.surrogates.storage import Stored
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Line(Stored):
    slope: Array
    offset: float
    terms: int
    name: str


def test_arrays_are_private_and_read_only() -> None:
    slope = np.arange(3.0)
    line = Line(slope, 1.0, 3, "mine")
    slope[:] = 7.0
    assert np.array_equal(line.slope, [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match="read-only"):
        line.slope[0] = 1.0


def test_what_was_saved_comes_back_and_is_saved_to_the_same_bytes(tmp_path: Path) -> None:
    Line(np.array([0.1, np.nextafter(0.2, 1.0)]), 1 / 3, 3, "mine").save(tmp_path / "line.npz")
    line = Line.load(tmp_path / "line.npz")
    assert (line.slope.tolist(), line.offset) == ([0.1, np.nextafter(0.2, 1.0)], 1 / 3)
    assert (line.terms, line.name, type(line.terms)) == (3, "mine", int)
    line.save(tmp_path / "again.npz")
    assert (tmp_path / "line.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


def test_files_that_hold_something_else_are_named(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"absent\.npz"):
        Line.load(tmp_path / "absent.npz")
    np.savez(tmp_path / "other.npz", slope=np.ones(2))
    with pytest.raises(StoreError, match=r"other\.npz: not a saved Line.*offset"):
        Line.load(tmp_path / "other.npz")
    (tmp_path / "cut.npz").write_bytes((tmp_path / "other.npz").read_bytes()[:50])
    with pytest.raises(StoreError, match=r"cut\.npz"):
        Line.load(tmp_path / "cut.npz")
