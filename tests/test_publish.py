"""docs/RESULTS.md says what the published scorecard says."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from rnshmc.report.scorecard_text import verdict_sentence

ROOT = Path(__file__).parents[1]


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.delitem(sys.modules, "publish", raising=False)
    return importlib.import_module("publish")


def test_only_the_text_between_the_markers_is_replaced(publish: ModuleType) -> None:
    page = f"# Results\n\n{publish.BEGIN}\n\nold\n{publish.END}\n\n## Table 1\n"
    once = publish.replace_verdicts(page, "new\n")
    assert once == f"# Results\n\n{publish.BEGIN}\n\nnew\n\n{publish.END}\n\n## Table 1\n"
    assert publish.replace_verdicts(once, "new\n") == once


def test_the_page_has_the_counts_of_the_published_scorecard(publish: ModuleType) -> None:
    card = pd.read_csv(publish.DOCS / "scorecard.csv")
    page = publish.PAGE.read_text(encoding="utf-8")
    assert card["paper"].nunique() == 2
    for _, rows in card.groupby("paper"):
        assert verdict_sentence(rows) in page
