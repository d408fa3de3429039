"""Statements of docs/ about the code."""

import ast
import re
from pathlib import Path

import pytest

import rnshmc
from rnshmc.inference.result import verdict
from rnshmc.inference.surrogate import weights
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_shared import BAD, MANY, TOLERATED

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
OTHERS = (
    "README.md",
    "CONTRIBUTING.md",
    "benchmarks/README.md",
    "config/README.md",
    "data/README.md",
    "papers/README.md",
)
TOP = "(?:src|tests|docs|config|papers|benchmarks|workflow|scripts|profiles|targets|fem|run|datasets)"


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
    assert {level: text.removesuffix(" ...") for level, text in rows} == verdict.HEADS


def test_limits_of_the_verdict_are_those_of_the_code() -> None:
    lines = (DOCS / "verdict.md").read_text(encoding="utf-8").splitlines()
    rows = {cells[1].strip(): cells[2:4] for cells in (line.split("|") for line in lines) if len(cells) == 6}
    limits_of = DEFAULT.judging
    for name, limits in {
        "`sd(U - V)`": (f"up to {limits_of.sd_good:g}", f"above {limits_of.sd_bad:g}"),
        "unresolved mass": (
            f"up to {verdict.open_share(limits_of.sd_good):.0%}",
            f"above {verdict.open_share(limits_of.sd_bad):.0%}",
        ),
        "tails": (f"up to {TOLERATED:.0%}", f"above {BAD * TOLERATED:.0%}"),
        "`Pareto k`": (f"up to {weights.MOST_RELIABLE_K:g}", f"above {weights.USELESS_K:g}"),
        "`R-hat`": (f"up to {limits_of.rhat_good:g}", f"above {limits_of.rhat_bad:g}"),
        "effective sample size": (f"from {MANY} on", ""),
        "tail of squares": (f"up to {limits_of.heavy:g}", ""),
        "mass far out": (f"up to {TOLERATED:g}", f"above {BAD * TOLERATED:g}"),
    }.items():
        assert tuple(cell.strip() for cell in rows[name]) == limits


@pytest.mark.parametrize(
    "page", [*PAGES, *(ROOT / name for name in OTHERS)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_files_modules_and_targets_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    folders = [ROOT, page.parent, ROOT / "src/rnshmc"]
    named = re.findall(rf"(?<![\w./<>{{-])({TOP}/[\w./-]*\w)(?![\w<>{{*/])", text)
    missing = [
        name
        for name in named
        if "/." not in name and "/results/" not in name and not any((folder / name).exists() for folder in folders)
    ]
    missing += [name for name in re.findall(r"`rnshmc\.([a-z_]+(?:\.[a-z_]+)*)", text) if not _exists(name)]
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    missing += sorted(set(re.findall(r"(?:^    |`)make ([a-z-]+)", text, re.MULTILINE)) - targets)
    assert missing == []


def _exists(name: str) -> bool:
    """Whether the package offers a name, or has such a module or a module with such a name in it."""
    path = ROOT / "src/rnshmc" / name.replace(".", "/")
    paths = (path, path.with_suffix(".py"), path.parent.with_suffix(".py"))
    return name in rnshmc.EXPORTS or any(found.exists() for found in paths)
