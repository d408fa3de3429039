"""What pages of docs/ say of the code."""

import ast
import re
from pathlib import Path

import pytest

import rnshmc
from rnshmc.inference.surrogate import weights
from rnshmc.inference.tuning import DEFAULT

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_python_on_a_page_is_python(page: Path) -> None:
    for block in re.findall(r"^```python.*?\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        ast.parse(block)


def test_every_public_name_is_in_the_reference() -> None:
    pages = (DOCS / "reference").glob("*.md")
    shown = [name for page in pages for name in re.findall(r"^::: rnshmc\.(\w+)$", page.read_text(), re.MULTILINE)]
    assert sorted(shown) == sorted(rnshmc.EXPORTS)


def test_sentences_of_the_verdict_are_those_of_the_code() -> None:
    rows = re.findall(r"^\| (good|doubtful|bad) \| (.*?) \|", (DOCS / "verdict.md").read_text(), re.MULTILINE)
    found = {level: verdict.Verdict((verdict.Finding(level, ""),)) for level in ("good", "doubtful", "bad")}
    assert dict(rows) == {level: str(made).splitlines()[0] for level, made in found.items()}


def test_limits_of_the_verdict_are_those_of_the_code() -> None:
    lines = (DOCS / "verdict.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(): cells[2:4] for cells in (line.split("|") for line in lines) if len(cells) == 6}
    limits_of = DEFAULT.judging
    for name, limits in {
        "`sd(U - V)`": (f"up to {limits_of.close:g}", f"above {limits_of.far:g}"),
        "mass left open": (f"up to {limits_of.open:.0%}", f"above {limits_of.wide_open:.0%}"),
        "tails": (f"up to {limits_of.lacking:.0%}", f"above {limits_of.much_lacking:.0%}"),
        "`Pareto k`": (f"up to {weights.MOST_RELIABLE_K:g}", f"from {weights.USELESS_K:g} on"),
        "`R-hat`": (f"up to {limits_of.mixed:g}", ""),
        "independent draws": (f"from {limits_of.few:g} on", ""),
    }.items():
        assert tuple(cell.strip() for cell in rows[name]) == limits
