"""Paper B's results in words and short tables, beside the printed numbers."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from rnshmc.report.network_text import (
    readable_agreement,
    readable_process_table,
    reading,
    settings_table,
    stand_in_warning,
)
from rnshmc.report.sections import sections
from rnshmc.report.table_text import Number
from rnshmc.results.agreement import AGREEMENT_COLUMNS
from rnshmc.results.views import read_views
from rnshmc.scorecard.published import read_published

TITLES = {"lr_200": "Many dimensions", "news": "News", "cover_type": "Trees", "mine": "My own"}
PAPERS = Path(__file__).parents[2] / "papers"
NUMBERS = read_published([PAPERS / "li2019.csv"])
COLUMNS = read_views(PAPERS / "views.csv")["nng_tables"]


def made_up(problem: str, sampler: str, recipe: str, **columns: Any) -> dict[str, Any]:
    numbers = {**dict.fromkeys((column.name for column in COLUMNS), 1.0), "chains": 1, "draws": 1000}
    return {
        **numbers,
        "problem": problem,
        "sampler": sampler,
        "recipe": recipe,
        "loaded": False,
        "data": "real",
        **columns,
    }


TABLE = pd.DataFrame(
    [
        made_up("lr_200", "hmc", "hmc", ap=0.812, training_draws=float("nan"), chains=2, draws=1000),
        made_up("lr_200", "nng_hmc", "nng_hmc", ap=0.59, speedup=4.123, training_draws=400, chains=2, draws=1000),
        made_up("news", "hmc", "hmc", ap=0.8, data="stand-in"),
        made_up("news", "nng_hmc_10", "nng_hmc", ap=0.6, speedup=9.0, total_speedup=4.0, data="stand-in", loaded=True),
        made_up("cover_type", "sghmc_a", "sghmc", training_draws=float("nan"), chains=1, draws=600),
        made_up("cover_type", "sghmc_mh", "sghmc_mh", ap=0.3, training_draws=float("nan"), chains=1, draws=2000),
        made_up("mine", "nng_hmc", "nng_hmc", ap=0.5, speedup=3.0),
    ]
)
ERRORS = TABLE.assign(ap=0.0123, speedup=0.0, total_speedup=float("nan"))
SECTIONS = {section.problem: section for section in sections(TABLE, ERRORS, COLUMNS, NUMBERS, TITLES)}


def test_printed_numbers_stand_where_the_paper_counts_them() -> None:
    network = SECTIONS["lr_200"].rows[1]
    assert list(network.numbers) == ["ap", "speedup", "total_speedup"]
    assert network.numbers["ap"] == Number("0.59", "± 0.012", "0.60")
    # A printed number that follows from others is not compared.
    assert network.numbers["speedup"] == Number("4.12", "", "")
    assert network.numbers["total_speedup"].paper == ""
    assert SECTIONS["lr_200"].rows[0].numbers["speedup"].paper == ""
    shared = SECTIONS["news"].rows[1]
    assert (shared.numbers["speedup"].paper, shared.numbers["total_speedup"].paper) == ("", "4.27")
    assert (shared.loaded, network.loaded) == (True, False)


def test_samplers_without_a_metropolis_step_are_left_out() -> None:
    assert [row.sampler for row in SECTIONS["cover_type"].rows] == ["SGHMC-MH"]


def test_stand_ins_are_known_and_named() -> None:
    assert [section.problem for section in SECTIONS.values() if section.origin == "stand-in"] == ["news"]
    assert "**Stand-in data:** News." in stand_in_warning(TABLE, TITLES)
    assert stand_in_warning(TABLE[TABLE["problem"] != "news"], TITLES) == ""


def test_what_came_out_is_said_beside_what_the_paper_has() -> None:
    assert reading(SECTIONS["lr_200"]) == (
        "- Many dimensions: HMC accepts 0.81 (paper: 0.80); NNg-HMC accepts 0.59 (paper: 0.60) and yields × 4.12."
    )
    assert "yields × 4.00 (paper: × 4.27) with its training" in reading(SECTIONS["news"])
    assert reading(SECTIONS["mine"]) == "- My own: NNg-HMC accepts 0.50 and yields × 3.00."


def test_a_run_without_problems_has_no_sections() -> None:
    assert sections(TABLE.iloc[:0], ERRORS.iloc[:0], COLUMNS, NUMBERS, TITLES) == []


def test_settings_say_what_drives() -> None:
    problems: dict[str, dict[str, Any]] = {
        "lr_200": {
            "samplers": {
                "hmc": {"step_size": 0.01, "n_steps": [1, 19]},
                "nng_hmc": {"step_size": 0.01, "n_steps": [19, 19], "surrogate": "network"},
            },
            "surrogates": {"network": {"hidden_units": 50, "epochs": 40, "blocks": 8}},
        },
        "cover_type": {
            "samplers": {
                "sghmc_a": {"step_size": 2.236e-3, "n_steps": [50, 50], "batch_size": 500, "friction": 4.472},
                "sghmc_mh": {"step_size": 0.001, "n_steps": [1, 9], "batch_size": 5000},
            },
            "surrogates": {},
        },
    }
    settings = settings_table(TABLE, problems, TITLES)
    assert settings["driven by"].tolist() == [
        "the exact gradient",
        "8 × 50 hidden units, 40 epochs",
        "batches of 500 rows, friction 4.472",
        "batches of 5000 rows",
    ]
    assert settings["leapfrog steps"].tolist() == ["1 to 19", "19", "50", "1 to 9"]
    assert settings["training draws"].tolist() == ["–", "400", "–", "–"]
    assert settings["kept draws"].tolist() == ["2 × 1000", "2 × 1000", "1 × 600", "1 × 2000"]


def test_a_sampler_without_settings_has_dashes() -> None:
    problems: dict[str, dict[str, Any]] = {
        str(name): {"samplers": {key: {} for key in rows["sampler"]}, "surrogates": {}}
        for name, rows in TABLE.groupby("problem")
    }
    settings = settings_table(TABLE, problems, TITLES)
    assert set(settings["step size"]) == set(settings["leapfrog steps"]) == {"–"}
    assert set(settings["driven by"]) == {"a kernel surrogate"}


@pytest.mark.parametrize(
    ("agrees", "word"), [(True, "agree"), (False, "differ"), (None, "too few draws"), (None, "not mixed")]
)
def test_agreement_is_a_word(agrees: bool | None, word: str) -> None:
    mixed = word != "not mixed"
    row = dict(
        zip(
            AGREEMENT_COLUMNS, ("news", "sghmc_a", "hmc", 4.0, 9, 3.2, agrees, mixed, 0.5, 1.25, 1, "real"), strict=True
        )
    )
    table = readable_agreement(pd.DataFrame([row]), TITLES)
    assert table.iloc[0].tolist() == ["News", "SGHMC (a)", "4.00", "3.20", word, "0.500", "1.25", "real"]


def test_table_4_has_means_over_repeats_beside_printed_numbers() -> None:
    rows = [
        ("hmc", 10, 0, 1, 1.0),
        ("nng_hmc", 10, 500, 1, 0.4),
        ("nng_hmc", 10, 500, 2, 0.6),
        ("nng_hmc", 10, 30, 1, 0.3),
    ]
    table = readable_process_table(pd.DataFrame(rows, columns=["method", "d", "size", "repeat", "acceptance"]), NUMBERS)
    assert table.index.tolist() == [("NNg-HMC", "10 dimensions")]
    assert table.iloc[0].to_dict() == {"30 points": "0.30", "500 points": "0.50 [0.95]"}
