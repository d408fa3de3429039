"""Rows of a CSV table with their locations for messages."""

import csv
from collections.abc import Iterator, Sequence
from pathlib import Path

from rnshmc.errors import DataError


def read_rows(path: Path, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Rows of a CSV file with exactly these columns, each with its file and line for messages."""
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        if tuple(reader.fieldnames or ()) != tuple(columns):
            actual = ", ".join(reader.fieldnames or ["none"])
            raise DataError(f"{path}: expected the columns {', '.join(columns)}, got {actual}")
        for row in reader:
            source = f"{path}, line {reader.line_num}"
            if None in row or None in row.values():
                raise DataError(f"{source}: expected {len(columns)} cells")
            yield source, row
