"""Cover Type: lodgepole pine against the other types. The file is made up; the real one is elsewhere."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.covertype import FEATURES, read_covertype
from rnshmc.datasets.sources import SourceTable
from rnshmc.errors import DataError
from rnshmc.random import stream

TYPES = [5, 2, 1, 2, 7, 3]


def written(folder: Path, types: list[int] = TYPES) -> Path:
    features = stream(1, "cover type").integers(0, 3000, (len(types), 54))
    path = folder / "covtype.data.gz"
    lines = (",".join(map(str, (*row, kind))) for row, kind in zip(features, types, strict=True))
    path.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines).encode()))
    return path


def test_there_are_54_features_of_different_names() -> None:
    assert len(set(FEATURES)) == 54


def test_the_label_is_the_second_type(tmp_path: Path) -> None:
    data = read_covertype(written(tmp_path))
    assert data.y.tolist() == [0, 1, 0, 1, 0, 0]
    assert data.origin == "real"
    np.testing.assert_array_equal(data.X, stream(1, "cover type").integers(0, 3000, (len(TYPES), 54)))


def test_the_file_in_the_wheel_is_the_compressed_one(mirror: Path, table: SourceTable) -> None:
    content = gzip.decompress((mirror / "covtype.data.gz").read_bytes())
    assert hashlib.sha256(content).hexdigest() in table.files["covtype.data"].sha256


@pytest.mark.parametrize("strange", [0, 8])
def test_a_type_that_there_is_not_is_named(strange: int, tmp_path: Path) -> None:
    path = written(tmp_path, [*TYPES, strange])
    with pytest.raises(DataError, match=rf"covtype\.data\.gz: line 7, column 'type': {strange} is not one of"):
        read_covertype(path)
