"""The encoding of Adult is that of a9a, entry by entry."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.adult import COLUMNS, read_a9a, read_adult, read_either
from rnshmc.errors import DataError

PERSON = (
    "39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, Male, 2174, 0, 40, "
    "United-States, <=50K"
)
RICH = PERSON.replace("<=50K", ">50K")


def test_adult_data_gives_a9a(mirror: Path) -> None:
    rebuilt, published = read_adult(mirror / "adult.data"), read_a9a(mirror / "a9a")
    assert published.X.shape == (32561, 123)
    assert published.y.sum() == 7841
    np.testing.assert_array_equal(rebuilt.X, published.X)
    np.testing.assert_array_equal(rebuilt.y, published.y)


def test_adult_test_gives_a9a_t(mirror: Path) -> None:
    rebuilt, published = read_adult(mirror / "adult.test"), read_a9a(mirror / "a9a.t")
    assert published.X.shape == (16281, 123)
    np.testing.assert_array_equal(rebuilt.X, published.X)
    np.testing.assert_array_equal(rebuilt.y, published.y)


@pytest.mark.parametrize("name", ["a9a", "adult.data"])
def test_no_column_of_a9a_is_constant_whichever_file_serves(name: str, mirror: Path) -> None:
    data = read_either(mirror / name)
    assert data.origin == "real"
    assert np.ptp(data.X, axis=0).min() == 1.0


def test_a_person_sets_one_column_per_known_attribute(tmp_path: Path) -> None:
    path = tmp_path / "adult.data"
    path.write_text(f"{PERSON}\n{RICH.replace('State-gov', '?')}\n\n")
    data = read_adult(path)
    assert [name for name, entry in zip(COLUMNS, data.X[0], strict=True) if entry] == [
        "32<age<=40",
        "workclass=State-gov",
        "fnlwgt<=106637",
        "education=Bachelors",
        "education-num>12",
        "marital-status=Never-married",
        "occupation=Adm-clerical",
        "relationship=Not-in-family",
        "race=White",
        "sex=Male",
        "capital-gain>0",
        "capital-loss<=0",
        "39<hours-per-week<=40",
        "native-country=United-States",
    ]
    assert data.X.sum(axis=1).tolist() == [14.0, 13.0]
    assert data.y.tolist() == [0, 1]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (PERSON.replace("Bachelors", "Bachelor"), "line 4, column 'education': 'Bachelor' is not one of"),
        (PERSON.replace("39", "?"), r"line 4, column 'age': '\?' is not a finite number"),
        (PERSON.replace("<=50K", "50K"), "line 4, column 'income': '50K' is not one of"),
        (PERSON[:40], "line 4, column 'occupation': missing"),
    ],
)
def test_a_bad_line_of_adult_is_named(bad: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "adult.test"
    path.write_text(f"|1x3 Cross validator\n{PERSON}.\n{RICH}.\n{bad}\n")
    with pytest.raises(DataError, match=rf"adult\.test: {message}"):
        read_adult(path)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("+1 3:1 124:1", "line 3: .*124 features"),
        ("+1 3:1 x:1", "line 3"),
        ("+1 3:on", "line 3"),
        ("0 3:1", r"row 3: label 0 is not -1 or \+1"),
        ("+1 3:1 6:0.5", "row 3, column 'workclass=Private': 0.5 is not 0 or 1"),
        ("+1 3:1 6:nan", "row 3, column 'workclass=Private': nan is not 0 or 1"),
    ],
)
def test_a_bad_line_of_a9a_is_named(bad: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "a9a"
    path.write_text(f"-1 1:1\n+1 2:1\n{bad}\n")
    with pytest.raises(DataError, match=f"a9a: {message}"):
        read_a9a(path)
