"""References on disk can be read; damaged files are named."""

import json
from pathlib import Path

import numpy as np
import pytest

from rnshmc.diagnostics.reference import Reference
from rnshmc.errors import StoreError
from rnshmc.store.provenance import read_origin
from rnshmc.store.reference import read_reference, write_reference

MEAN = np.array([1.0, 2.0])
REFERENCE = Reference(MEAN, 2.0 * MEAN, 3.0 * MEAN, 4.0 * MEAN, 5.0 * MEAN, draws=100, chains=2)


def write(path: Path) -> None:
    write_reference(path, REFERENCE, origin="real", settings={"seed": 1}, provenance={"python": "3.11"})


def test_what_is_written_is_read(tmp_path: Path) -> None:
    write(tmp_path / "bank.npz")
    back = read_reference(tmp_path / "bank.npz")
    for mine, theirs in zip(vars(REFERENCE).values(), vars(back).values(), strict=True):
        np.testing.assert_array_equal(theirs, mine)
    assert read_origin(tmp_path / "bank.npz") == "real"
    with np.load(tmp_path / "bank.npz") as file:
        assert json.loads(str(file["settings"])) == {"seed": 1}


def test_what_is_broken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bank.npz"
    with pytest.raises(StoreError, match=r"bank\.npz"):
        read_reference(path)
    write(path)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(StoreError, match=r"bank\.npz.*delete it"):
        read_reference(path)
    np.savez(path, mean=np.zeros(2))
    with pytest.raises(StoreError, match=r"bank\.npz"):
        read_reference(path)
