"""UCI Adult in the encoding of a9a: 123 binary columns, one block per attribute."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_svmlight_file

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.datasets.tables import Table, read_table
from rnshmc.errors import DataError
from rnshmc.types import Array


@dataclass(frozen=True)
class Bins:
    """A number, coded by the interval that contains it: up to the first edge, ..., beyond the last."""

    attribute: str
    edges: tuple[int, ...]

    def columns(self) -> Iterator[str]:
        """Names of the columns of this block."""
        yield f"{self.attribute}<={self.edges[0]}"
        for low, high in zip(self.edges, self.edges[1:], strict=False):
            yield f"{low}<{self.attribute}<={high}"
        yield f"{self.attribute}>{self.edges[-1]}"

    def encode(self, table: Table) -> Array:
        """Indicators, shape (rows, edges + 1)."""
        values = table.numbers(self.attribute)
        return np.eye(len(self.edges) + 1)[np.searchsorted(self.edges, values)]


@dataclass(frozen=True)
class Categories:
    """A category, coded by its position in adult.names; '?' is not a category."""

    attribute: str
    categories: str
    """Names, separated by spaces."""

    def columns(self) -> Iterator[str]:
        """Names of the columns of this block."""
        return (f"{self.attribute}={name}" for name in self.categories.split())

    def encode(self, table: Table) -> Array:
        """Indicators, shape (rows, categories); a row of zeros for '?'."""
        names = self.categories.split()
        codes = table.codes(self.attribute, names, missing="?")
        return np.vstack((np.eye(len(names)), np.zeros(len(names))))[codes]


BLOCKS: tuple[Bins | Categories, ...] = (
    Bins("age", (25, 32, 40, 49)),
    Categories(
        "workclass",
        "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
    ),
    # Any edges between the same neighbours in adult.data give a9a; a9a.t determines the first and the third.
    Bins("fnlwgt", (106637, 158656, 196337, 259865)),
    Categories(
        "education",
        "Bachelors Some-college 11th HS-grad Prof-school Assoc-acdm Assoc-voc 9th 7th-8th 12th Masters 1st-4th 10th "
        "Doctorate 5th-6th Preschool",
    ),
    Bins("education-num", (8, 9, 10, 12)),
    Categories(
        "marital-status",
        "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
    ),
    Categories(
        "occupation",
        "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
        "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv Armed-Forces",
    ),
    Categories("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
    Categories("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
    Categories("sex", "Female Male"),
    Bins("capital-gain", (0,)),
    Bins("capital-loss", (0,)),
    Bins("hours-per-week", (34, 39, 40, 47)),
    Categories(
        "native-country",
        "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece South "
        "China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
        "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
        "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
    ),
)
FIELDS = (*(block.attribute for block in BLOCKS), "income")
COLUMNS = tuple(column for block in BLOCKS for column in block.columns())

# Labels in adult.test end with a full stop.
_LABELS = {"<=50K": 0, ">50K": 1, "<=50K.": 0, ">50K.": 1}


def read_either(path: str | Path) -> LogisticData:
    """Read a9a or adult.data, a9a.t or adult.test: both files of a pair give the same matrix.

    Binary, shape (rows, 123): 32561 rows of a9a, 16281 of a9a.t. Raises `DataError` as `read_adult` and `read_a9a` do.
    """
    return read_adult(path) if Path(path).name.startswith("adult") else read_a9a(path)


def read_adult(path: str | Path) -> LogisticData:
    """Encode adult.data, or adult.test, whose first line is a comment.

    Shape (rows, 123), equal in every entry to a9a, or a9a.t. Raises `DataError`, naming file, line and column, if a
    cell is not what adult.names allows.
    """
    table = read_table(path, FIELDS, header=False, comment="|")
    X = np.hstack([block.encode(table) for block in BLOCKS])
    return of_file(path, X, table.labels("income", _LABELS), COLUMNS)


def read_a9a(path: str | Path) -> LogisticData:
    """Read a9a, or a9a.t, in LIBSVM's sparse format.

    Raises `DataError`, naming file, row and column, if it is no such file, a label is not -1 or +1, or an entry is not
    0 or 1.
    """
    content = Path(path).read_bytes().splitlines(keepends=True)
    try:
        sparse, labels = _svmlight(content)
    except ValueError as error:
        raise DataError(f"{path}: line {_first_bad_line(content)}: {error}") from error
    X = sparse.toarray()
    strange = np.flatnonzero(np.abs(labels) != 1)
    if strange.size:
        raise DataError(f"{path}: row {strange[0] + 1}: label {labels[strange[0]]:g} is not -1 or +1")
    outside = np.argwhere((X != 0) & (X != 1))
    if outside.size:
        row, column = outside[0]
        raise DataError(f"{path}: row {row + 1}, column {COLUMNS[column]!r}: {X[row, column]:g} is not 0 or 1")
    return of_file(path, X, (labels > 0).astype(np.uint8), COLUMNS)


def _svmlight(lines: Sequence[bytes]) -> tuple[csr_matrix, Array]:
    X, labels = load_svmlight_file(BytesIO(b"".join(lines)), n_features=len(COLUMNS), zero_based=False)
    return X, labels


def _first_bad_line(lines: Sequence[bytes]) -> int | None:
    """Number, from 1, of the first line that cannot be parsed alone: the reader does not report it."""
    for number, line in enumerate(lines, start=1):
        try:
            _svmlight([line])
        except ValueError:
            return number
    return None
