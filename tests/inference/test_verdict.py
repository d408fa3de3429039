"""The verdict names each problem in words, and none where there is none."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.findings import error_findings
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.outcome import ModeFound, Outcome
from rnshmc.inference.result.verdict import HEADS, judge
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.surrogate.weights import Weights, reliable_k
from rnshmc.inference.warp import Warp, WarpLayer
from tests.inference.clouds import cloud
from tests.inference.conftest import archive_of, state_of
from tests.inference.problems import Correlated
from tests.inference.runs import sampled

NAMES = ["a", "b"]
KNOWN = Estimate(np.zeros(2), np.full(2, 0.1))
NOTHING = {"surrogate": None, "surrogate_error": np.nan, "predicted_acceptance": np.nan}
CHAINS = {**NOTHING, "method": "adapted HMC", "refused": True, "starts": 4}


def corrected(checks: int = 200, *, missing: float = 0.0) -> Corrected:
    """Even draws of a surrogate, exact values at some of them, and a point at 4 where some mass is missing."""
    draws = np.random.default_rng(1).standard_normal((1280, 2))
    weights = Weights(np.ones(checks), 0.3, 0.96, 0.0)
    return replace(cloud(draws, draws[:checks], missing=missing), weights=weights)


def mode(value: float, share: float = np.nan, error: float = np.nan, *, converged: bool = True) -> ModeFound:
    return ModeFound(np.zeros(2), value, converged, Estimate(np.array(share), np.array(error)))


@cache
def finished() -> Outcome:
    """A run on a normal density."""
    return sampled(Correlated(2), np.zeros(2), draws=400)


def outcome(**changes: Any) -> Outcome:
    """A good result, with numbers that findings are made of."""
    good = replace(
        finished(),
        draws=np.random.default_rng(1).normal(size=(4, 100, 2)),
        surrogate=corrected(),
        mean=KNOWN,
        variance=KNOWN,
        reason="the surrogate is close to the posterior",
        spent=Spent(100, 50, 0),
        surrogate_error=0.2,
        efficiency=0.96,
        pareto_k=0.3,
        checked=None,
        acceptance=0.9,
        predicted_acceptance=0.89,
        rhat=1.01,
        modes=(mode(1.0),),
    )
    return replace(good, **changes)


def test_a_good_run_is_good_and_reports_its_evidence() -> None:
    verdict = judge(outcome(), NAMES)
    assert verdict.level == "good"
    lines = str(verdict).splitlines()
    assert lines[0] == "No problem found in the one mode that was looked at; other modes were not searched for."
    for line in (
        "sd(U - V) = 0.2",
        "efficiency 0.96",
        "Pareto k = 0.30",
        "90% of proposals",
        "R-hat = 1.010: the surrogate's chains agree.",
        "One start found one mode; other modes were not searched for (x0 takes several starts as rows).",
    ):
        assert line in str(verdict)
    assert not any(line.startswith(" !") for line in lines)


TWO = (mode(1.0), mode(3.5))


def seen(count: int, zeros: int) -> Checked:
    """Checked draws, of which the last ones have no density."""
    values = np.zeros(count)
    values[count - zeros :] = np.inf
    return Checked(np.zeros((count, 2)), values, values, np.zeros(count, dtype=bool))


@pytest.mark.parametrize(
    ("changes", "level", "line"),
    [
        # Normal differences of these sds have the first two efficiencies; a few that are far off leave the others.
        ({"surrogate_error": 1.0, "efficiency": 0.37}, "doubtful", "! sd(U - V) = 1:"),
        ({"surrogate_error": 3.0, "efficiency": 1e-3}, "bad", "! sd(U - V) = 3:"),
        ({"surrogate_error": 1.0, "efficiency": 0.77}, "doubtful", "! sd(U - V) = 1:"),
        ({"surrogate_error": 1.0, "efficiency": 0.79}, "good", "  sd(U - V) = 1:"),
        ({"surrogate_error": 3.0, "efficiency": 0.9}, "doubtful", "! sd(U - V) = 3:"),
        # Few weights are even by chance.
        ({"surrogate_error": 1.0, "efficiency": 0.9, "surrogate": corrected(99)}, "doubtful", "! sd(U - V) = 1:"),
        ({"surrogate_error": np.nan}, "bad", "! sd(U - V) is unknown"),
        (
            {"surrogate": corrected(0)},
            "doubtful",
            "! sd(U - V) = 0.2 at the last training points; the final surrogate was not",
        ),
        (
            {"surrogate": corrected(missing=0.02)},
            "doubtful",
            "! Unexplored tails may shift a mean or variance by up to",
        ),
        ({"surrogate": corrected(missing=0.1)}, "bad", "! Unexplored tails may shift a mean or variance by up to"),
        ({"pareto_k": 0.6}, "doubtful", "! Pareto k = 0.60: standard errors of corrected expectations are too small"),
        ({"pareto_k": 0.5}, "good", "are reliable (200 weights: reliable up to 0.57)"),
        (
            {"pareto_k": 1.2, "efficiency": 0.8},
            "bad",
            "! Pareto k = 1.20: standard errors of corrected expectations are meaningless",
        ),
        ({"pareto_k": 1.2}, "doubtful", "! Pareto k = 1.20: standard errors of corrected expectations are meaningless"),
        (
            {"pareto_k": 1.2, "surrogate": corrected(25)},
            "good",
            "  The tail of 25 weights cannot be judged: Pareto k needs 100 or more.",
        ),
        ({"acceptance": 0.5}, "doubtful", "! 50% of proposals were accepted; sd(U - V) predicts 89%: the surrogate is"),
        ({"predicted_acceptance": 0.5}, "good", "  90% of proposals were accepted; sd(U - V) predicts 50%."),
        ({"rhat": 1.05}, "doubtful", "! R-hat = 1.050: the surrogate's chains have not mixed; they need more draws."),
        ({"rhat": 1.0102}, "doubtful", "! R-hat = 1.010: the surrogate's chains have not mixed"),
        (
            {"learnt": 1},
            "good",
            "  The surrogate learns 1 of 2 directions: those in which gradients show",
        ),
        ({**CHAINS, "rhat": 1.7}, "bad", "! R-hat = 1.700: the chains are in different places."),
        ({**CHAINS, "modes": TWO}, "doubtful", "! 4 starts found 2 modes, with log densities 0, -2.5 relative to the"),
        ({**CHAINS, "modes": TWO, "rhat": 1.05}, "bad", "! 4 starts found 2 modes"),
        (
            {"starts": 104, "quiet": 100, "modes": (mode(1.0, 0.7, 0.01), mode(3.5, 0.3, 0.01))},
            "good",
            "  104 starts found 2 modes; their shares of the posterior are 0.700 +- 0.01, 0.300 +- 0.01.",
        ),
        (
            {"starts": 2, "surveyed": 60, "modes": (mode(1.0, 0.7, 0.01), mode(3.5, 0.3, 0.01))},
            "good",
            "  A search over the prior (60 runs) found 2 modes; their shares of the posterior are 0.700 +- 0.01,",
        ),
        (
            {"surveyed": 60, "elsewhere": 0.0012},
            "good",
            "No problem found; a search over the prior leaves at most 1% elsewhere.",
        ),
        (
            {"surveyed": 60, "elsewhere": 0.009},
            "good",
            "No problem found; a search over the prior leaves at most 1% elsewhere.",
        ),
        ({"surveyed": 60}, "good", "  A search over the prior (60 runs) found one mode."),
        (
            {"surveyed": 60, "elsewhere": 0.011},
            "doubtful",
            "! The search ended before other modes were ruled out: they may hold up to 2% of the posterior.",
        ),
        (
            {"starts": 24, "quiet": 20, "modes": (mode(1.0, 0.7, 0.01), mode(3.5, 0.3, 0.01))},
            "doubtful",
            "There may be others: the last 20 starts found no new one, so at most 15% of starts find another.",
        ),
        (
            {"starts": 4, "left_out": (mode(21.0, 2e-9),)},
            "good",
            "  A mode with a log density 20 below the highest is left out: its mass is about 2e-09 of that mode's.",
        ),
        (
            {"starts": 4, "left_out": 3 * (mode(21.0, 2e-9),)},
            "doubtful",
            "! 4 starts found 4 modes, of which one has a share that matters; there may be better ones.",
        ),
        (
            {"starts": 4, "left_out": 3 * (mode(21.0, 2e-9, converged=False),)},
            "doubtful",
            "! 1 of 4 starts found a mode; the others stopped before they reached one.",
        ),
        (
            {"starts": 4, "left_out": (mode(21.0, 2e-9, converged=False),)},
            "good",
            "  A descent stopped before it reached a mode, at a log density 20 below the highest.",
        ),
        (
            {**CHAINS, "starts": 4, "left_out": 3 * (mode(21.0, 2e-9, converged=False),)},
            "doubtful",
            "! 1 of 4 starts found",
        ),
        (
            CHAINS,
            "good",
            "  The draws are from adapted HMC, not from a surrogate: the surrogate is close to the posterior.",
        ),
        ({**CHAINS, "starts": 1}, "doubtful", "! One start found one mode; other modes were not searched for"),
        (
            {**CHAINS, "draws": np.zeros((1, 10, 2))},
            "doubtful",
            "! The smallest effective sample size of a mean or variance",
        ),
        ({"modes": (mode(1.0, converged=False),)}, "doubtful", "! A descent found no mode"),
        ({"failures": {"ValueError: no": 3, "time": 40}}, "doubtful", "! 43 evaluations failed"),
        (
            {"failures": {"ValueError: no": 3}, "spent": Spent(1, 0, 0)},
            "good",
            "3 evaluations failed and count as density 0; the most frequent reason (3 times)",
        ),
        (
            {"beyond": 3, "checked": seen(200, 6)},
            "good",
            "  The density is 0, or was not computed, at 3 points where the surrogate",
        ),
        ({"beyond": 3, "checked": seen(199, 6)}, "doubtful", "! The density is 0, or was not computed, at 3 points"),
        ({"beyond": 3, "checked": seen(200, 21)}, "doubtful", "21 of 200 checked draws. The surrogate does not"),
        ({"uninformed": np.array([[0.1, -0.99]])}, "doubtful", "! The density hardly depends on -0.99 b"),
        ({"noise": 0.3}, "doubtful", "! The log density is noisy: it differs by 0.3 between neighbouring points"),
        ({"doubts": ("The gradient is inexact.",)}, "doubtful", "! The gradient is inexact."),
        ({"stopped": "budget: 40 of 40"}, "doubtful", "! The run stopped early: budget: 40 of 40."),
        ({"method": "none", "reason": "the run ended"}, "bad", "! There are no draws: the run ended."),
        ({**CHAINS, "draws": np.empty((0, 0, 2))}, "bad", "! There are no draws"),
        ({"mean": Estimate(np.full(2, np.nan), np.zeros(2))}, "bad", "! Means or variances are not finite"),
    ],
)
def test_each_problem_is_reported(changes: dict[str, Any], level: str, line: str) -> None:
    verdict = judge(outcome(**changes), NAMES)
    assert verdict.level == level
    assert str(verdict).startswith(HEADS[level])
    assert line in str(verdict)


def test_errors_of_few_draws_are_reported_for_the_users_parameters() -> None:
    draws = np.random.default_rng(1).standard_normal((1000, 2))
    of_1000, of_40 = 1.0 / np.sqrt(1000), 1.0 / np.sqrt(40)

    def texts(means: float, sds: float, count: int = 1000) -> list[str]:
        mean = Estimate(np.zeros(2), np.array([of_1000, means]))
        sd = Estimate(np.ones(2), np.array([of_1000, sds]) / np.sqrt(2))
        return [one.text for one in error_findings(mean, sd, draws[:count], NAMES)]

    assert texts(of_1000, of_1000) == texts(np.nan, np.nan) == texts(0.0, 0.0) == []
    z = draws[:, 1] - draws[:, 1].mean()
    # In units of the variances of these draws instead of a normal law's, 1 and 2.
    for of, found, by in (
        ("mean", texts(of_40, of_1000), (z**2).mean()),
        ("standard deviation", texts(of_1000, of_40), (z**2).var() / 2),
    ):
        (text,) = found
        assert text == f"The {of} of b is only as precise as {40 * by:.2g} independent draws would make it."
    # A run that was to have 100 draws has errors of 50.
    assert texts(of_40, of_40, 100) == []


def test_no_number_of_draws_is_reported_where_draws_do_not_show_it() -> None:
    """x ~ N(0, exp(v)), v ~ N(0, 9): the kurtosis is 3 exp(9), and of a thousand draws a few dozen to hundreds."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((1000, 2))
    draws[:, 1] *= np.exp(1.5 * rng.standard_normal(1000))
    scale = draws.std(axis=0)
    z = (draws[:, 1] - draws[:, 1].mean()) / scale[1]
    assert (z**4).mean() < 0.1 * 3.0 * np.exp(9.0)
    known, of_ten = scale / np.sqrt(1000), np.sqrt(z.var() / 10.0) * scale[1]
    sds = Estimate(scale, np.array([known[0], np.sqrt((z**2).var() / 60.0) * scale[1] / 2.0]))
    assert sds.standard_error[1] < scale[1]
    assert list(error_findings(Estimate(np.zeros(2), known), sds, draws, NAMES)) == []
    # Where the error is larger than the standard deviation, that is not known, by any count.
    unknown = Estimate(scale, np.array([known[0], 1.01 * scale[1]]))
    [found] = error_findings(Estimate(np.zeros(2), known), unknown, draws, NAMES)
    assert "The standard deviation of b" in found.text
    [found] = error_findings(Estimate(np.zeros(2), np.array([known[0], of_ten])), sds, draws, NAMES)
    assert found.text == "The mean of b is only as precise as 10 independent draws would make it."


