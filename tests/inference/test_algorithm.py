"""Draws and expectations are right, or a plain sentence says that they are not."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.inference import attempt
from rnshmc.inference.algorithm import run
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.stages.correction import draw_surrogate
from rnshmc.inference.stages.training import Trained, train
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Correction, Tuning
from rnshmc.random import stream
from rnshmc.types import Array, Potential
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Base, Cliff, Correlated, Flat, LogGamma, Modes, Noisy, Raising, Twisted, Wide

ACCURATE = 0.5
"""Bound on errors of means, in standard deviations; of variances, in those of squares of normal variables.

That of `z_bound` for 100 independent draws. The runs here aim at the errors of 500.
"""


BRIEF = replace(DEFAULT, correction=replace(DEFAULT.correction, doublings=0))
"""The chains on a rough surrogate are not continued until they agree: which takes seconds, and decides nothing here."""
ONE_ATTEMPT = replace(BRIEF, attempts=1)
UNBENT = replace(ONE_ATTEMPT, bending=replace(DEFAULT.bending, most_dim=0))
"""Without bends, a twisted Gaussian has no surrogate."""
HOPELESS = replace(
    DEFAULT, attempts=1, training=replace(DEFAULT.training, hopeless=0.0, near=0.0, sound=0.0, fewest=500)
)
"""No surrogate is good enough, whatever the density."""


class Uneven(Base):
    """Two normal densities of unit variance, 9 apart: the second has exp(-20) of the mass of the first."""

    dim = 2

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        away = q - np.array([[0.0, 0.0], [9.0, 0.0]])
        heights = 0.5 * (away**2).sum(axis=1) + np.array([0.0, 20.0])
        weights = np.exp(heights.min() - heights)
        return float(heights.min() - np.log(weights.sum())), (weights / weights.sum()) @ away


def sampled(
    potential: Potential,
    start: object,
    *,
    draws: int = 1000,
    seed: int = 1,
    tuning: Tuning = DEFAULT,
    **settings: object,
) -> Outcome:
    evaluations = evaluations_of_potential(potential, **settings)
    return run(evaluations, np.asarray(start, dtype=float), draws=draws, rng=stream(seed, "algorithm"), tuning=tuning)


def said(outcome: Outcome) -> str:
    return str(judge(outcome, [f"x{i}" for i in range(len(outcome.mean.value))]))


def within(outcome: Outcome, mean: float | Array, variance: float | Array) -> None:
    """Means and variances within six standard errors and a tenth of a standard deviation, and within `ACCURATE`.

    Standard errors with a surrogate are estimates, of longer tails than a normal law: hence the tenth. Errors have
    bounds of their own, for standard errors that are too large would excuse any.
    """
    for found, exact, unit, most in (
        (outcome.mean, mean, np.sqrt(variance), ACCURATE),
        (outcome.variance, variance, variance, np.sqrt(2.0) * ACCURATE),
    ):
        error = np.abs(found.value - exact)
        assert np.all(error < 6.0 * found.standard_error + 0.1 * unit)
        assert np.all(error < most * unit)
        assert np.all(found.standard_error < most * unit)


def test_a_surrogate_whose_chains_are_apart_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some of its draws are checked, the next attempt is trained on them, too, and its result is as good as any."""
    problem, tuning = Correlated(), replace(DEFAULT, attempts=2)
    drawn: list[Array] = []

    def draw(posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator, tuning: Correction) -> Array:
        draws = draw_surrogate(posterior, positions, rng, replace(tuning, doublings=0))
        fallen = np.zeros(draws.shape) if drawn else 30.0 * (np.arange(len(draws)) % 2 == 0)[:, None, None]
        drawn.append(draws + fallen)
        return drawn[-1]

    monkeypatch.setattr(attempt, "draw_surrogate", draw)
    outcome = sampled(problem, np.zeros(5), tuning=tuning)
    assert (len(drawn), outcome.method) == (2, "surrogate")
    assert outcome.by_stage["correction"].units <= 2 * DEFAULT.training.fewest_checks
    within(outcome, problem.mean, np.diag(problem.covariance))
    drawn.clear()
    once = sampled(problem, np.zeros(5), tuning=replace(tuning, attempts=1))
    assert once.method != "surrogate"
    assert "the surrogate's chains are in different places (R-hat " in said(once)


def test_a_gaussian_costs_its_hessian_and_little_more() -> None:
    """d + 1 gradients tell all of it; 25 values check it, and seven look further out."""
    problem = Correlated()
    outcome = sampled(problem, np.zeros(5))
    assert outcome.method == "surrogate"
    assert outcome.stopped is None
    assert outcome.spent.units <= 110
    assert outcome.surrogate_error < 1e-2
    within(outcome, problem.mean, np.diag(problem.covariance))


def test_a_skewed_posterior() -> None:
    """Of twelve seeds, each took 188 to 352 units; which of these one takes, rounding decides."""
    outcome = sampled(LogGamma(), np.full(3, 4.0))
    assert outcome.method == "surrogate"
    assert outcome.spent.units < 500
    within(outcome, LogGamma.mean, LogGamma.variance)


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


