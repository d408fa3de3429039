"""A problem's paper is one of papers/papers.csv."""

from pathlib import Path

import pytest

from rnshmc.errors import DataError, ParameterError
from rnshmc.scorecard.papers import papers_of, read_papers

HEADER = "paper,title,citation,view,pages\n"


def test_a_typo_is_named_with_the_papers_that_there_are() -> None:
    problems = {"bank": {"paper": "zhang2017"}, "garch": {"paper": "li2091"}, "mine": {}}
    message = r"problems\.garch\.paper is 'li2091'; papers/papers\.csv has li2019, zhang2017$"
    with pytest.raises(ParameterError, match=message):
        papers_of(problems, ["zhang2017", "li2019"])
    assert papers_of(problems, ["zhang2017", "li2091"]) == {"bank": "zhang2017", "garch": "li2091"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a2026,,,table1,each", r"line 2, column title: empty"),
        ("a2026,A,,,each", r"line 2, column view: empty"),
        ("a2026,A,,table1,some", r"line 2, column pages: expected each or shared, got 'some'"),
    ],
)
def test_a_cell_that_cannot_be_used_is_named(tmp_path: Path, row: str, message: str) -> None:
    path = tmp_path / "papers.csv"
    path.write_text(f"{HEADER}{row}\n", encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_papers(path)
