"""Reader of delimited text whose errors name file, line and column."""

import csv
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt
import pandas as pd

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.errors import DataError
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Table:
    """A table of text cells."""

    path: Path
    """The file it came from."""
    cells: pd.DataFrame
    """One text column per field; the index holds the line numbers of the file, counted from 1."""

    def numbers(self, column: str) -> Array:
        """A column as finite numbers, shape (rows,).

        Raises `DataError`, naming file, line and column, if a cell is not a finite number.
        """
        values = pd.to_numeric(self.cells[column], errors="coerce").to_numpy(dtype=np.float64)
        self._reject(column, ~np.isfinite(values), "is not a finite number")
        return values

    def codes(self, column: str, categories: Sequence[str], missing: str | None = None) -> npt.NDArray[np.intp]:
        """A column as positions in ``categories``, shape (rows,); -1 where the cell is ``missing``.

        Raises `DataError`, naming file, line and column, if a cell is neither.
        """
        cells = self.cells[column]
        codes = pd.Index(categories).get_indexer(pd.Index(cells))
        unknown = (codes < 0) & (cells != missing).to_numpy() if missing is not None else codes < 0
        self._reject(column, unknown, f"is not one of {', '.join(categories)}")
        return codes

    def labels(self, column: str, codes: Mapping[str, int]) -> npt.NDArray[np.uint8]:
        """A column of class names as 0 and 1, by the given mapping; raises the errors of `codes`."""
        positions = self.codes(column, tuple(codes))
        return np.array(list(codes.values()), dtype=np.uint8)[positions]

    def where(self, keep: npt.NDArray[np.bool_]) -> "Table":
        """The rows for which ``keep`` holds, with their line numbers."""
        return Table(self.path, self.cells[keep])

    def _reject(self, column: str, bad: npt.NDArray[np.bool_], complaint: str) -> None:
        if bad.any():
            line, cell = self.cells.index[bad][0], self.cells[column].to_numpy()[bad][0]
            raise DataError(f"{self.path}: line {line}, column {column!r}: {cell!r} {complaint}")


def read_table(
    path: str | Path,
    columns: Sequence[str] | None = None,
    *,
    header: bool = True,
    delimiter: str = ",",
    comment: str | None = None,
) -> Table:
    """Read delimited text without guessing types.

    Text is UTF-8 with any line ends; blank lines, lines that start with ``comment``, and spaces after a delimiter are
    skipped. A header has to agree with ``columns``, if these are given. Raises `DataError` if the file is no such text
    or has no rows, the header differs, or a line has too few or too many fields.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            lines = _lines(path, file, delimiter, comment)
            names = _header(path, lines, columns) if header or columns is None else tuple(columns)
            rows = [_complete(path, number, fields, names) for number, fields in lines]
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from error
    if not rows:
        raise DataError(f"{path}: no rows")
    numbers, records = zip(*rows, strict=True)
    return Table(path, pd.DataFrame(list(records), columns=list(names), index=list(numbers), dtype=object))


def _lines(path: Path, file: TextIO, delimiter: str, comment: str | None) -> Iterator[tuple[int, list[str]]]:
    reader = csv.reader(file, delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        for fields in reader:
            if fields and not (comment and fields[0].startswith(comment)):
                yield reader.line_num, fields
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: {error}") from error


def _header(path: Path, lines: Iterator[tuple[int, list[str]]], columns: Sequence[str] | None) -> tuple[str, ...]:
    line, found = next(lines, (1, []))
    for position, (name, expected) in enumerate(itertools.zip_longest(found, columns or found), start=1):
        if name != expected:
            raise DataError(f"{path}: line {line}, column {position}: the header has {name!r}, expected {expected!r}")
    if len(set(found)) < len(found):
        raise DataError(f"{path}: line {line}: a column name occurs twice in {', '.join(found)}")
    return tuple(found)


def _complete(path: Path, line: int, fields: list[str], names: Sequence[str]) -> tuple[int, list[str]]:
    if len(fields) < len(names):
        raise DataError(
            f"{path}: line {line}, column {names[len(fields)]!r}: missing; the line has {len(fields)} fields"
        )
    if len(fields) > len(names):
        raise DataError(f"{path}: line {line}: {len(fields)} fields, expected {len(names)}")
    return line, fields


def read_csv(path: str | Path, *, label: str) -> LogisticData:
    """The features of a CSV file with a header in their own units: all columns but the one of the labels, 0 and 1.

    Raises `DataError`, naming file, line and column, if a feature is not a finite number, a label is not 0 or 1, or a
    line is incomplete.
    """
    table = read_table(path)
    names = tuple(str(name) for name in table.cells.columns)
    if label not in names or len(names) < 2:
        raise DataError(f"{path}: expected a column {label!r} and features, the header has {', '.join(names)}")
    columns = tuple(name for name in names if name != label)
    X = np.column_stack([table.numbers(name) for name in columns])
    return of_file(path, X, table.labels(label, {"0": 0, "1": 1}), columns)