def test_exact_draws_have_exact_potentials() -> None:
    problem = LogGamma()
    outcome = sampled(problem, np.full(3, 4.0))
    assert outcome.draws.shape[0] == 4
    potentials = [[problem.value(q) for q in chain] for chain in outcome.draws]
    np.testing.assert_array_equal(outcome.potentials, potentials)


def test_the_draws_asked_for_have_the_corrected_moments() -> None:
    """Up to Monte Carlo errors of 4000 draws; systematic resampling makes no more of them."""
    outcome = sampled(LogGamma(), np.full(3, 4.0), draws=4000)
    assert outcome.corrected
    assert outcome.rows.shape == (4000, 3)
    error = z_bound(3) * np.sqrt(outcome.variance.value / 4000)
    assert np.all(np.abs(outcome.rows.mean(axis=0) - outcome.mean.value) < error)


def test_the_same_seed_is_the_same_run() -> None:
    first, second = (sampled(LogGamma(), np.zeros(3)) for _ in range(2))
    np.testing.assert_array_equal(first.draws, second.draws)
    np.testing.assert_array_equal(first.mean.value, second.mean.value)


def test_without_gradients() -> None:
    outcome = sampled(LogGamma(2), np.zeros(2), use_gradients=False)
    assert outcome.spent.gradients == 0
    assert outcome.method == "surrogate"
    within(outcome, LogGamma.mean, LogGamma.variance)


def test_without_gradients_in_twenty_dimensions() -> None:
    problem = Correlated(20)
    outcome = sampled(problem, np.zeros(20), use_gradients=False)
    assert outcome.method == "surrogate"
    assert outcome.spent.units < 3000
    within(outcome, problem.mean, np.diag(problem.covariance))


def test_spent_is_the_sum_of_its_stages() -> None:
    outcome = sampled(LogGamma(), np.zeros(3))
    assert sum(stage.units for stage in outcome.by_stage.values()) == outcome.spent.units


@pytest.mark.parametrize("budget", [3, 15, 40, 75])
def test_a_spent_budget_leaves_what_there_is(budget: int) -> None:
    outcome = sampled(LogGamma(), np.zeros(3), budget=budget)
    assert outcome.spent.units <= budget
    assert outcome.stopped is not None
    assert "budget" in outcome.stopped


@pytest.mark.parametrize("budget", [60, 75])
def test_a_budget_that_ends_in_training_leaves_draws_of_the_latest_surrogate(budget: int) -> None:
    """Nothing corrects them; errors are those that the process expects, and the verdict says so."""
    outcome = sampled(LogGamma(), np.zeros(3), budget=budget)
    assert outcome.method == "surrogate"
    assert len(outcome.rows) == 1000
    assert np.isfinite([outcome.mean.standard_error, outcome.variance.standard_error]).all()
    assert np.all(np.abs(outcome.mean.value - LogGamma.mean) < 0.5 * np.sqrt(LogGamma.variance))
    assert "! The run stopped early: budget: " in said(outcome)
    assert "nothing corrects or checks the finished surrogate" in said(outcome)


@pytest.mark.parametrize("left", [1, 2, 15])
def test_a_budget_that_ends_in_corrections_leaves_those_that_were_made(left: int) -> None:
    whole = sampled(LogGamma(), np.zeros(3))
    made = whole.by_stage["correction"].values
    outcome = sampled(LogGamma(), np.zeros(3), budget=whole.spent.units - made + left)
    assert outcome.surrogate is not None
    assert len(outcome.surrogate.checked) == left
    assert len(outcome.rows) == 1000
    within(outcome, LogGamma.mean, LogGamma.variance)
    assert "! The run stopped early: budget: " in said(outcome)


def test_exact_chains_that_the_budget_does_not_suffice_for_are_not_begun() -> None:
    """The draws of the rough surrogate are returned, corrected by what is left."""
    outcome = sampled(Twisted(), np.ones(10), budget=700, tuning=UNBENT)
    assert outcome.method == "surrogate"
    assert "the budget does not suffice for adapted HMC, which takes about" in outcome.reason
    assert set(outcome.by_stage) <= {"mode", "directions", "training", "tails", "noise", "correction"}
    assert len(outcome.rows) == 1000
    assert np.isfinite(outcome.mean.value).all()
    assert judge(outcome, [str(i) for i in range(10)]).level == "bad"
    assert (
        "! The surrogate is used although it is not good enough: the surrogate is too far from the posterior"
        in said(outcome)
    )


