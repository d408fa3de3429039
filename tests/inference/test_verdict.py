"""The verdict says what is wrong, in words, and nothing where nothing is."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnshmc.inference.exact.evaluations import Spent
from rnshmc.inference.result.outcome import Estimate, ModeFound, Outcome
from rnshmc.inference.result.verdict import judge

NAMES = ["a", "b"]
KNOWN = Estimate(np.zeros(2), np.full(2, 0.1))


def outcome(**changes: Any) -> Outcome:
    good = Outcome(
        rows=np.zeros((400, 2)),
        corrected=True,
        draws=np.random.default_rng(1).normal(size=(4, 100, 2)),
        potentials=np.zeros((4, 100)),
        surrogate=None,
        mean=KNOWN,
        variance=KNOWN,
        method="surrogate",
        reason="the surrogate is close to the posterior",
        spent=Spent(100, 50, 0),
        by_stage={},
        surrogate_error=0.2,
        efficiency=0.96,
        pareto_k=0.3,
        acceptance=0.9,
        predicted_acceptance=0.89,
        rhat=1.01,
        modes=(ModeFound(np.zeros(2), 1.0, True),),
        uninformed=np.empty((0, 2)),
        failures={},
        finished=True,
        warnings=(),
    )
    return replace(good, **changes)


def test_a_good_run_is_good_and_says_what_that_rests_on() -> None:
    verdict = judge(outcome(), NAMES)
    assert verdict.level == "good"
    for said in ("sd(U - V) = 0.2", "efficiency 0.96", "Pareto k = 0.30", "90% of proposals", "R-hat = 1.01"):
        assert said in str(verdict)
    assert "!" not in str(verdict)


@pytest.mark.parametrize(
    ("changes", "level", "said"),
    [
        ({"surrogate_error": 1.0}, "doubtful", "sd(U - V) = 1"),
        ({"surrogate_error": 3.0}, "bad", "sd(U - V) = 3"),
        ({"pareto_k": 0.8}, "doubtful", "Pareto k = 0.80: standard errors of corrected expectations are too small"),
        ({"pareto_k": 1.2}, "bad", "meaningless"),
        ({"acceptance": 0.5}, "doubtful", "the surrogate is worse where chains go than where it was checked"),
        ({"rhat": 1.2}, "doubtful", "R-hat = 1.20: the chains disagree"),
        ({"modes": (ModeFound(np.zeros(2), 1.0, True), ModeFound(np.ones(2), 3.5, True))}, "doubtful", "0, -2.5"),
        ({"failures": {"ValueError: no": 3, "time": 40}}, "doubtful", "43 evaluations failed"),
        (
            {"failures": {"ValueError: no": 3}},
            "good",
            "3 evaluations failed and count as density 0; most often (3)",
        ),
        ({"uninformed": np.array([[0.1, -0.99]])}, "doubtful", "The density hardly depends on -0.99 b"),
        ({"warnings": ("The potential looks noisy",)}, "doubtful", "! The potential looks noisy."),
        ({"method": "none", "reason": "the run ended"}, "bad", "There are no draws: the run ended."),
        ({"draws": np.empty((0, 0, 2))}, "bad", "There are no draws"),
        ({"mean": Estimate(np.full(2, np.nan), np.zeros(2))}, "bad", "Means or variances are not finite"),
        ({"draws": np.zeros((1, 10, 2))}, "doubtful", "The draws are worth 1 independent ones"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], level: str, said: str) -> None:
    verdict = judge(outcome(**changes), NAMES)
    assert verdict.level == level
    assert said in str(verdict)
    assert ("!" in str(verdict)) is (level != "good")


def test_without_a_surrogate_the_reason_is_said() -> None:
    nothing = {"surrogate_error": np.nan, "pareto_k": np.nan, "predicted_acceptance": np.nan}
    verdict = judge(outcome(method="adapted HMC", reason="too far", **nothing), NAMES)
    assert "No surrogate was used, but adapted HMC: too far." in str(verdict)
    assert "sd(U - V)" not in str(verdict)
