"""Forward models whose posteriors have several modes: all of them are found from one start or none, and share runs."""

from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from modes import CASES, imaging
from scipy.stats import binom

import rnshmc
from rnshmc.errors import BudgetSpent
from rnshmc.inference import emulating
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.pools import make_workers
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.emulation import seek
from rnshmc.inference.stages.starts import PriorDraws, prior_draws
from rnshmc.inference.stages.survey import Survey, share_elsewhere, survey
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import make_transform, with_prior
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.conftest import archive_of, state_of
from tests.inference.model_cases import Counted

TIMES = np.linspace(0.5, 2.0, 5)
LEFT = DEFAULT.surveying.left
SD, MEAN = 0.1, 0.15
"""Standard deviation of the data's errors, and the mean of the prior of the first parameter."""


def mirrored(x: Array) -> Array:
    """The data do not show the sign of the first parameter."""
    return np.asarray(x[0] ** 2 * TIMES + x[1])


DATA = mirrored(np.array([1.2, 0.3])) + SD * np.array([0.3, -1.1, 0.8, -0.2, 0.5])


def model(forward: Counted) -> rnshmc.Model:
    prior = {"a": ("normal", MEAN, 1.0), "b": ("normal", 0.0, 1.0)}
    return rnshmc.Model(forward, DATA, likelihood=rnshmc.Gaussian(sd=SD), prior=prior)


def exact(lowest: float = -3.0, highest: float = 3.0) -> tuple[Array, float, float]:
    """Means of both parameters, the share of positive values of the first, and the log evidence, by quadrature.

    Where the first is between the two bounds.
    """
    a, b = np.meshgrid(np.linspace(lowest, highest, 2001), np.linspace(-2.0, 2.5, 801), indexing="ij")
    outputs = a[..., None] ** 2 * TIMES + b[..., None]
    logs = -0.5 * (((outputs - DATA) / SD) ** 2).sum(axis=-1) - 0.5 * (a - MEAN) ** 2 - 0.5 * b**2
    weights = np.exp(logs - logs.max())
    cell = (highest - lowest) / 2000 * (4.5 / 800)
    constant = len(DATA) * np.log(SD * np.sqrt(2.0 * np.pi)) + np.log(2.0 * np.pi)
    evidence = np.log(weights.sum() * cell) + logs.max() - constant
    weights /= weights.sum()
    return np.array([(weights * a).sum(), (weights * b).sum()]), float(weights[a > 0].sum()), float(evidence)


@pytest.mark.parametrize(("start", "seed"), [(None, 1), (None, 2), ([1.0, 0.0], 1), ([-1.0, 0.0], 2)])
def test_two_modes_are_found_from_one_start_or_none(start: list[float] | None, seed: int) -> None:
    forward = Counted(mirrored)
    result = rnshmc.sample(model(forward), start, draws=1000, seed=seed, progress_bar=False)
    mean, share, evidence = exact()
    assert result.verdict.level == "good", str(result.verdict)
    assert str(result.verdict).startswith("No problem found; a search over the prior leaves at most 1% elsewhere.")
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    [positive] = [one.share for one in result.outcome.modes if one.point[0] > 0.0]
    assert abs(positive.value - share) < z_bound() * positive.standard_error
    assert positive.standard_error < 0.03
    assert abs(result.log_evidence.value - evidence) < z_bound() * result.log_evidence.standard_error
    # One mode from a start in it takes fewer than sixty.
    assert len(forward.asked) < 200
    predicted = result.predict().outputs
    assert isinstance(predicted, np.ndarray)
    np.testing.assert_allclose(predicted[:200], [mirrored(x) for x in result.draws[:200]], atol=0.1 * SD)


@dataclass(frozen=True)
class Found:
    """A search, the modes that are known after it, (k, d), and the share elsewhere by the emulator of all runs."""

    survey: Survey
    modes: Array
    after: float


