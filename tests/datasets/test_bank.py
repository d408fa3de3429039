"""Bank Marketing as the paper used it, and a damaged file is named with line and column."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.bank import FIELDS, read_bank
from rnshmc.datasets.receipt import Receipt
from rnshmc.errors import DataError
from tests.datasets.conftest import prepared, receipt_of

HEADER = ";".join(f'"{name}"' for name in FIELDS)
ROW = (
    "{age};{job};single;{education};no;{housing};{loan};{contact};may;mon;{duration};2;999;1;nonexistent;"
    "1.1;93.994;-36.4;{euribor};5191;{y}"
)
CLIENT = {
    "age": "40",
    "job": "student",
    "education": "illiterate",
    "housing": "yes",
    "loan": "no",
    "contact": "telephone",
    "duration": "100",
    "euribor": "4.857",
    "y": "yes",
}


def client(**changes: str) -> str:
    return ROW.format(**(CLIENT | changes))


def bank_file(folder: Path, *rows: str, header: str = HEADER, end: str = "\n") -> Path:
    path = folder / "bank.csv"
    path.write_bytes(end.join((header, *rows, "")).encode())
    return path


def test_the_published_file_gives_40197_rows_and_25_columns(bank: Receipt, raw_dir: Path) -> None:
    data = prepared("bank", receipt_of(bank.verified(raw_dir)))
    assert data.X.shape == (40197, 25)
    assert data.y.sum() == 4533
    assert data.origin == "real"
    np.testing.assert_array_equal(data.X[:, 0], 1.0)
    # Rounding: the mean of a column is up to about 160 of its standard deviations, and is known to 160 * 2e-16.
    np.testing.assert_allclose(data.X[:, 1:].mean(axis=0), 0.0, atol=1e-12)
    np.testing.assert_allclose(data.X[:, 1:].std(axis=0, ddof=1), 1.0, rtol=1e-11)


def test_the_first_rows_of_the_published_file(bank: Receipt, raw_dir: Path) -> None:
    data = read_bank(bank.verified(raw_dir))
    job = data.columns.index("job services")
    economy = [1.1, 93.994, -36.4, 4.857, 5191.0]
    # Lines 3 and 4 of the file: line 2, the first client, is the one that the published preparation lost.
    np.testing.assert_array_equal(data.X[0, :13], [57, 3, 0, 0, 1, 149, 1, 0, *economy])
    np.testing.assert_array_equal(data.X[1, :13], [37, 3, 1, 0, 1, 226, 1, 0, *economy])
    np.testing.assert_array_equal(data.X[:2, job], 1.0)
    np.testing.assert_array_equal(data.X[:2, 13:].sum(axis=1), 1.0)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_unknown_housing_and_the_first_of_the_rest_are_left_out(end: str, tmp_path: Path) -> None:
    unknown = client(age="1", housing="unknown", loan="unknown")
    rows = [unknown, client(age="2"), client(age="3", y="no"), unknown, client(age="4")]
    data = read_bank(bank_file(tmp_path, *rows, end=end))
    assert data.X[:, 0].tolist() == [3, 4]
    assert data.y.tolist() == [0, 1]


def test_every_feature_stands_in_its_column(tmp_path: Path) -> None:
    data = read_bank(bank_file(tmp_path, client(), client(), client(job="unknown", y="no")))
    features = dict(zip(data.columns, data.X[0], strict=True))
    assert features.pop("job student") == 1.0
    assert {name: value for name, value in features.items() if not name.startswith("job")} == {
        "age": 40.0,
        "education": 4.0,
        "housing": 1.0,
        "loan": 0.0,
        "contact": 1.0,
        "duration": 100.0,
        "campaign": 2.0,
        "previous": 1.0,
        "emp.var.rate": 1.1,
        "cons.price.idx": 93.994,
        "cons.conf.idx": -36.4,
        "euribor3m": 4.857,
        "nr.employed": 5191.0,
    }
    assert data.X[1, 13:].sum() == 0.0


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (client(y="maybe"), "line 5, column 'y': 'maybe' is not one of no, yes"),
        (client(job="astronaut"), "line 5, column 'job': 'astronaut' is not one of"),
        (client(housing="perhaps"), "line 5, column 'housing': 'perhaps'"),
        (client(loan="unknown"), "line 5, column 'loan': 'unknown'"),
        (client(age="forty"), "line 5, column 'age': 'forty' is not a finite number"),
        (client(euribor="nan"), "line 5, column 'euribor3m': 'nan' is not a finite number"),
        (client(duration=""), "line 5, column 'duration': '' is not a finite number"),
        (client()[:60], "line 5, column 'campaign': missing"),
        (client() + ";1", "line 5: 22 fields, expected 21"),
        (client(y='"ye'), "line 5: unexpected end of data"),
    ],
)
def test_a_bad_line_is_named(bad: str, message: str, tmp_path: Path) -> None:
    unknown = client(housing="unknown", loan="unknown")
    path = bank_file(tmp_path, client(), unknown, client(y="no"), bad)
    with pytest.raises(DataError, match=message) as error:
        read_bank(path)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("header", "message"),
    [
        (HEADER.replace("duration", "length"), "line 1, column 11: the header has 'length', expected 'duration'"),
        (HEADER.replace(";", ","), "line 1: ';' expected"),
        (HEADER.removesuffix(';"y"'), "line 1, column 21: the header has None, expected 'y'"),
        (client(), "line 1, column 1: the header has '40', expected 'age'"),
    ],
)
def test_a_wrong_header_is_named(header: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_bank(bank_file(tmp_path, client(), header=header))


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bank.csv"
    for content in (b"", b"\x1f\x8b\x08\x00\xff", HEADER.encode()):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"bank\.csv"):
            read_bank(path)


def test_a_constant_column_is_named(tmp_path: Path) -> None:
    path = bank_file(tmp_path, client(), client(age="1"), client(age="2", y="no"))
    with pytest.raises(DataError, match=r"bank\.csv: column 'education' is constant \(4 in all 2 rows\)"):
        prepared("bank", receipt_of(path))
