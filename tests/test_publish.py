"""docs/RESULTS.md agrees with the published scorecard."""

import csv
import importlib
import re
import sys
from collections import Counter
from pathlib import Path
from types import ModuleType

import pandas as pd
import pytest

from rnshmc.report.beside_printed import beside_printed, counted, grid_beside_printed, lean_speedups

ROOT = Path(__file__).parents[1]


@pytest.fixture
def publish(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "scripts")
    monkeypatch.delitem(sys.modules, "publish", raising=False)
    return importlib.import_module("publish")


def test_the_page_is_written_by_the_script_from_the_published_results(publish: ModuleType) -> None:
    text = publish.PAGE.read_text(encoding="utf-8")
    assert publish.page() == text
    assert len(text.splitlines()) <= 250


def test_every_sum_on_the_page_is_that_of_the_published_scorecard(publish: ModuleType) -> None:
    """Counted from the file line by line, without the code that wrote the table."""
    with (publish.DOCS / "scorecard.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    text = publish.PAGE.read_text(encoding="utf-8")
    head, _, *body = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.split("\n## ")[0].splitlines()
        if line.startswith("|")
    ]
    columns = {
        "paper A": ("zhang2017", "False"),
        "paper B": ("li2019", "False"),
        "paper B, after a search": ("li2019", "True"),
    }
    assert head == ["", *columns]
    shown = {line[0]: line[1:] for line in body}
    found = {
        title: Counter(row["verdict"] for row in rows if (row["paper"], row["after_search"]) == key)
        for title, key in columns.items()
    }
    assert sum(counts.total() for counts in found.values()) == len(rows)
    for k, (title, counts) in enumerate(found.items()):
        compared = counts["reproduced"] + counts["differs"]
        assert shown["compared"][k] == str(compared)
        assert shown["reproduced"][k] == f"{counts['reproduced']} ({counts['reproduced'] / compared:.1%})"
        assert shown["all"][k] == str(counts.total())
        others = {name: line[k] for name, line in shown.items() if name not in ("compared", "reproduced", "all")}
        assert {name: int(value) for name, value in others.items()} == {name: counts[name] for name in others}, title
        assert set(counts) <= {"reproduced", *others}


def test_the_sums_in_the_readme_are_those_of_the_published_scorecard(publish: ModuleType) -> None:
    with (publish.DOCS / "scorecard.csv").open(encoding="utf-8", newline="") as file:
        found = Counter((row["after_search"], row["verdict"]) for row in csv.DictReader(file))
    text = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    pattern = r"Of (\d+) printed numbers [^.]*, (\d+) are reproduced\. Of (\d+) more, [^.]*, (\d+) are reproduced\."
    shown = [tuple(int(number) for number in groups) for groups in re.findall(pattern, text)]
    sums = [
        number
        for after in ("False", "True")
        for number in (found[after, "reproduced"] + found[after, "differs"], found[after, "reproduced"])
    ]
    assert shown == [tuple(sums)]


def test_nothing_on_the_published_card_was_not_run(publish: ModuleType) -> None:
    card = pd.read_csv(publish.DOCS / "scorecard.csv")
    assert not card["note"].str.startswith("not run").any()
    assert card.loc[card["ours"].isna(), "verdict"].isin(["repeat", "not judged"]).all()


def test_a_folder_without_a_finished_run_costs_nothing(publish: ModuleType, tmp_path: Path) -> None:
    before = sorted(publish.DOCS.iterdir())
    with pytest.raises(SystemExit, match=r"no finished run, for there is no tables/scorecard\.csv"):
        publish.copy(tmp_path)
    assert sorted(publish.DOCS.iterdir()) == before


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


def test_counts_and_lean_speed_ups_are_those_of_table_1() -> None:
    table = pd.DataFrame(
        [("b", "hmc", 0.5, 1.0), ("a", "hmc", 0.25, 1.0), ("a", "rns_hmc", 0.75, 3.0), ("a", "rns_rmhmc", 1.0, 4.0)],
        columns=["problem", "sampler", "min_ess_per_value", "speedup"],
    )
    assert counted(table, {"a": "A"}).to_dict("records") == [
        {"problem": "A", "HMC": "0.25", "RNS-HMC": "0.75", "RNS-RMHMC": "1", "RNS-HMC over HMC": "3"}
    ]
    assert lean_speedups(table, table.assign(speedup=[0.0, 0.0, 0.5, float("nan")])) == {
        "table1/b/hmc": "1",
        "table1/a/hmc": "1",
        "table1/a/rns_hmc": "3.00 ± 0.50",
        "table1/a/rns_rmhmc": "4.00",
    }


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