@dataclass(frozen=True)
class Searched:
    """A search for the other modes of a model beside the one that a start, (d,), or a draw of the prior leads to."""

    posed: rnshmc.Model
    names: tuple[str, ...]
    start: Array | None

    def __call__(self, seed: int, tuning: Tuning = DEFAULT) -> Found:
        """Its result for a seed of the draws of the prior and of the search."""
        posterior = self.posed.posterior(self.names)
        transform = with_prior(make_transform(None, self.names), posterior.bounds, posterior.angles, self.names)
        workers = make_workers(None, posterior.evaluable, time_limit=None)
        rng, drawn = (np.random.default_rng(seed) for _ in range(2))
        prior = prior_draws(posterior.forward_posterior, transform, drawn)
        assert prior is not None
        prior = prior.within(transform)
        with closing(Evaluations(workers, transform, forward_posterior=posterior.forward_posterior)) as evaluations:
            archive = Archive.of(evaluations)
            start = prior.points[-1] if self.start is None else transform.coordinates(self.start[None])[0]
            modes = seek(archive, start, DEFAULT).whitening.centre[None]
            found = survey(archive, prior, modes, rng, tuning)
            known = np.concatenate((modes, found.minima))
            after = share_elsewhere(archive, prior, known, rng, replace(tuning.surveying, agreeing=1.0))
            return Found(found, transform.parameters(known), after)


MIRRORED = Searched(model(Counted(mirrored)), ("a", "b"), np.array([1.0, 0.0]))
"""Beside the mode at positive values of the first parameter."""


def of_case(name: str, *, drawn: bool) -> Searched:
    """The search of a model of benchmarks/modes.py."""
    case = CASES[name]
    start = None if drawn else np.array([case.start[name] for name in case.prior])
    return Searched(case.model(), tuple(case.prior), start)


def test_a_search_beside_a_mode_finds_the_other_in_nine_of_ten_seeds() -> None:
    seeds = range(12)
    found = [len(MIRRORED(seed).survey.minima) > 1 for seed in seeds]
    # Of searches that find it with a probability of 0.9, fewer are right by chance once in a million.
    assert sum(found) >= binom.ppf(1e-6, len(seeds), 0.9)


def test_a_mirror_image_that_the_emulator_hides_is_found() -> None:
    """Fifteen outputs agree together at the image, which is improbable for errors of one after another.

    With `Surveying.agreeing` at 1, each of these seeds misses it and is certain, as do 11 of the seeds 1 to 35.
    """
    search, side = of_case("folded_plate", drawn=True), CASES["folded_plate"].side
    assert side is not None
    found = [search(seed) for seed in (4, 10, 12, 13, 17, 25)]
    sure = [one for one in found if max(one.survey.elsewhere, one.after) < LEFT]
    # Of searches that are certain and wrong in 2% of the cases, three of six are once in 7000.
    assert sum(len(set(side(one.modes))) < 2 for one in sure) < 3


def kinked() -> Searched:
    """|a| cos(b t), with a slope that tells a from -a; both have a share of more than 15%."""
    times, rng = np.linspace(0.2, 4.0, 14), np.random.default_rng([4, 622])

    def folded(x: Array) -> Array:
        return np.asarray(np.abs(x[0]) * np.cos(x[1] * times) + 0.05 * x[0])

    truth = np.array([rng.normal(), np.exp(0.3 + 0.4 * rng.normal())])
    data = folded(truth) + 0.15 * rng.standard_normal(len(times))
    prior = {"a": ("normal", 0, 1), "b": ("lognormal", 0.3, 0.4)}
    return Searched(rnshmc.Model(folded, data, likelihood=rnshmc.Gaussian(sd=0.15), prior=prior), ("a", "b"), None)


def test_an_image_behind_a_kink_is_found() -> None:
    """With four first runs, each of these seeds misses a mode and is certain, as do seven of the seeds 1 to 20."""
    search = kinked()
    found = [search(seed) for seed in (1, 5, 6, 11, 12, 15)]
    sure = [one for one in found if max(one.survey.elsewhere, one.after) < LEFT]
    # Of searches that are certain and wrong in 15% of the cases, four of six are once in 170.
    assert sum(len(set(one.modes[:, 0] > 0.0)) < 2 for one in sure) < 4


def test_the_lowest_draw_is_a_start() -> None:
    """Without random descents, one from there finds the other mode of a surrogate that has learnt both."""
    nearly = replace(DEFAULT.surveying, descents=0)
    both = MIRRORED(0, replace(DEFAULT, surveying=nearly))
    assert (both.modes[:, 0] < 0.0).any()


