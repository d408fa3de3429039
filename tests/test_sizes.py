"""The size of the code: lines, files and tuned numbers have limits."""

import ast
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_architecture import ROOT, write

COUNTED = frozenset({".py", ".smk", ".j2", ".css", ".yaml"})
MOST_LINES, MOST_RULE_FILES = 24000, 10
"""Lines of ``src`` and ``workflow`` without ``inference``, and files of rules: raised by nobody who has not asked."""
MOST_NUMBERS = 143
"""Tuned numbers of `rnshmc.sample`: raised by nobody who has not asked."""


def tuned_numbers(root: Path) -> list[str]:
    """Numbers in the values of constants and fields of the modules of tuned numbers."""
    return [
        f"{file.name}:{node.lineno}: {node.value!r}"
        for file in sorted((root / "src/rnshmc/inference").glob("tuning*.py"))
        for value in _values(ast.parse(file.read_text(encoding="utf-8")))
        for node in ast.walk(value)
        if isinstance(node, ast.Constant) and type(node.value) in {int, float}
    ]


def _values(tree: ast.Module) -> Iterator[ast.expr]:
    """Values of the constants of a module, and of the fields of its classes."""
    for body in (tree.body, *(node.body for node in tree.body if isinstance(node, ast.ClassDef))):
        yield from (node.value for node in body if isinstance(node, ast.Assign | ast.AnnAssign) and node.value)


def long_files(folder: Path, limit: int) -> list[str]:
    """Python files with ``limit`` lines or more."""
    return [str(file) for file in folder.rglob("*.py") if len(file.read_text(encoding="utf-8").splitlines()) >= limit]


# --- This tree -------------------------------------------------------------------------------------------------------


def test_files_stay_small() -> None:
    assert long_files(ROOT / "src", 300) == []
    assert long_files(ROOT / "workflow/scripts", 60) == []


def test_the_code_beside_inference_stays_small() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "src", "workflow"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if tracked.returncode != 0:
        pytest.skip("git does not know this folder")
    files = [Path(name) for name in tracked.stdout.split() if not name.startswith("src/rnshmc/inference/")]
    counted = [ROOT / file for file in files if file.suffix in COUNTED and (ROOT / file).exists()]
    assert sum(len(file.read_bytes().splitlines()) for file in counted) <= MOST_LINES
    assert len([file for file in counted if file.suffix == ".smk"]) <= MOST_RULE_FILES


def test_tuned_numbers_stay_few() -> None:
    assert len(tuned_numbers(ROOT)) <= MOST_NUMBERS


# --- The checks themselves, on trees that break a rule ---------------------------------------------------------------


def test_a_long_file_is_found(tmp_path: Path) -> None:
    write(tmp_path, "long.py", "x = 1\n" * 300)
    write(tmp_path, "short.py", "x = 1\n" * 299)
    assert [Path(file).name for file in long_files(tmp_path, 300)] == ["long.py"]


def test_a_tuned_number_is_counted(tmp_path: Path) -> None:
    write(
        tmp_path, "inference/tuning.py", "FEW = 20\n\nclass Fit:\n    most: int = FEW\n    steps: tuple = (40, 2.0)\n"
    )
    write(
        tmp_path,
        "inference/tuning_start.py",
        "class Search:\n    hugging: bool = False\n\n    def f(self):\n        a = 1\n",
    )
    assert [one.split(": ")[1] for one in tuned_numbers(tmp_path)] == ["20", "40", "2.0"]
