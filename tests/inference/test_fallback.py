"""Searches, chains, results and messages where no surrogate is good enough, or the budget ends."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from peers.known_laws import Contaminated, LogGamma, NormalMixture, TwistedGaussian
from scipy.stats import binom

from rnshmc.errors import BudgetSpent, FitError
from rnshmc.inference import algorithm, checking, fallback, modes
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation_log import EvaluationLog
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.state import State, States
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.stages import adapted
from rnshmc.inference.stages.adapted import scattered_starts
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.posterior import fit_posterior
from rnshmc.inference.surrogate.uncertainty import no_tails
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.inference.tuning_shared import MANY
from rnshmc.types import Array
from tests.inference.conftest import archive_of, evaluations_of_potential, state_of
from tests.inference.problems import Correlated, Wide, two_modes
from tests.inference.runs import HOPELESS, NARROW, UNBENT, sampled, verdict_of, within


@pytest.mark.parametrize("budget", [3, 15, 40, 75])
def test_a_spent_budget_leaves_draws_or_is_an_error(budget: int) -> None:
    """It never leaves an empty table."""
    try:
        outcome = sampled(LogGamma(), np.zeros(3), budget=budget)
    except BudgetSpent as error:
        assert budget < 60
        assert re.match(  # noqa: PT017 (either of the two)
            rf"budget: \d+ of {budget} units are spent, at \d+ points, and the next one needs more, before there are "
            "draws: a surrogate needs at least 46 units here. ",
            str(error),
        )
    else:
        assert outcome.spent.units <= budget
        assert len(outcome.rows) == 1000
        assert outcome.stopped is not None
        assert "budget" in outcome.stopped


@pytest.mark.parametrize("budget", [60, 75])
def test_a_budget_that_ends_in_training_leaves_draws_of_the_latest_surrogate(budget: int) -> None:
    """They are not corrected; errors are those that the process expects, and the verdict reports it."""
    outcome = sampled(LogGamma(), np.zeros(3), budget=budget)
    assert outcome.method == "surrogate"
    assert len(outcome.rows) == 1000
    assert np.isfinite([outcome.mean.standard_error, outcome.variance.standard_error]).all()
    assert np.all(np.abs(outcome.mean.value - LogGamma.mean) < 0.5 * np.sqrt(LogGamma.variance))
    assert "! The run stopped early: budget: " in verdict_of(outcome)
    assert "the final surrogate was not checked or corrected" in verdict_of(outcome)


@pytest.mark.parametrize(("known", "share", "lacking"), [(False, 0.3, True), (True, 0.3, False), (False, 1e3, False)])
def test_a_surrogate_of_a_wide_component_alone_is_not_used(known: bool, share: float, lacking: bool) -> None:
    """Seven tenths of the posterior are in a mode a tenth as wide, in a thousandth of the space of other states."""
    law, rng = Contaminated(0.3, 10.0, 3), np.random.default_rng(1)
    wide = 10.0 * rng.standard_normal((60, 3))
    points = wide[np.linalg.norm(wide, axis=1) > 6.0]
    archive = archive_of(law, np.concatenate((points, rng.standard_normal((40 * known, 3)))))
    posterior = fit_posterior(archive.training(), Whitening(np.zeros(3), 0.1 * np.eye(3)), rng, DEFAULT.fitting)
    mode = Mode(Whitening(np.zeros(3), np.eye(3)), law.value(np.zeros(3)), 0.0)
    trained = Trained(posterior, np.zeros((1, 3)), 0.1, 0.1, no_tails(3), good=True)
    evidence = Estimate(np.array(np.log(share)), np.array(0.01))
    state = state_of(archive, modes=(mode,), trained=trained, log_evidence=evidence)
    assert fallback._without_the_mode(state) is lacking


def test_without_gradients_a_surrogate_that_is_not_good_enough_is_bad_and_names_other_samplers() -> None:
    outcome = sampled(LogGamma(), np.zeros(3), use_gradients=False, tuning=HOPELESS)
    assert outcome.method == "surrogate"
    assert len(outcome.rows) == 1000
    assert "! The surrogate is used although it is not good enough: " in verdict_of(outcome)
    assert fallback.WITHOUT_GRADIENTS in verdict_of(outcome)
    assert judge(outcome, ["x", "y", "z"]).level == "bad"


@cache
def completed() -> Outcome:
    return sampled(LogGamma(), np.zeros(3))


@pytest.mark.parametrize("left", [1, 2, 15])
def test_a_budget_that_ends_in_corrections_leaves_those_that_were_made(left: int) -> None:
    whole = completed()
    made = whole.by_stage["correction"].values + whole.by_stage["far out"].values
    outcome = sampled(LogGamma(), np.zeros(3), budget=whole.spent.units - made + left)
    assert outcome.surrogate is not None
    assert len(outcome.surrogate.checked) == left
    assert len(outcome.rows) == 1000
    within(outcome, LogGamma.mean, LogGamma.variance)
    assert "! The run stopped early: budget: " in verdict_of(outcome)


@cache
def without_chains() -> Outcome:
    return sampled(TwistedGaussian(), np.ones(10), budget=700, tuning=UNBENT)


def test_exact_chains_that_the_budget_does_not_suffice_for_are_not_begun() -> None:
    """The draws of the rough surrogate are returned, corrected with the remaining budget."""
    outcome = without_chains()
    assert outcome.method == "surrogate"
    assert "the budget is too small for adapted HMC, which takes about" in outcome.reason
    assert set(outcome.by_stage) <= {"mode", "directions", "training", "tails", "noise", "correction", "far out"}
    assert len(outcome.rows) == 1000
    assert np.isfinite(outcome.mean.value).all()
    assert judge(outcome, [str(i) for i in range(10)]).level == "bad"
    assert (
        "! The surrogate is used although it is not good enough: the surrogate is too far from the posterior"
        in verdict_of(outcome)
    )


@pytest.mark.parametrize(("noise", "short"), [(0.0, 0), (0.0, 1), (1.0, 0)])
def test_a_budget_suffices_for_states_that_teach(noise: float, short: int) -> None:
    """They cost less than a hundred draws; where the density is noisy, none teach."""
    enough = adapted.expected_cost_of_teaching(5, DEFAULT.adapted)
    assert enough < adapted.expected_cost(5, MANY, DEFAULT.adapted)
    archive = Archive.of(evaluations_of_potential(Correlated(), budget=enough - short))
    archive.journal.noise.append((noise, -np.inf))
    assert state_of(archive).affords_chains == (not noise and not short)


def test_a_rough_surrogate_that_cannot_be_corrected_ends_a_run_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def at_one_point(*_: Any, **__: Any) -> Iterator[Checked]:
        raise FitError("the surrogate's chains are at one point")

    monkeypatch.setattr(checking, "check", at_one_point)
    outcome = sampled(TwistedGaussian(), np.ones(10), budget=700, tuning=UNBENT)
    assert outcome.reason.endswith("; the surrogate's chains are at one point")
    assert judge(outcome, [str(i) for i in range(10)]).level == "bad"


def test_a_warning_states_the_expected_cost_before_exact_chains_begin(caplog: pytest.LogCaptureFixture) -> None:
    problem = Wide()
    outcome = sampled(problem, np.ones(200), draws=200, tuning=NARROW)
    assert outcome.rows.shape == (200, 200)
    assert abs(float((outcome.draws**2 / problem.variances).mean()) - 1.0) < 0.05
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("No surrogate is used: 200 dimensions are too many for the surrogate. Adapted HMC")
    price = int(warning.partition("about ")[2].split()[0])
    taken = outcome.by_stage["adapted HMC"].units
    assert 1 / 3 < taken / price < 3


@cache
def by_chains() -> Outcome:
    return sampled(Correlated(), np.ones(5), draws=400, tuning=HOPELESS)


@pytest.mark.parametrize(("share", "method"), [(0.2, "surrogate"), (0.95, "adapted HMC")])
def test_exact_chains_spend_little_more_than_they_may(share: float, method: str) -> None:
    """Chains in a neck make the steps short: the partial result is returned, and the verdict reports why.

    The chains are those of a run without a limit, up to a share of its units: in their warm-up, or shortly before their
    end. One round of evaluations, of four chains, may come on top.
    """
    expected = adapted.expected_cost(5, 400, HOPELESS.adapted)
    most = int(share * by_chains().by_stage[adapted.STAGE].units)
    tuning = replace(HOPELESS, adapted=replace(HOPELESS.adapted, most_cost=(most + 0.5) / expected))
    outcome = sampled(Correlated(), np.ones(5), draws=400, tuning=tuning)
    before = sum(spent.units for stage, spent in outcome.by_stage.items() if stage != adapted.STAGE)
    assert most < outcome.spent.units <= before + most + 2 * 4
    assert (
        f"! The run stopped early: adapted HMC takes far more than the expected {expected} units, because its steps "
        "have to be short; other parameters may help. This result uses its evaluations so far."
    ) in verdict_of(outcome)
    assert outcome.method == method
    assert (outcome.draws.shape[1] > 0) == (method == "adapted HMC")
    assert judge(outcome, list("abcde")).level != "good"


def test_interrupted_exact_chains_end_at_the_same_limit(tmp_path: Path) -> None:
    """Evaluations of the file cost nothing, but count."""
    tuning = replace(HOPELESS, adapted=replace(HOPELESS.adapted, most_cost=0.1))
    log, names = tmp_path / "run.jsonl", list("abcde")

    def run() -> Outcome:
        with closing(EvaluationLog(log, names)) as opened:
            return sampled(Correlated(), np.ones(5), draws=400, tuning=tuning, evaluation_log=opened)

    whole, written = run(), log.read_text()
    assert whole.by_stage[adapted.STAGE].points > len(written.splitlines()) // 2
    log.write_text("".join(written.splitlines(keepends=True)[: -whole.by_stage[adapted.STAGE].points // 2]))
    assert run().stopped == whole.stopped is not None
    assert log.read_text() == written


def test_other_modes_are_looked_for_before_exact_chains_begin() -> None:
    """A local optimum would look the same: the verdict reports the search."""
    outcome = sampled(Correlated(), np.ones(5), draws=40, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert "  4 starts found one mode." in verdict_of(outcome)


def test_a_run_that_cannot_afford_a_search_reports_it() -> None:
    outcome = without_chains()
    one = "! One start found one mode; other modes were not searched for (x0 takes several starts as rows)."
    assert one in verdict_of(outcome)


def test_a_better_mode_is_found_before_exact_chains_begin() -> None:
    """exp(-20) of the mass is where the start leads, and no surrogate is good enough there, nor elsewhere."""
    shares = np.array([1.0, np.exp(-20.0)]) / (1.0 + np.exp(-20.0))
    far = NormalMixture(shares, np.array([[0.0, 0.0], [9.0, 0.0]]), np.ones(2))
    outcome = sampled(far, [9.5, 0.5], draws=400, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert len(outcome.modes) == 1
    # A descent ends a standard deviation away at most.
    assert outcome.modes[0].value < np.log(2.0 * np.pi) + 0.5
    assert np.abs(outcome.mean.value).max() < 1.0
    # The other one's lowest point is as near, and so is the difference to 20.
    found = re.search(
        r"A mode with a log density (\S+) below the highest is left out: its mass is about 2e-09", verdict_of(outcome)
    )
    assert found is not None
    assert abs(float(found.group(1)) - 20.0) < 0.5


def test_two_modes_without_surrogates_are_reported() -> None:
    outcome = sampled(two_modes(), [[-5.0, 1.0], [5.0, 1.0]], draws=400, tuning=HOPELESS)
    assert len(outcome.modes) == 2
    assert outcome.method == "adapted HMC"
    verdict = judge(outcome, ["a", "b"])
    assert verdict.level == "bad"
    assert "! 2 starts found 2 modes" in str(verdict)
    assert "! R-hat = " in str(verdict)
    assert "the chains are in different places. Their averages have no standard error." in str(verdict)
    assert np.isnan([outcome.mean.standard_error, outcome.variance.standard_error]).all()
    assert set(np.sign(outcome.draws[:, -1, 0])) == {-1.0, 1.0}


def test_states_of_exact_chains_teach_a_surrogate_that_takes_over(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing came of training from the mode on; the first window of the warm-up is enough here.

    So few states leave the variance of a long tail unknown on two of twelve seeds: with a standard error as stated.
    """

    def refused(state: State) -> States:
        yield from ()
        return replace(state, begun=state.whitening, refused=True, reason="it was refused")

    monkeypatch.setattr(modes, "attempts", refused)
    precise = 0
    for seed in range(1, 6):
        outcome = sampled(LogGamma(), np.zeros(3), seed=seed)
        assert outcome.method == "surrogate"
        assert not outcome.refused
        within(outcome, LogGamma.mean, LogGamma.variance, draws=1)
        assert np.all(outcome.mean.standard_error < np.sqrt(LogGamma.variance / MANY))
        precise += bool(np.all(outcome.variance.standard_error < np.sqrt(2.0 / MANY) * LogGamma.variance))
        # 30 of 170 transitions of the warm-up, of some five steps each.
        assert 0 < outcome.by_stage["adapted HMC"].units < 4 * 30 * 2 * 12
        assert judge(outcome, ["a", "b", "c"]).level == "good"
    assert precise >= binom.ppf(0.01, 5, 10 / 12)