def test_a_search_that_cannot_find_an_alias_is_not_certain() -> None:
    """No stationary emulator spans a period's aliases: the share elsewhere reports them (9 of 10 were certain)."""
    search, side = of_case("period", drawn=False), CASES["period"].side
    assert side is not None
    for one in (search(seed) for seed in range(1, 6)):
        assert side(one.modes).any() or one.survey.elsewhere > LEFT


@pytest.mark.parametrize("seed", [3, 5, 6])
def test_errors_within_a_known_mode_hide_no_other(seed: int) -> None:
    """Draws of the prior of ten parameters are draws of the posterior by five data.

    With all errors of the emulator, 1.4% to 1.6% were elsewhere, and these results were doubtful.
    """
    rng = np.random.default_rng(seed)
    directions = rng.standard_normal((5, 10)) / np.sqrt(10)

    def outputs(x: Array) -> Array:
        return np.asarray(np.exp(0.6 * directions @ x))

    data = outputs(rng.standard_normal(10)) + 0.5 * rng.standard_normal(5)
    prior = {f"x{k}": ("normal", 0, 1) for k in range(10)}
    posed = rnshmc.Model(outputs, data, likelihood=rnshmc.Gaussian(sd=0.5), prior=prior)
    result = rnshmc.sample(posed, dict.fromkeys(prior, 0.0), draws=200, seed=seed, progress_bar=False)
    assert result.verdict.level == "good", str(result.verdict)
    assert result.outcome.elsewhere < 0.1 * LEFT


