"""The origin of data is read from the file, or reported as missing."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import DataError
from rnshmc.store.provenance import ORIGINS, read_origin


@pytest.mark.parametrize("origin", ORIGINS)
def test_origin_is_read(tmp_path: Path, origin: str) -> None:
    np.savez(tmp_path / "data.npz", X=np.zeros((2, 2)), origin=origin)
    assert read_origin(tmp_path / "data.npz") == origin


def test_no_origin_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=np.zeros((2, 2)))
    with pytest.raises(DataError, match=r"data\.npz.*origin"):
        read_origin(tmp_path / "data.npz")


def test_an_unknown_origin_is_an_error(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", origin="hearsay")
    with pytest.raises(DataError, match="hearsay"):
        read_origin(tmp_path / "data.npz")


def test_a_broken_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "data.npz").write_bytes(b"PK\x03\x04 not a zip")
    with pytest.raises(DataError, match=r"data\.npz"):
        read_origin(tmp_path / "data.npz")