def test_a_warning_tells_the_price_before_exact_chains_begin(caplog: pytest.LogCaptureFixture) -> None:
    outcome = sampled(Wide(), np.ones(200), draws=200)
    (warning,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert warning.startswith("No surrogate is used: 200 dimensions are too many for the surrogate. Going on with")
    price = int(warning.partition("about ")[2].split()[0])
    taken = outcome.by_stage["adapted HMC"].units
    assert 1 / 3 < taken / price < 3


def test_other_modes_are_looked_for_before_exact_chains_begin() -> None:
    """A local optimum would look the same: the verdict says what was looked for."""
    outcome = sampled(Correlated(), np.ones(5), draws=40, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert "  4 starts led to one mode." in said(outcome)


def test_a_run_that_cannot_afford_looking_says_so() -> None:
    outcome = sampled(Twisted(), np.ones(10), budget=700, tuning=UNBENT)
    one = "! One start led to one mode; other modes were not looked for (x0 takes several starts as rows)."
    assert one in said(outcome)


def test_a_better_mode_is_found_before_exact_chains_begin() -> None:
    """exp(-20) of the mass is where the start leads, and no surrogate is good enough there, nor elsewhere."""
    problem = Uneven()
    outcome = sampled(problem, [9.5, 0.5], draws=400, tuning=HOPELESS)
    assert outcome.method == "adapted HMC"
    assert len(outcome.modes) == 1
    assert outcome.modes[0].value < 0.1
    assert np.abs(outcome.mean.value).max() < 1.0
    assert "A mode with a log density 20 below the highest has about 2e-09 of its mass" in said(outcome)


def test_two_modes_without_surrogates_are_told() -> None:
    outcome = sampled(Modes(), [[-5.0, 1.0], [5.0, 1.0]], draws=400, tuning=HOPELESS)
    assert len(outcome.modes) == 2
    assert outcome.method == "adapted HMC"
    verdict = judge(outcome, ["a", "b"])
    assert verdict.level == "bad"
    assert "! 2 starts led to 2 modes" in str(verdict)
    assert "! R-hat = " in str(verdict)
    assert "the chains are in different places. Their averages have no standard error." in str(verdict)
    assert np.isnan([outcome.mean.standard_error, outcome.variance.standard_error]).all()
    assert set(np.sign(outcome.draws[:, -1, 0])) == {-1.0, 1.0}


def test_a_flat_direction_is_told() -> None:
    """The direction is found, and the verdict has a line for it that it would not have otherwise."""
    outcome = sampled(Flat(), [1.0, 1.0], draws=200, tuning=BRIEF)
    [direction] = outcome.uninformed
    np.testing.assert_allclose(np.abs(direction), [0.0, 1.0], rtol=0, atol=1e-3)
    informed = replace(outcome, uninformed=np.empty((0, 2)))
    told = set(judge(outcome, ["a", "b"]).findings) - set(judge(informed, ["a", "b"]).findings)
    assert [finding.level for finding in told] == ["doubtful"]


def test_a_cliff() -> None:
    outcome = sampled(Cliff(), np.ones(3), draws=1000)
    mean = np.array([np.sqrt(2 / np.pi), 0.0, 0.0])
    within(outcome, mean, np.array([1 - 2 / np.pi, 1.0, 1.0]))
    assert np.all(outcome.draws[..., 0] > 0)
    assert not outcome.corrected
    assert len(outcome.rows) == 1000
    assert np.all(outcome.rows[:, 0] > 0)


def test_a_noisy_potential_is_told() -> None:
    outcome = sampled(Noisy(), np.ones(3), draws=400)
    assert outcome.surrogate_error > 0.2
    assert said(outcome).count("! The log density is noisy") == 1


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
    assert said(outcome).count("! The log density is noisy") == 1


def test_one_that_raises_now_and_then_is_told_and_right() -> None:
    outcome = sampled(Raising(), np.array([1.0, 1.1, 0.9, 1.000007]))
    assert outcome.failures
    assert "evaluations failed" in said(outcome)
    within(outcome, 0.0, np.ones(4))


def test_two_hundred_dimensions() -> None:
    problem = Wide()
    outcome = sampled(problem, np.ones(200), draws=200)
    assert outcome.method == "adapted HMC"
    assert "200 dimensions" in outcome.reason
    assert outcome.rows.shape == (200, 200)
    scaled = outcome.draws / np.sqrt(problem.variances)
    assert abs(float((scaled**2).mean()) - 1.0) < 0.05


def test_standard_errors_are_those_of_the_errors() -> None:
    """Over seeds and coordinates, squared errors in units of their standard errors average to about one.

    With eight seeds and three coordinates, a mean above 4 has a probability of 2e-10 for normal errors. Standard errors
    are not far too large either: a mean below 0.05 has one of 3e-12.
    """
    means, variances = [], []
    for seed in range(8):
        outcome = sampled(LogGamma(), np.zeros(3), seed=seed, draws=400)
        means.append((outcome.mean.value - LogGamma.mean) / outcome.mean.standard_error)
        variances.append((outcome.variance.value - LogGamma.variance) / outcome.variance.standard_error)
    for z in (means, variances):
        assert 0.05 < np.mean(np.square(z)) < 4.0


def test_starts_that_cannot_be_used_are_refused() -> None:
    with pytest.raises(ParameterError, match="starts: expected"):
        sampled(LogGamma(), np.zeros(2))
    with pytest.raises(ParameterError, match="start: the potential cannot be evaluated"):
        sampled(Cliff(), -np.ones(3))