@pytest.mark.parametrize(
    ("modes", "before", "favoured", "new", "share"),
    [
        (1, 0.05, 0.4, False, 0.05),
        (1, 0.05, 0.002, False, 0.005),
        (1, 0.001, 0.4, False, 0.005),
        (2, 0.05, 0.4, False, 0.005),
        (2, 0.001, 0.0, True, 1.0),
    ],
)
def test_the_share_elsewhere_after_training(
    modes: int, before: float, favoured: float, new: bool, share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two exponentials that exchange, one run in eight had lost half of its mass, and left 0.5% without favour.

    On the folded plate, a search had settled without the image; a mode that is found only now is not sampled.
    """
    minima = np.array([[9.0, 9.0]] if new else [[0.0, 0.0]])
    monkeypatch.setattr(emulating, "survey", lambda *_: Survey(minima, 3, 0.005))
    monkeypatch.setattr(emulating, "share_elsewhere", lambda *_: favoured)
    archive, prior = archive_of(Gaussian(np.zeros(2), np.eye(2)), np.eye(2)), PriorDraws(np.eye(2), np.zeros(2))
    found = tuple(Mode(Whitening(np.full(2, float(k)), np.eye(2)), 0.0, 0.0) for k in range(modes))
    after = emulating._surveyed_again(state_of(archive, modes=found, elsewhere=before, surveyed=7), prior)
    assert after.elsewhere == share
    assert after.surveyed == 10


def test_the_share_elsewhere_where_the_budget_ends_after_training(monkeypatch: pytest.MonkeyPatch) -> None:
    def spent(*_: object) -> Survey:
        raise BudgetSpent("the budget is spent")

    monkeypatch.setattr(emulating, "survey", spent)
    monkeypatch.setattr(emulating, "share_elsewhere", lambda *_: 0.3)
    archive, prior = archive_of(Gaussian(np.zeros(2), np.eye(2)), np.eye(2)), PriorDraws(np.eye(2), np.zeros(2))
    modes = (Mode(Whitening(np.zeros(2), np.eye(2)), 0.0, 0.0),)
    after = emulating._surveyed_again(state_of(archive, modes=modes, elsewhere=0.001, surveyed=7), prior)
    assert (after.elsewhere, after.surveyed) == (0.3, 7)


def test_a_search_that_ends_too_early_reports_what_it_leaves() -> None:
    brief_search = replace(DEFAULT, surveying=replace(DEFAULT.surveying, first=0, rounds=1))
    brief, whole = ([MIRRORED(seed, tuning).survey for seed in range(8)] for tuning in (brief_search, DEFAULT))
    assert max(one.elsewhere for one in brief) > LEFT
    assert max(one.elsewhere for one in whole) < LEFT
    assert all(one.runs < other.runs for one, other in zip(brief, whole, strict=True))


def test_one_mode_takes_at_most_a_third_more_runs_with_the_search() -> None:
    def single(x: Array) -> Array:
        return np.asarray(x[0] * TIMES + x[1])

    found, alone = (
        rnshmc.sample(model(Counted(single)), [0.0, 0.0], draws=1000, modes=modes, progress_bar=False)
        for modes in (True, False)
    )
    assert found.verdict.level == alone.verdict.level == "good"
    assert 0 < found.outcome.surveyed <= found.spent.units / 3
    assert found.spent.units <= 1.3 * alone.spent.units
    assert str(found.verdict).startswith("No problem found; a search over the prior leaves at most 1% elsewhere.")
    one = "No problem found in the one mode that was looked at; other modes were not searched for."
    assert str(alone.verdict).startswith(one)


def test_a_search_that_is_interrupted_and_resumed_is_the_same(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"filepath": tmp_path / "runs.jsonl", "draws": 200, "progress_bar": False}
    forward = Counted(mirrored)

    def interrupted(x: Array) -> Array:
        if len(forward.asked) == 12:
            raise KeyboardInterrupt
        return forward(x)

    stopped = rnshmc.sample(model(Counted(interrupted)), None, **settings)
    resumed = rnshmc.sample(model(Counted(mirrored)), None, **settings)
    whole = rnshmc.sample(model(Counted(mirrored)), None, draws=200, progress_bar=False)
    assert stopped.spent.values == 12
    assert "survey" in stopped.outcome.by_stage
    assert resumed.outcome.surveyed == whole.outcome.surveyed
    np.testing.assert_array_equal(resumed.draws, whole.draws)


def test_a_budget_that_ends_in_the_search_leaves_draws() -> None:
    result = rnshmc.sample(model(Counted(mirrored)), [1.0, 0.0], draws=200, budget=12, progress_bar=False)
    assert "survey" in result.outcome.by_stage
    assert result.outcome.surveyed == 0
    assert result.verdict.level != "good"
    assert len(result.draws) == 200


def test_rows_in_two_modes_share_their_runs() -> None:
    forward = Counted(mirrored)
    result = rnshmc.sample(model(forward), [[1.0, 0.0], [-1.0, 0.0]], draws=1000, progress_bar=False)
    one = rnshmc.sample(model(Counted(mirrored)), [1.0, 0.0], draws=1000, modes=False, progress_bar=False)
    mean, _, _ = exact()
    assert len(result.outcome.modes) == 2
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    # Twice as many as one mode, and those of the search.
    assert len(forward.asked) <= 2 * one.spent.units + result.outcome.surveyed
    assert result.verdict.level == "good", str(result.verdict)


def test_a_model_that_fails_at_most_drawn_starts_is_searched_from_the_others() -> None:
    def fragile(x: Array) -> Array:
        if not (1.0 < x[0] < 1.5 and abs(x[1]) < 1.0):
            raise RuntimeError("no convergence")
        return mirrored(x)

    result = rnshmc.sample(model(Counted(fragile)), None, draws=200, budget=400, progress_bar=False)
    mean, _, evidence = exact(lowest=1.0, highest=1.5)
    assert result.verdict.level == "doubtful"
    assert "evaluations failed and count as density 0" in str(result.verdict)
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    assert abs(result.log_evidence.value - evidence) < z_bound() * result.log_evidence.standard_error


def test_a_mode_is_found_where_the_emulator_is_unsure() -> None:
    """Descents on the potential of the emulator's mean, not averaged over its errors, missed this one in 5 of 8."""
    results = [rnshmc.sample(imaging(26), [0.0, 1.0], draws=200, seed=k, progress_bar=False) for k in range(8)]
    # Of searches that find it with a probability of 0.9, four of eight miss it by chance once in 200.
    assert sum(len(one.outcome.modes) == 2 for one in results) > 4


@pytest.mark.parametrize("seed", range(1, 5))
def test_no_run_is_repeated_beside_one_that_failed(seed: int) -> None:
    """Where the other mode would be, the model fails."""
    failed = []

    def half(x: Array) -> Array:
        if x[0] < 0.0:
            failed.append(np.array(x))
            raise ValueError("the first parameter is negative")
        return mirrored(x)

    rnshmc.sample(model(Counted(half)), [1.0, 0.0], seed=seed, progress_bar=False)
    first, second = np.triu_indices(len(failed), 1)
    distances = np.linalg.norm(np.array(failed)[first] - np.array(failed)[second], axis=1)
    assert len(failed) > 1
    assert distances.min() > 0.01
