from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import DataError
from rnshmc.targets.checks import read_arrays


def test_the_named_arrays_come_in_order(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=[[1.0, 2.0]], y=[3.0], origin="simulated")
    y, X = read_arrays(tmp_path / "data.npz", "y", "X")
    assert (y.tolist(), X.tolist()) == ([3.0], [[1.0, 2.0]])


@pytest.mark.parametrize("missing", ["y", "origin"])
def test_a_missing_entry_is_named_with_its_file(tmp_path: Path, missing: str) -> None:
    entries = {name: np.ones(1) for name in ("y", "origin") if name != missing}
    np.savez(tmp_path / "data.npz", **entries)
    with pytest.raises(DataError, match=rf"data\.npz.*{missing}"):
        read_arrays(tmp_path / "data.npz", "y")


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.npz"):
        read_arrays(tmp_path / "absent.npz", "y")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and no more")
    with pytest.raises(DataError, match=r"cut\.npz"):
        read_arrays(tmp_path / "cut.npz", "y")


def test_a_smaller_shape_in_a_damaged_header_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", y=np.arange(4000.0), origin="real")
    content = (tmp_path / "data.npz").read_bytes()
    (tmp_path / "data.npz").write_bytes(content.replace(b"(4000,)", b"(3000,)"))
    with pytest.raises(DataError, match=r"data\.npz: not a processed data set: Bad CRC-32"):
        read_arrays(tmp_path / "data.npz", "y")
