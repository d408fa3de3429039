"""The scorecard from made-up tables: compared numbers and verdicts."""

import math
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
from numpy.testing import assert_allclose

from rnshmc.scorecard.card import SCORECARD_COLUMNS, scorecard, sums, verdict_counts
from rnshmc.scorecard.measured import Tables
from rnshmc.scorecard.published import Published
from rnshmc.scorecard.reasons import Reason
from rnshmc.scorecard.rules import Rule
from tests.scorecard.conftest import Make

Results = Callable[..., Tables]
NEAR = Rule("near", 0.15, 0.35)
BANK, NEWS = "table1/bank/rns_hmc", "table5/news/nng_hmc_10"


@pytest.fixture
def numbers(numbers: tuple[Published, ...]) -> tuple[Published, ...]:
    """Printed numbers of three problems, one of which is not in the tables below."""
    return tuple(number for number in numbers if number.problem in ("bank", "pde", "news"))


def why(**pattern: Any) -> Reason:
    fits = dict.fromkeys(("item", "problem", "sampler", "quantity"), "*")
    return Reason(**{"source": "", "paper": "zhang2017", **fits, "side": "", "reason": "an older clock", **pattern})


def as_printed(numbers: tuple[Published, ...], item: str, problem: str, rename: dict[str, str]) -> dict[Any, Any]:
    """The printed rows of a table in columns of the results."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    for number in numbers:
        if (number.item, number.problem) == (item, problem) and not math.isnan(number.printed):
            column = rename.get(number.quantity, number.quantity)
            rows.setdefault((problem, number.sampler), {})[column] = number.printed
    return rows


@pytest.fixture
def bank(numbers: tuple[Published, ...], results: Results) -> Callable[..., Tables]:
    """Bank Marketing as published, with 1000 draws in place of 5000, but for what is changed in RNS-HMC."""

    def _bank(data: str = "real", **changes: float) -> Tables:
        rows = as_printed(numbers, "table1", "bank", {"speedup": "published_speedup_min_ess"})
        for row in rows.values():
            row.update({name: value / 5 for name, value in row.items() if name.startswith("ess_")})
            row["published_s_per_iter"] = row.pop("s_per_iter")
        rows["bank", "rns_hmc"].update(changes)
        return results(rows, error=0.002, draws=1000, data=data)

    return _bank


@pytest.fixture
def news(numbers: tuple[Published, ...], results: Results) -> Callable[..., Tables]:
    """Online News as published, with 1000 draws in place of 10000, but for what is changed in NNg-HMC (10%)."""

    def _news(**changes: Any) -> Tables:
        rename = {f"ess_{part}": f"truncated_ess_with_empty_{part}" for part in ("min", "median", "max")}
        rename |= {"ap": "ap_with_empty", "cpu_s": "published_total_s"}
        rows = as_printed(numbers, "table5", "news", rename)
        for (_, sampler), row in rows.items():
            share = sampler.removeprefix("nng_hmc").removeprefix("_")
            row.update({name: value / 10 for name, value in row.items() if name.startswith("truncated")})
            row["training_draws"] = 100.0 * float(share) if share.isdigit() else math.nan
        rows["news", "nng_hmc_10"].update(changes)
        return results(rows, chains=1, draws=1000)

    return _news


def cell(card: pd.DataFrame, quantity: str, item: str = BANK) -> dict[str, Any]:
    (row,) = card[(card["item"] == item) & (card["quantity"] == quantity)].to_dict("records")
    return {str(name): value for name, value in row.items()}


def test_the_published_numbers_reproduce_themselves(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    card = scorecard(bank(), numbers, [])
    assert tuple(card.columns) == SCORECARD_COLUMNS
    table = card[card["item"].str.startswith("table1/")]
    assert len(table) == 4 * 7
    assert set(table["paper"]) == {"zhang2017"}
    assert_allclose(table["ratio"], 1.0)
    # HMC's seconds, every number per second, and the speed-up of HMC over itself are not compared.
    assert verdict_counts(table) == {
        "reproduced": 4 * 4 + 2 * 3,
        "differs": 0,
        "unexplained": 0,
        "better than printed": 0,
        "not judged": 0,
        "not comparable": 1 + 4 + 1,
        "after a search": 0,
        "after a search, reproduced": 0,
        "after a search, compared": 0,
    }
    by_kind = sums(table)["zhang2017", False]
    assert by_kind[by_kind > 0].to_dict() == {"reproduced": 22, "another machine": 5, "by construction": 1}


def test_effective_sizes_are_scaled_to_the_draws_of_the_paper(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    row = cell(scorecard(bank(ess_min=300.0), numbers, []), "ess_min")
    assert_allclose([row["printed"], row["ours"], row["ours_se"]], [1761.0, 1500.0, 3.0])


def test_seconds_are_compared_relative_to_hmc(numbers: tuple[Published, ...], bank: Callable[..., Tables]) -> None:
    row = cell(scorecard(bank(published_s_per_iter=0.012), numbers, []), "s_per_iter")
    assert_allclose([row["printed"], row["ours"], row["ratio"]], [0.007 / 0.061, 0.012 / 0.061, 12 / 7])
    assert row["verdict"] == "reproduced"
    assert "relative to HMC, printed 0.007 over 0.061" in row["note"]
    assert cell(scorecard(bank(published_s_per_iter=0.016), numbers, []), "s_per_iter")["verdict"] == "differs"


def test_what_was_not_run_has_no_section(numbers: tuple[Published, ...], bank: Callable[..., Tables]) -> None:
    assert scorecard({}, numbers, []).empty
    card = scorecard(bank(), numbers, [])
    assert not card["item"].str.contains("pde").any()
    assert set(card["paper"]) == {"zhang2017"}
    one = {name: table[table["sampler"] != "rmhmc"] for name, table in bank().items()}
    row = cell(scorecard(one, numbers, []), "ap", "table1/bank/rmhmc")
    assert (row["verdict"], row["note"][:7]) == ("not judged", "not run")
    assert math.isnan(row["ours"])


def test_a_difference_needs_a_reason_for_its_side(numbers: tuple[Published, ...], bank: Callable[..., Tables]) -> None:
    tables = bank(ap=0.60)
    assert cell(scorecard(tables, numbers, [why(side="lower")]), "ap")["note"].startswith("an older clock")
    for without in ([], [why(side="higher")], [why(sampler="hmc")]):
        card = scorecard(tables, numbers, without)
        assert cell(card, "ap")["verdict"] == "differs"
        assert cell(card, "ap")["note"].startswith("unexplained")
        assert verdict_counts(card)["unexplained"] == 1
    assert not scorecard(bank(), numbers, [why()])["note"].str.contains("older clock").any()


def test_notes_say_the_place_the_rule_and_what_the_error_is_over(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    note = cell(scorecard(bank(), numbers, []), "ap")["note"]
    assert note == "Table 1; difference at most 0.05, or 2 standard errors up to 0.1; over 5 chains"


@pytest.mark.parametrize("origin", ["stand-in", "subset"])
def test_other_data_are_marked_and_prove_nothing(
    origin: str, numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    row = cell(scorecard(bank(data=origin, ap=0.1), numbers, []), "ap")
    assert row["verdict"] == "not judged"
    assert row["note"].startswith("stand-in data")


def test_what_is_not_defined_is_not_judged(numbers: tuple[Published, ...], bank: Callable[..., Tables]) -> None:
    row = cell(scorecard(bank(published_speedup_min_ess=math.nan), numbers, []), "speedup")
    assert row["verdict"] == "not judged"
    assert row["note"].startswith("too few effective draws, or chains that did not mix")


def test_what_is_much_cheaper_than_printed_counts_for_neither_side(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    card = scorecard(bank(published_s_per_iter=0.001, published_speedup_min_ess=50.0), numbers, [])
    assert [cell(card, name)["verdict"] for name in ("s_per_iter", "speedup")] == ["better than printed"] * 2
    counts = verdict_counts(card[card["item"] == BANK])
    assert (counts["better than printed"], counts["reproduced"], counts["differs"]) == (2, 4, 0)


def test_sizes_that_are_all_the_draws_in_both_are_by_construction(make: Make, results: Results) -> None:
    def verdict(printed: float, ours: float) -> str:
        number = make(quantity="ess_max", printed=printed, rule=NEAR, measure="ess", arguments={"column": "ess_max"})
        tables = results({("bank", "rns_hmc"): {"ess_max": ours / 5}}, error=0.02, draws=1000)
        return str(scorecard(tables, [number], []).at[0, "verdict"])

    assert verdict(5000.0, 5000.0) == "by construction"
    assert (verdict(4999.0, 5000.0), verdict(5000.0, 4990.0)) == ("reproduced", "reproduced")
    assert verdict(5000.0, 3000.0) == "differs"


def test_repeats_are_shown_where_their_problem_ran_and_count_nowhere(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    card = scorecard(bank(), numbers, [])
    repeats = card[card["verdict"] == "repeat"]
    assert list(repeats["item"]) == ["section5/bank/rns_hmc", "section5.1/bank/rns_rmhmc"]
    assert repeats["ours"].isna().all()


def test_numbers_with_training_are_those_of_table_5(
    numbers: tuple[Published, ...], news: Callable[..., Tables]
) -> None:
    card = scorecard(news(), numbers, [])
    rows = [cell(card, name, NEWS) for name in ("ap", "ess_min", "cpu_s", "speedup")]
    assert_allclose([row["printed"] for row in rows], [0.61, 605.0, 502 / 3607, 4.27])
    # The printed 4.27 is not the ratio of the printed rows, and not judged.
    assert_allclose([row["ours"] for row in rows], [0.61, 605.0, 502 / 3607, (1416 / 502) / (2021 / 3607)])
    assert [row["verdict"] for row in rows] == ["searched", "reproduced", "reproduced", "contradictory in print"]
    assert [row["after_search"] for row in rows] == [False, True, True, False]
    assert "the epochs, which are not printed, were chosen by it" in rows[0]["note"]
    assert "546 candidates" in rows[1]["note"]
    assert "0.66 is printed" in rows[-1]["note"]
    counts = verdict_counts(card)
    # Of three networks three sizes and the seconds, of two of them the acceptance.
    assert (counts["reproduced"], counts["after a search, reproduced"]) == (0, 3 * 4 + 2)


def test_a_network_with_another_share_of_the_draws_is_not_that_of_the_paper(
    numbers: tuple[Published, ...], news: Callable[..., Tables]
) -> None:
    card = scorecard(news(training_draws=900.0), numbers, [])
    assert cell(card, "ap", NEWS)["note"].startswith("not run")
    assert cell(card, "ap", "table5/news/nng_hmc_15")["verdict"] == "reproduced"


def test_numbers_by_which_a_setting_was_chosen_are_not_judged(
    numbers: tuple[Published, ...], news: Callable[..., Tables]
) -> None:
    row = cell(scorecard(news(), numbers, []), "ap", "table5/news/hmc")
    assert_allclose(row["ours"], row["printed"])
    assert row["verdict"] == "searched"
    assert "step size and number of steps are not printed" in row["note"]


def test_a_sampler_with_other_settings_is_not_judged_whatever_came_out(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    parts = {"bank/rns_hmc": "keep is 1000, not 5000"}
    for ap in (0.6, 0.7):
        card = scorecard(bank(ap=ap), numbers, [], parts)
        row = cell(card, "ap")
        assert (row["verdict"], row["ours"]) == ("not judged", ap)
        assert row["note"].startswith("other settings than the papers': keep is 1000, not 5000; Table 1")
        assert cell(card, "ap", "table1/bank/hmc")["verdict"] == "reproduced"
        assert verdict_counts(card)["differs"] == 0
    # Seconds on another machine are compared in no run.
    assert cell(card, "min_ess_per_s")["verdict"] == "another machine"


def test_the_note_says_that_the_error_leaves_the_verdict_open(
    numbers: tuple[Published, ...], bank: Callable[..., Tables]
) -> None:
    tables = bank(ap=0.8)
    noisy = {**tables, "results_se": tables["results_se"].assign(ap=0.2)}
    row = cell(scorecard(noisy, numbers, []), "ap")
    assert row["verdict"] == "not judged"
    assert row["note"].startswith("the standard error leaves it open; Table 1")
    assert cell(scorecard(tables, numbers, []), "ap")["verdict"] == "differs"
