"""The papers that the project regenerates: what is said of each in papers/papers.csv."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

from rnshmc.errors import DataError, ParameterError
from rnshmc.store.csv_rows import read_rows

PAPERS_COLUMNS = ("paper", "title", "citation", "view", "pages")

Pages = Literal["each", "shared"]


@dataclass(frozen=True)
class Paper:
    """A paper."""

    title: str
    """A heading."""
    view: str
    """The table of results in its layout (`rnshmc.results.views`)."""
    pages: Pages
    """Whether ``each`` of its problems has a page and a place in the figures over problems, or they have ``shared``
    pages (`rnshmc.report.notebooks`)."""


NO_PAPER = Paper("Problems of your own", "table1", "each")
"""How problems are shown that are of no paper."""


def read_papers(path: Path) -> dict[str, Paper]:
    """The papers by their names, in the order in which they are shown: columns `PAPERS_COLUMNS`.

    Raises `DataError` if the file has other columns, or a cell that cannot be used: the message names file, line and
    column.
    """
    papers = {}
    for source, row in read_rows(path, PAPERS_COLUMNS):
        for column in ("paper", "title", "view"):
            if not row[column]:
                raise DataError(f"{source}, column {column}: empty")
        if row["pages"] not in ("each", "shared"):
            raise DataError(f"{source}, column pages: expected each or shared, got {row['pages']!r}")
        papers[row["paper"]] = Paper(row["title"], row["view"], cast(Pages, row["pages"]))
    return papers


def papers_of(problems: Mapping[str, Mapping[str, Any]], papers: Collection[str]) -> dict[str, str]:
    """The paper of each problem that has one.

    Raises `ParameterError` if a problem names a paper that is not among them: the message names key, value and the
    papers.
    """
    found = {name: str(entry["paper"]) for name, entry in problems.items() if "paper" in entry}
    unknown = [
        f"problems.{name}.paper is {paper!r}; papers/papers.csv has {', '.join(sorted(papers))}"
        for name, paper in found.items()
        if paper not in papers
    ]
    if unknown:
        raise ParameterError("configuration: " + "; ".join(unknown))
    return found