def test_chains_continue_while_the_surrogates_they_train_are_not_good_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Attempts come at numbers of states that double, each from some of these alone; none loses draws."""
    sizes: list[int] = []

    def refused(state: State) -> States:
        sizes.append(len(state.archive.training().values))
        assert state.whitening is not None
        assert np.abs(state.whitening.centre - [-3.0, -2.0, -1.0, 0.0, 1.0]).max() < 0.5
        yield from ()
        return replace(state, refused=True, reason="it was refused")

    monkeypatch.setattr(fallback, "attempt", refused)
    outcome = sampled(Correlated(), np.ones(5), draws=40, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert outcome.draws.shape == (4, 10, 5)
    # After 30, 90 and 180 transitions; 50 states or up to twice as many, of which some are the same.
    assert len(sizes) == 3
    assert all(20 < count <= 100 for count in sizes)


def test_states_of_chains_that_began_at_two_places_teach_one_surrogate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Descents ended in two places of one posterior, as in a bent one: chains from both are soon in the same places."""

    def refused(state: State) -> States:
        mode = state.modes[0]
        other = replace(mode, whitening=mode.whitening.moved(mode.whitening.centre + 1.5 * np.sqrt(LogGamma.variance)))
        yield from ()
        return replace(state, modes=(mode, other), begun=state.whitening, refused=True, reason="it was refused")

    monkeypatch.setattr(algorithm, "_surrogates", refused)
    outcome = sampled(LogGamma(), [np.zeros(3), np.ones(3)])
    assert outcome.method == "surrogate"
    within(outcome, LogGamma.mean, LogGamma.variance)
    assert "  2 starts found one mode." in verdict_of(outcome)


def test_states_of_chains_that_stay_at_two_modes_teach_none(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []

    def noted(state: State) -> States:
        sizes.append(state.archive.spent.units)
        yield from ()
        return replace(state, refused=True, reason="it was refused")

    monkeypatch.setattr(fallback, "attempt", noted)
    outcome = sampled(two_modes(), [[-5.0, 1.0], [5.0, 1.0]], draws=400, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert len(outcome.modes) == 2
    assert not sizes


def test_no_chain_begins_far_above_a_mode() -> None:
    """In coordinates that are a hundred times too wide, as behind a bend."""
    archive = Archive.of(evaluations_of_potential(Correlated()))
    mode = Mode(Whitening(np.arange(5) - 3.0, np.eye(5)), 0.0, 0.0)

    def values(z: Array) -> Array:
        return np.array([Correlated().value_and_grad(x)[0] for x in mode.whitening.unwhiten(z)])

    start = scattered_starts(archive, mode.whitening, [mode] * 4, 10.0, values, np.random.default_rng(2))
    assert values(start).max() < 10.0
    assert len(np.unique(start, axis=0)) == 4
