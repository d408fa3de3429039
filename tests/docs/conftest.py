"""The scripts that run pages, as modules."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts"


@pytest.fixture(scope="session")
def docs_output() -> Iterator[ModuleType]:
    """scripts/docs_output.py, which offers `run_page`, too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(SCRIPTS)
        yield importlib.import_module("docs_output")
        for name in ("docs_output", "run_page"):
            sys.modules.pop(name, None)