def test_surrogates_of_several_modes_leave_a_bend_with_all_else() -> None:
    curved = np.array([[0.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    bend = Warp((WarpLayer(0, 0.0, 1.0, curved, np.zeros((2, 2)), np.ones(2)),))
    mixture = Mixture((corrected(), corrected()), Estimate(np.zeros(2), np.full(2, 0.1)))
    straight = state_of(archive_of(Correlated(2), np.zeros((0, 2))), mixture=mixture).without_warp(bend).mixture
    assert straight is not None
    for part, before in zip(straight.parts, mixture.parts, strict=True):
        np.testing.assert_array_equal(part.draws, bend.forward(before.draws))


def test_a_variance_that_its_correction_makes_negative_is_not_known() -> None:
    draws = np.random.default_rng(1).standard_normal((1000, 2))
    mean, sd = Estimate(np.zeros(2), np.full(2, 0.01)), Estimate(np.array([1.0, 0.0]), np.array([0.01, np.inf]))
    [found] = error_findings(mean, sd, draws, NAMES)
    assert found.text == "The standard deviation of b is less precise than one draw would make it."
    [found] = error_findings(mean, replace(sd, value=np.array([1.0, np.inf])), draws, NAMES)
    assert (found.level, found.text) == ("bad", "The mean or standard deviation of b is not finite.")


def test_without_a_surrogate_there_is_no_word_of_one() -> None:
    assert "sd(U - V)" not in str(judge(outcome(**CHAINS), NAMES))


def test_the_limit_of_pareto_k_grows_with_the_number_of_weights() -> None:
    """min(1 - 1 / log10 S, 0.7) (Vehtari et al. 2024, section 3.2.4)."""
    assert np.isnan(reliable_k(99))
    assert reliable_k(100) == pytest.approx(0.5)
    assert reliable_k(1000) == pytest.approx(2 / 3)
    assert reliable_k(10**6) == 0.7


def test_exact_chains_know_the_edges_that_a_refused_surrogate_did_not() -> None:
    assert "where the surrogate expects draws" not in str(
        judge(outcome(**{**CHAINS, "beyond": 3, "checked": seen(100, 6)}), NAMES)
    )
