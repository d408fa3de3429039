"""The closure has exactly the files that an import reads."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from rnshmc.rerun.closure import import_closure, imported_names

ROOT = Path(__file__).resolve().parents[2]

TREE = {
    "__init__.py": "",
    "a.py": "import numpy\nfrom rnshmc.b import thing\n",
    "b.py": "def thing():\n    from . import c\n    return c\n",
    "c.py": "from __future__ import annotations\n",
    "lonely.py": "",
    "deep/__init__.py": "from .first import x\n",
    "deep/first.py": "from ..c import y\nfrom . import second as renamed\n",
    "deep/second.py": "",
    "typed.py": """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from rnshmc import a
else:
    import rnshmc.c
""",
    "guarded.py": """
try:
    import rnshmc.b as b
except ImportError:
    with open("x"):
        import rnshmc.lonely
""",
    "always.py": "import typing\nif not typing.TYPE_CHECKING:\n    from rnshmc import lonely\n",
    "matched.py": "match 1:\n    case 1:\n        from rnshmc import lonely\n",
    "loop.py": "import rnshmc.loop_back\n",
    "loop_back.py": "import rnshmc.loop\n",
    "registry.py": "ENTRIES = {'a': 'rnshmc.a:thing'}\n",
}


def write_tree(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = root / "src/rnshmc" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def closure(root: Path, *names: str) -> set[str]:
    files = import_closure(names, root / "src")
    assert list(files) == sorted(files)
    return {file.relative_to(root / "src/rnshmc").as_posix() for file in files}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    write_tree(tmp_path, TREE)
    return tmp_path


@pytest.mark.parametrize(
    ("module", "expected"),
    [
        ("c", {"c.py"}),
        ("a", {"a.py", "b.py", "c.py"}),
        ("b.thing", {"b.py", "c.py"}),
        ("deep", {"deep/__init__.py", "deep/first.py", "deep/second.py", "c.py"}),
        ("deep.second", {"deep/__init__.py", "deep/first.py", "deep/second.py", "c.py"}),
        ("typed", {"typed.py", "c.py"}),
        ("always", {"always.py", "lonely.py"}),
        ("guarded", {"guarded.py", "b.py", "c.py", "lonely.py"}),
        ("matched", {"matched.py", "lonely.py"}),
        ("loop", {"loop.py", "loop_back.py"}),
        ("registry", {"registry.py"}),
    ],
)
def test_every_form_of_import_is_followed(tree: Path, module: str, expected: set[str]) -> None:
    assert closure(tree, f"rnshmc.{module}") == expected | {"__init__.py"}


def test_closure_of_several_modules_is_the_union_of_theirs(tree: Path) -> None:
    both = closure(tree, "rnshmc.a", "rnshmc.lonely")
    assert both == closure(tree, "rnshmc.a") | closure(tree, "rnshmc.lonely")


def test_an_edit_within_the_same_process_is_seen(tree: Path) -> None:
    before = closure(tree, "rnshmc.lonely")
    write_tree(tree, {"lonely.py": "import rnshmc.c\n"})
    assert closure(tree, "rnshmc.lonely") == before | {"c.py"}


def test_modules_outside_the_folder_are_left_out(tree: Path) -> None:
    script = tree / "script.py"
    script.write_text("import numpy as np\nfrom snakemake.script import snakemake\nfrom rnshmc.b import thing\n")
    assert {"numpy", "snakemake.script", "rnshmc.b", "rnshmc.b.thing"} <= set(imported_names(script))
    assert closure(tree, *imported_names(script)) == {"__init__.py", "b.py", "c.py"}


def test_a_notebook_imports_by_its_code_cells(tree: Path) -> None:
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["from rnshmc.a import no code\n"]},
            {"cell_type": "code", "source": ["%matplotlib inline\n", "from rnshmc.b import thing"]},
            {"cell_type": "code", "source": ["thing()"]},
        ]
    }
    path = tree / "notebook.ipynb"
    path.write_text(json.dumps(notebook))
    assert imported_names(path) == ("rnshmc.b", "rnshmc.b.thing")


@pytest.mark.parametrize("module", ["rnshmc.rerun.closure", "rnshmc.store.provenance", "rnshmc.store.chains"])
def test_closure_holds_every_file_that_python_loads(module: str) -> None:
    listing = (
        f"import sys, {module}\n"
        "print(*(m.__file__ for n, m in sys.modules.items() if n.split('.')[0] == 'rnshmc'), sep='\\n')"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True, check=True, env=environment)
    loaded = {Path(line) for line in done.stdout.split()}
    assert loaded <= set(import_closure([module], ROOT / "src"))
