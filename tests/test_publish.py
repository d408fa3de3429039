"""docs/RESULTS.md says what the published scorecard says."""

import importlib
import sys
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from rnshmc.report.beside_printed import beside_printed, counted_and_lean, grid_beside_printed
from rnshmc.report.scorecard_text import verdict_sentence

ROOT = Path(__file__).parents[1]


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.delitem(sys.modules, "publish", raising=False)
    return importlib.import_module("publish")


def test_only_the_text_between_the_lines_of_a_name_is_replaced(publish: ModuleType) -> None:
    other = "<!-- b: written by scripts/publish.py -->\n\nkept\n<!-- end of b -->\n"
    begin, end = "<!-- a: written by scripts/publish.py -->", "<!-- end of a -->"
    once = publish.replaced(f"# Results\n\n{other}\n{begin}\n\nold\n{end}\n\n## Table 1\n", "new\n", "a")
    assert once == f"# Results\n\n{other}\n{begin}\n\nnew\n\n{end}\n\n## Table 1\n"
    assert publish.replaced(once, "new\n", "a") == once


def test_the_page_has_the_counts_of_the_published_scorecard(publish: ModuleType) -> None:
    card = pd.read_csv(publish.DOCS / "scorecard.csv")
    page = publish.PAGE.read_text(encoding="utf-8")
    assert card["paper"].nunique() == 2
    for _, rows in card.groupby("paper"):
        assert verdict_sentence(rows) in page


def test_a_folder_without_a_finished_run_costs_nothing(publish: ModuleType, tmp_path: Path) -> None:
    before = sorted(publish.DOCS.iterdir())
    with pytest.raises(SystemExit, match=r"no finished run, for there is no tables/scorecard\.csv"):
        publish.copy(tmp_path)
    assert sorted(publish.DOCS.iterdir()) == before


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


def test_each_problem_has_a_row_of_counts_and_lean_speed_ups() -> None:
    index = ["problem", "sampler", "min_ess_per_value", "speedup"]
    table = pd.DataFrame(
        [("b", "hmc", 0.5, 1.0), ("a", "hmc", 0.25, 1.0), ("a", "rns_hmc", 0.75, 3.0), ("a", "rns_rmhmc", 1.0, 4.0)],
        columns=index,
    )
    errors = table.assign(speedup=[0.0, 0.0, 0.5, float("nan")])
    assert counted_and_lean(table, errors, {"a": "A"}).to_dict("records") == [
        {
            "problem": "A",
            "HMC": "0.25",
            "RNS-HMC": "0.75",
            "RNS-RMHMC": "1",
            "RNS-HMC over HMC": "3",
            "speed-up of RNS-HMC": "3.00 ± 0.50",
            "speed-up of RNS-RMHMC": "4.00",
        }
    ]


def test_a_grid_has_a_row_for_each_dimension_and_a_column_for_each_number_of_points() -> None:
    card = pd.DataFrame(
        [
            ("table9/nng_hmc", "ap_d5_n1000", 0.9, 0.85),
            ("table9/nng_hmc", "ap_d10_n500", 0.8, 0.75),
            ("table9/nng_hmc", "ap_d5_n500", 0.7, 0.65),
            ("table9/nng_hmc", "ap_d10_n1000", 0.6, 0.55),
            ("table8/nng_hmc", "ap_d10_n1000", 0.1, 0.1),
        ],
        columns=["item", "quantity", "printed", "ours"],
    )
    assert grid_beside_printed(card, "table9").to_dict("list") == {
        "method": ["NNg-HMC", "NNg-HMC"],
        "d": [5, 10],
        "500 points": ["0.65 [0.70]", "0.75 [0.80]"],
        "1000 points": ["0.85 [0.90]", "0.55 [0.60]"],
    }
