"""A user's own CSV becomes data, or an error names file, line and column."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.tables import read_csv
from rnshmc.errors import DataError


def csv(folder: Path, text: str) -> Path:
    path = folder / "own.csv"
    path.write_text(text)
    return path


def test_features_keep_their_units(tmp_path: Path) -> None:
    data = read_csv(csv(tmp_path, "age,ill,dose\n1,0,10\n2,1,30\n3,0,20\n"), label="ill")
    np.testing.assert_array_equal(data.X, [[1, 10], [2, 30], [3, 20]])
    assert data.y.tolist() == [0, 1, 0]
    assert data.columns == ("age", "dose")
    assert data.origin == "real"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("age,sick\n1,0\n2,1\n", "expected a column 'ill' and features"),
        ("age,ill\n1,0\n2,2\n", "line 3, column 'ill': '2' is not one of 0, 1"),
        ("age,ill\n1,0\nNaN,1\n", "line 3, column 'age': 'NaN' is not a finite number"),
        ("age,ill\n1,0\n2\n", "line 3, column 'ill': missing"),
        ("age,ill\n1,0\n2,0\n", "only one of the labels"),
        ("age,age,ill\n1,1,0\n2,2,1\n", "a column name occurs twice"),
        ("age,ill\n", "no rows"),
    ],
)
def test_bad_input_is_named(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=rf"own\.csv: .*{message}"):
        read_csv(csv(tmp_path, text), label="ill")
