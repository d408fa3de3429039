"""Published figures can be redrawn from their tables."""

import importlib
import sys
from inspect import signature
from pathlib import Path

import pytest

from rnshmc.plots.registry import FIGURES

ROOT = Path(__file__).parents[1]


def test_figures_that_are_redrawn_have_their_tables_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    for name in ("publish", "redraw"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    settings = importlib.import_module("redraw").settings()
    drawings = {drawing.name: drawing for drawing in FIGURES}
    for name, given in settings.items():
        assert set(given) == set(list(signature(drawings[name].draw).parameters)[len(drawings[name].reads) :])
        tables = [ROOT / f"docs/results/{table}.csv" for table in drawings[name].reads]
        assert [table.name for table in tables if not table.exists()] == []
        assert (ROOT / f"docs/results/{name}.png").exists()
