"""Draws and expectations are right, or a plain sentence reports that they are not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from peers.known_laws import LogGamma

from rnshmc.errors import ParameterError
from rnshmc.inference import attempt, checking
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.stages.correction import draw_surrogate
from rnshmc.inference.stages.training import Trained, train
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Correction
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.problems import Cliff, Correlated, Flat, Noisy, Raising
from tests.inference.runs import BRIEF, sampled, verdict_of, within


def test_a_surrogate_whose_chains_are_apart_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of its draws are checked, the next attempt is trained on them, too, and its result is as good as any."""
    problem, tuning = Correlated(), replace(DEFAULT, attempts=2)
    drawn: list[Array] = []
    apart = 1

    def draw(posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator, tuning: Correction) -> Array:
        draws = draw_surrogate(posterior, positions, rng, replace(tuning, doublings=0))
        fallen = 30.0 * (np.arange(len(draws)) % 2 == 0)[:, None, None] * (len(drawn) < apart)
        drawn.append(draws + fallen)
        return drawn[-1]

    monkeypatch.setattr(checking, "draw_surrogate", draw)
    outcome = sampled(problem, np.zeros(5), tuning=tuning)
    assert (len(drawn), outcome.method) == (2, "surrogate")
    assert outcome.by_stage["correction"].units <= 2 * DEFAULT.judging.telling
    within(outcome, problem.mean, np.diag(problem.covariance))
    drawn.clear()
    # A descent from another place may find a lower point, for a further surrogate.
    apart = 4
    untaught = replace(tuning, attempts=1, teaching=replace(DEFAULT.teaching, tries=0))
    once = sampled(problem, np.zeros(5), tuning=untaught)
    assert once.method != "surrogate"
    assert "the surrogate's chains are in different places (R-hat " in verdict_of(once)


def test_a_surrogate_that_diverged_is_trained_again_from_the_coordinates_of_the_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whitenings = []

    def diverges_once(archive: Archive, whitening: Whitening, *arguments: Any, **settings: Any) -> Iterator[Trained]:
        whitenings.append(whitening)
        for trained in train(archive, whitening, *arguments, **settings):
            yield replace(trained, good=trained.good and len(whitenings) > 1)

    monkeypatch.setattr(attempt, "train", diverges_once)
    outcome = sampled(LogGamma(), np.full(3, 4.0))
    assert outcome.method == "surrogate"
    assert len(whitenings) == 2
    assert whitenings[0] is whitenings[1]
    assert outcome.spent.units < 600
    within(outcome, LogGamma.mean, LogGamma.variance)


def test_exact_draws_have_exact_potentials_and_spent_is_the_sum_of_its_stages() -> None:
    problem = LogGamma()
    outcome = sampled(problem, np.full(3, 4.0))
    assert sum(stage.units for stage in outcome.by_stage.values()) == outcome.spent.units
    assert outcome.draws.shape[0] == 4
    potentials = [[problem.value(q) for q in chain] for chain in outcome.draws]
    np.testing.assert_array_equal(outcome.potentials, potentials)


def test_without_gradients_in_ten_dimensions() -> None:
    problem = Correlated(10)
    outcome = sampled(problem, np.zeros(10), use_gradients=False)
    assert outcome.method == "surrogate"
    assert outcome.spent.units < 800
    within(outcome, problem.mean, np.diag(problem.covariance))


def test_a_flat_direction_is_told() -> None:
    """The direction is found, and the verdict has a line for it that it would not have otherwise."""
    outcome = sampled(Flat(), [1.0, 1.0], draws=200, tuning=BRIEF, budget=400)
    [direction] = outcome.uninformed
    np.testing.assert_allclose(np.abs(direction), [0.0, 1.0], rtol=0, atol=1e-3)
    informed = replace(outcome, uninformed=np.empty((0, 2)))
    added = set(judge(outcome, ["a", "b"]).findings) - set(judge(informed, ["a", "b"]).findings)
    assert [finding.level for finding in added] == ["doubtful"]


def test_a_cliff() -> None:
    """Errors are as stated, and in five of six runs at most those of nine draws: of 5, fewer than two once in 300."""
    mean, sd = np.array([np.sqrt(2 / np.pi), 0.0, 0.0]), np.sqrt(np.array([1 - 2 / np.pi, 1.0, 1.0]))
    outcomes = [sampled(Cliff(), np.ones(3), draws=1000, seed=seed) for seed in range(1, 6)]
    close = 0
    for outcome in outcomes:
        errors = [
            ((found.value - exact) / unit, found.standard_error / unit)
            for found, exact, unit in (
                (outcome.mean, mean, sd),
                (outcome.variance, sd**2, np.sqrt(2.0) * sd**2),
            )
        ]
        assert all((np.abs(error) < z_bound(30) * stated).all() for error, stated in errors)
        close += all((stated < 1.0 / 3.0).all() for _, stated in errors)
        assert np.all(outcome.draws[..., 0] > 0)
        assert not outcome.corrected
        assert len(outcome.rows) == 1000
        assert np.all(outcome.rows[:, 0] > 0)
    assert close >= 2


def test_a_noisy_potential_is_told() -> None:
    outcome = sampled(Noisy(), np.ones(3), draws=400)
    assert outcome.surrogate_error > 0.2
    assert verdict_of(outcome).count("! The log density is noisy") == 1


def test_a_noisy_potential_is_trained_on_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the surrogate is no good, and the reason is noise, another one is no better."""

    trainings = []

    def no_good(*arguments: Any, **settings: Any) -> Iterator[Trained]:
        trainings.append(1)
        return (replace(trained, good=False) for trained in train(*arguments, **settings))

    monkeypatch.setattr(attempt, "train", no_good)
    outcome = sampled(Noisy(), np.ones(3), draws=400)
    assert outcome.method == "adapted HMC"
    assert len(trainings) == 1
    assert verdict_of(outcome).count("! The log density is noisy") == 1


def test_one_that_raises_now_and_then_is_told_and_right() -> None:
    outcome = sampled(Raising(), np.array([1.0, 1.1, 0.9, 1.000007]))
    assert outcome.failures
    assert "evaluations failed" in verdict_of(outcome)
    within(outcome, 0.0, np.ones(4))


def test_starts_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ParameterError, match="starts: expected"):
        sampled(LogGamma(), np.zeros(2))
    with pytest.raises(ParameterError, match="start: the potential cannot be evaluated"):
        sampled(Cliff(), -np.ones(3))
