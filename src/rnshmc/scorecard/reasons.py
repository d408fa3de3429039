"""Why numbers differ: one table for all papers, whose reasons name the command of an experiment."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal, cast

from rnshmc.errors import DataError
from rnshmc.scorecard.published import Published
from rnshmc.store.csv_rows import read_rows

REASON_COLUMNS = ("paper", "item", "problem", "sampler", "quantity", "side", "reason")
_PATTERNS = ("item", "problem", "sampler", "quantity")

Side = Literal["", "lower", "higher"]


@dataclass(frozen=True)
class Reason:
    """Why some numbers of a paper differ.

    `item`, `problem`, `sampler` and `quantity` may be patterns (``*rmhmc``). It explains one `side`: ours ``lower`` or
    ``higher`` than the printed number or, for a one-sided statement, than its bound; an empty side means both.
    """

    source: str
    paper: str
    item: str
    problem: str
    sampler: str
    quantity: str
    side: Side
    reason: str

    def fits(self, number: Published) -> bool:
        """Whether it applies to this number."""
        return self.paper == number.paper and all(
            fnmatchcase(getattr(number, name), getattr(self, name)) for name in _PATTERNS
        )


def read_reasons(path: Path) -> tuple[Reason, ...]:
    """Read why numbers differ: columns `REASON_COLUMNS`, where an empty pattern matches everything.

    Raises `DataError` if the file has other columns, an unknown side, or an empty reason: the message names file and
    line.
    """
    return tuple(_reason(source, row) for source, row in read_rows(path, REASON_COLUMNS))


def reason_for(number: Published, printed: float, ours: float, reasons: Sequence[Reason]) -> str:
    """The first reason that matches, for the compared values `printed` and `ours`; empty if none does."""
    stated = number.rule.bound if math.isnan(printed) else printed
    side = "lower" if ours < stated else "higher"
    return next((reason.reason for reason in reasons if reason.fits(number) and reason.side in ("", side)), "")


def _reason(source: str, row: dict[str, str]) -> Reason:
    if row["side"] not in ("", "lower", "higher"):
        raise DataError(f"{source}, column side: expected lower, higher or nothing, got {row['side']!r}")
    if not row["reason"]:
        raise DataError(f"{source}, column reason: empty")
    patterns = {name: row[name] or "*" for name in _PATTERNS}
    return Reason(source, row["paper"], **patterns, side=cast(Side, row["side"]), reason=row["reason"])
