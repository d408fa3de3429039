"""Fast reader of large numeric tables whose errors name file, line and column."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rnshmc.datasets.unpack import gunzipped, zip_member
from rnshmc.errors import DataError
from rnshmc.files import naming_file


def read_numbers(
    path: str | Path, columns: Sequence[str] | None = None, *, member: str | None = None, text: Sequence[str] = ()
) -> pd.DataFrame:
    """Read comma-separated finite numbers.

    `rnshmc.datasets.tables.read_table` reads text cell by cell; this is for tables that would take it minutes. Columns
    are float64; spaces around names are dropped. The file is compressed if its name ends in .gz; of a zip archive,
    ``member`` is read. ``columns`` names those of a file without a header; columns in ``text`` are no numbers, and left
    out. Raises `DataError` if the file is no such table or has no rows, the number of columns is another, or a cell is
    missing or not a finite number; the message names file, line (from 1) and column.
    """
    path, header = Path(path), columns is None
    content = _content(path, member)
    try:
        first = content.partition(b"\n")[0]
        names = tuple(map(str.strip, first.decode("utf-8-sig").split(","))) if columns is None else tuple(columns)
        cells = _parse(content, names, header, text)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: {error}") from error
    values: pd.DataFrame = cells.apply(pd.to_numeric, errors="coerce")
    bad = ~np.isfinite(values.to_numpy(dtype=np.float64))
    if bad.any():
        row, column = np.argwhere(bad)[0]
        place = f"line {row + 1 + header}, column {cells.columns[column]!r}"
        cell = cells.iloc[[row]].astype(object).iat[0, column]  # text or a Python float
        raise DataError(f"{path}: {place}: {cell!r} is not a finite number")
    return values


def check_codes(path: str | Path, table: pd.DataFrame, column: str, allowed: Sequence[int]) -> None:
    """Raise a `DataError` that names file, line and column if a number of a table without a header is not allowed."""
    strange = np.flatnonzero(~table[column].isin(allowed))
    if strange.size:
        cell = table[column].iloc[strange[0]]
        raise DataError(f"{path}: line {strange[0] + 1}, column {column!r}: {cell:g} is not one of {allowed}")


def _content(path: Path, member: str | None) -> bytes:
    """The bytes of the table, decompressed."""
    content = path.read_bytes()
    with naming_file(path):
        if member is not None:
            return zip_member(content, member)
        return gunzipped(content) if path.suffix == ".gz" else content


def _parse(content: bytes, names: Sequence[str], header: bool, text: Sequence[str]) -> pd.DataFrame:
    """The columns outside ``text``: as numbers, or as strings if a cell is not a number.

    Raises `ParserError` if a line has more fields than the first, or that has not one for each name.
    """
    number = {k: object if name in text else np.float64 for k, name in enumerate(names)}
    try:
        table = _read(content, header, number)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError):
        raise
    except ValueError:
        table = _read(content, header, object)
    if table.shape[1] != len(names):
        raise pd.errors.ParserError(f"{table.shape[1]} columns, expected {len(names)}")
    return table.set_axis(list(names), axis="columns").drop(columns=list(text))


def _read(content: bytes, header: bool, dtype: Any) -> pd.DataFrame:
    return pd.read_csv(
        io.BytesIO(content),
        header=None,
        skiprows=int(header),
        skipinitialspace=True,
        skip_blank_lines=False,
        dtype=dtype,
    )
