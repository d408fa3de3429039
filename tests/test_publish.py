"""docs/RESULTS.md says what the published scorecard says."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from rnshmc.report.beside_printed import beside_printed
from rnshmc.report.scorecard_text import verdict_sentence

ROOT = Path(__file__).parents[1]


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.delitem(sys.modules, "publish", raising=False)
    return importlib.import_module("publish")


def test_only_the_text_between_the_markers_is_replaced(publish: ModuleType) -> None:
    page = f"# Results\n\n{publish.BEGIN}\n\nold\n{publish.END}\n\n## Table 1\n"
    once = publish.replaced(page, "new\n")
    assert once == f"# Results\n\n{publish.BEGIN}\n\nnew\n\n{publish.END}\n\n## Table 1\n"
    assert publish.replaced(once, "new\n") == once


def test_the_page_has_the_counts_of_the_published_scorecard(publish: ModuleType) -> None:
    card = pd.read_csv(publish.DOCS / "scorecard.csv")
    page = publish.PAGE.read_text(encoding="utf-8")
    assert card["paper"].nunique() == 2
    for _, rows in card.groupby("paper"):
        assert verdict_sentence(rows) in page


def test_tables_on_the_page_are_those_of_the_published_scorecard(publish: ModuleType) -> None:
    page = publish.PAGE.read_text(encoding="utf-8")
    assert publish.with_tables(page, pd.read_csv(publish.DOCS / "scorecard.csv")) == page


def test_a_number_has_the_printed_one_behind_it() -> None:
    ours = {"ap": 0.7, "ess_min": 10.4, "ess_median": 20.0, "ess_max": 30.0, "speedup": 2.0}
    errors = {"speedup": 0.25}
    card = pd.DataFrame(
        [
            ("table9/a/hmc", name, 2 * value, value, errors.get(name, float("nan")))
            for name, value in {**ours, "speedup": 1.0}.items()
        ]
        + [("table9/a/nng_hmc", name, 2 * value, value, errors.get(name, float("nan"))) for name, value in ours.items()]
        + [("table9/b/hmc", "ap", 1.0, 1.0, float("nan"))],
        columns=["item", "quantity", "printed", "ours", "ours_se"],
    )
    table = beside_printed(card, {"table9/a": "A"})
    assert table.to_numpy().tolist() == [
        ["A", "HMC", "0.700 [1.40]", "10, 20, 30 [21, 40, 60]", "1 [2]"],
        ["", "NNg-HMC", "0.700 [1.40]", "10, 20, 30 [21, 40, 60]", "2.00 ± 0.25 [4]"],
    ]
