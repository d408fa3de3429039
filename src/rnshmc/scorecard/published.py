"""The printed numbers: one table per paper, with the rule and the measure of each number."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rnshmc.errors import DataError, ParameterError
from rnshmc.scorecard.rules import APART, ONE_SIDED, Rule
from rnshmc.store.csv_rows import read_rows

COLUMNS = (
    *("item", "heading", "problem", "sampler", "quantity", "printed", "where", "draws", "chains", "rule", "bound"),
    *("slack", "bound_by", "after_search", "relative_to", "measure", "arguments", "statement", "note"),
)
"""Columns of a paper's table; papers/README.md describes them."""

Argument = int | float | str | tuple[int | float | str, ...]
Key = tuple[str, str, str]
"""Paper, label and quantity of a number: the key of its row in the scorecard."""


@dataclass(frozen=True)
class Published:
    """A printed number or statement."""

    source: str
    """File and line, for messages."""
    paper: str
    item: str
    problem: str
    sampler: str
    quantity: str
    """The paper, its table, figure or section and, where they apply, problem and sampler."""
    heading: str
    """Title of the item on a page."""
    printed: float
    """The number; NaN for a statement in words."""
    where: str
    """Where it is printed."""
    draws: float
    chains: float
    """Kept draws per chain, and number of chains; NaN where they are not printed or not meaningful."""
    rule: Rule
    """How it is judged."""
    after_search: bool
    """Whether it follows from a setting that a search by printed numbers fixed: it counts in a sum of its own."""
    relative_to: str
    """A sampler by whose numbers in the same item this number and ours are divided; empty if none."""
    measure: str
    arguments: Mapping[str, Argument]
    """The function of `rnshmc.scorecard.measures` that computes our number, and its arguments; empty for a repeat."""
    statement: str
    """The statement in words; empty for a cell of a table."""
    note: str
    """A remark for readers of the scorecard, such as why it is not judged."""

    @property
    def label(self) -> str:
        """Item, problem and sampler: table1/bank/rns_hmc."""
        return "/".join(part for part in (self.item, self.problem, self.sampler) if part)

    @property
    def key(self) -> Key:
        """The key of its row in the scorecard."""
        return self.paper, self.label, self.quantity


def read_published(paths: Iterable[Path]) -> tuple[Published, ...]:
    """Read the tables of the papers, each named by its paper.

    Raises `DataError` if a file has other columns than `COLUMNS`, or a cell cannot be used: the message names file,
    line and column.
    """
    return tuple(number for path in paths for number in _read_paper(path))


def by_key(numbers: Iterable[Published]) -> dict[Key, Published]:
    """The numbers by the keys of the scorecard's rows."""
    return {number.key: number for number in numbers}


def printed_cells(numbers: Iterable[Published], problem: str, sampler: str) -> dict[str, Published]:
    """The printed numbers of a sampler on a problem, by quantity: statements in words are omitted."""
    return {
        number.quantity: number
        for number in numbers
        if (number.problem, number.sampler) == (problem, sampler) and not math.isnan(number.printed)
    }


def printed_table(numbers: Iterable[Published], quantity: str) -> pd.DataFrame:
    """A printed quantity of every problem and sampler that has it: columns problem, sampler and the quantity.

    Raises `DataError` if two items print it for one problem and sampler.
    """
    rows: dict[tuple[str, str], Published] = {}
    for number in numbers:
        if number.quantity != quantity or not number.problem or math.isnan(number.printed):
            continue
        if (other := rows.setdefault((number.problem, number.sampler), number)) is not number:
            raise DataError(f"{number.source}: {number.label} has a second {quantity}, after {other.source}")
    table = [(*key, number.printed) for key, number in rows.items()]
    return pd.DataFrame(table, columns=["problem", "sampler", quantity])


def read_acceptance(paths: Iterable[Path]) -> pd.DataFrame:
    """The printed acceptance of every problem and sampler, from the tables of the papers: `printed_table`."""
    return printed_table(read_published(paths), "ap")


def most_draws(numbers: Iterable[Published], problems: Iterable[str]) -> float:
    """The largest number of draws that a paper keeps per chain of some problems; 0 if no paper has them."""
    wanted = set(problems)
    kept = [number.draws for number in numbers if number.problem in wanted]
    return max((draws for draws in kept if not math.isnan(draws)), default=0.0)


def _read_paper(path: Path) -> list[Published]:
    numbers = [_published(source, path.stem, row) for source, row in read_rows(path, COLUMNS)]
    counts = Counter(number.key for number in numbers)
    for number in numbers:
        if counts[number.key] > 1:
            raise DataError(f"{number.source}, column quantity: {number.label}, {number.quantity} appears twice")
    bases = {(number.item, number.problem, number.sampler, number.quantity) for number in numbers}
    for number in numbers:
        if number.relative_to and (number.item, number.problem, number.relative_to, number.quantity) not in bases:
            raise DataError(
                f"{number.source}, column relative_to: {number.item}, {number.problem} has no {number.quantity} of "
                f"{number.relative_to!r}"
            )
    return numbers


def _published(source: str, paper: str, row: Mapping[str, str]) -> Published:
    for column in ("item", "heading", "quantity", "where", "rule", *(["measure"] if row["rule"] != "repeat" else [])):
        if not row[column]:
            raise DataError(f"{source}, column {column}: empty")
    if row["after_search"] not in ("", "yes"):
        raise DataError(f"{source}, column after_search: expected yes or nothing, got {row['after_search']!r}")
    names = ("item", "heading", "problem", "sampler", "quantity", "where", "relative_to", "measure", "statement")
    texts = {name: row[name] for name in names}
    number = Published(
        source=source,
        paper=paper,
        **texts,
        printed=_number(source, row, "printed"),
        draws=_number(source, row, "draws"),
        chains=_number(source, row, "chains"),
        rule=_rule(source, row),
        after_search=row["after_search"] == "yes",
        arguments=_arguments(source, row["arguments"]),
        note=row["note"],
    )
    if math.isnan(number.printed) and number.rule.kind not in (*ONE_SIDED, *APART):
        raise DataError(f"{source}, column printed: the rule {number.rule.kind!r} needs a number")
    if math.isnan(number.printed) and not number.statement:
        raise DataError(f"{source}, column statement: a row without a printed number needs a statement")
    return number


def _number(source: str, row: Mapping[str, str], column: str) -> float:
    try:
        return float(row[column]) if row[column] else math.nan
    except ValueError:
        raise DataError(f"{source}, column {column}: expected a number, got {row[column]!r}") from None


def _rule(source: str, row: Mapping[str, Any]) -> Rule:
    bound, slack = (_number(source, row, column) for column in ("bound", "slack"))
    try:
        return Rule(row["rule"], bound, slack, row["bound_by"])
    except ParameterError as error:
        raise DataError(f"{source}, column {error}") from None


def _arguments(source: str, text: str) -> dict[str, Argument]:
    """``name=value; name=value``; a value of several words is a tuple, and numeric words are numbers."""
    arguments: dict[str, Argument] = {}
    for part in filter(None, map(str.strip, text.split(";"))):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not name or not value or name in arguments:
            raise DataError(f"{source}, column arguments: expected name=value, each name once, got {part!r}")
        words = tuple(map(_value, value.split()))
        arguments[name] = words[0] if len(words) == 1 else words
    return arguments


def _value(word: str) -> int | float | str:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
