"""Tables of frozen dataclasses of numbers, words and truth values: a row for each, in CSV files."""

import csv
from collections.abc import Iterable
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

Record = TypeVar("Record")


def read_records(table: Path, kind: type[Record]) -> list[Record]:
    """Records of a table that `write_records` wrote; none where there is no such file."""
    if not table.exists():
        return []
    types = get_type_hints(kind)

    def typed(key: str, entry: str) -> Any:
        return entry == "True" if types[key] is bool else types[key](entry)

    with table.open(newline="") as file:
        return [kind(**{key: typed(key, entry) for key, entry in row.items()}) for row in csv.DictReader(file)]


def write_records(path: Path, kind: Any, records: Iterable[Any], digits: int = 5) -> None:
    """A table with a row for each record of a dataclass, with so many significant digits."""
    with path.open("w", newline="") as file:
        table = csv.DictWriter(file, [field.name for field in fields(kind)], lineterminator="\n")
        table.writeheader()
        for record in records:
            row = asdict(record).items()
            table.writerow({key: f"{entry:.{digits}g}" if isinstance(entry, float) else entry for key, entry in row})
