"""Another attempt at a surrogate: at the mode that the first found, behind a nearer wall, with more points."""

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from peers.known_laws import TwistedGaussian

from rnshmc.inference import attempt
from rnshmc.inference.attempt import attempts, lowered
from rnshmc.inference.exact.archive import Archive, Training
from rnshmc.inference.result.state import State, States
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.uncertainty import no_tails
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.random import stream
from tests.inference.conftest import ended, evaluations_of_potential, state_of
from tests.inference.problems import Correlated, two_modes


@pytest.mark.parametrize("emulating", [False, True])
def test_later_attempts_are_behind_a_nearer_wall_and_may_have_more(
    emulating: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first failed for what is far up, and its points are no reason to give up; emulators keep all runs."""
    archive = Archive.of(evaluations_of_potential(Correlated()))
    seen: list[Tuning] = []

    def refused(state: State, **_: Any) -> States:
        seen.append(state.tuning)
        yield from ()
        state.archive.evaluate(state.rng.standard_normal((30, 5)), "training")
        return replace(state, refused=True)

    monkeypatch.setattr(attempt, "attempt", refused)
    mode = descend(archive, np.zeros(5), DEFAULT)
    archive = replace(archive, emulating=emulating)
    assert ended(attempts(state_of(archive, modes=(mode,), whitening=mode.whitening))).tuning is DEFAULT
    if emulating:
        assert seen == 3 * [DEFAULT]
        return
    known = len(archive.training().values)
    assert [tuning.fitting.hugging for tuning in seen] == [False, True, True]
    most = [tuning.training.most_points - DEFAULT.training.most_points for tuning in seen]
    assert most == [0, known - 60, known - 30]


def test_with_a_hull_the_wall_is_farther_out_only_where_points_are() -> None:
    """One plausible point of many is far out: the sphere around it would have room for wells everywhere else."""
    rng = stream(2, "hull")
    points = np.concatenate((rng.uniform(-1.0, 1.0, (40, 3)), [[0.0, 8.0, 0.0]]))
    training = Training(points, np.zeros(41), np.zeros((41, 3)))
    whitening = Whitening(np.zeros(3), np.eye(3))
    sphere = fit_posterior(training, whitening, rng, DEFAULT.fitting)
    hugging = fit_posterior(training, whitening, rng, DEFAULT.again(known=41).fitting)
    along = np.array([[0.0, 2.0, 0.0], [0.0, -2.0, 0.0], [3.0, 0.0, 0.0], [0.6, 0.8, 0.0]])
    norms, walls = hugging.walls(along)
    np.testing.assert_allclose(norms, [2.0, 2.0, 3.0, 1.0])
    np.testing.assert_allclose(walls, [9.0, 4.0 + np.sqrt(3.0), 4.0 + np.sqrt(3.0), 1.0 + 0.8 * 8.0])
    np.testing.assert_array_equal(sphere.walls(along)[1], np.full(4, 9.0))
    # Points beyond reach are not fitted: the wall is not there either.
    far = replace(hugging, hull=np.array([[0.0, 20.0, 0.0]]))
    assert far.walls(along)[1][0] == far.reach


def test_an_attempt_begins_at_the_mode_below_the_lowest_point_of_the_last() -> None:
    """The descent ended where no mode is: one point of the training is 18 below it, at the foot of a mode."""
    archive = Archive.of(evaluations_of_potential(two_modes()))
    first = replace(descend(archive, np.array([-5.0, 1.0]), DEFAULT), value=22.5)
    archive.evaluate(np.array([[4.0, 0.5]]), "training")
    found = lowered(state_of(archive, modes=(first,), whitening=first.whitening))
    [mode] = found.modes
    assert mode.converged
    assert mode.value < np.log(4.0 * np.pi) + 0.1
    # One that is as low as all that was seen stays.
    assert lowered(found) is found


@pytest.mark.parametrize(
    ("variance", "budget", "count"), [(5.0, None, 2), (20.0, None, 1), (np.nan, None, 1), (20.0, 40, 2)]
)
def test_a_surrogate_far_from_the_posterior_has_no_second_attempt_before_exact_chains(
    variance: float, budget: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the budget suffices for chains: they find the posterior.

    Nor is there a third where the second evaluated nothing: it would be the same.
    """
    archive = Archive.of(evaluations_of_potential(Correlated(), budget=budget))
    mode = descend(archive, np.zeros(5), DEFAULT)
    begun = list[State]()

    def refused(state: State, **_: Any) -> States:
        begun.append(state)
        yield from ()
        posterior = cast("SurrogatePosterior", None)
        trained = Trained(posterior, np.zeros((1, 5)), variance, variance, no_tails(5), good=False)
        return replace(state, refused=True, trained=trained)

    monkeypatch.setattr(attempt, "attempt", refused)
    last = ended(attempts(state_of(archive, modes=(mode,), whitening=mode.whitening)))
    assert len(begun) == count
    assert last.refused


@pytest.mark.parametrize(
    ("dim", "latest", "searched"), [(12, 0.1, True), (13, 0.1, False), (13, 1.5, True), (13, np.inf, False)]
)
def test_a_bend_is_searched_in_many_dimensions_where_the_last_draws_show_that_the_surrogate_is_wrong(
    dim: int, latest: float, searched: bool
) -> None:
    """The first good draws are not trusted yet: the variance is half of what it may be at most."""
    archive = Archive.of(evaluations_of_potential(TwistedGaussian(dim)))
    assert unexplained(state_of(archive), latest) == searched


@pytest.mark.parametrize(("dim", "last", "searched"), [(12, 30, True), (13, 21, False), (13, 20, True)])
def test_a_bend_is_searched_in_many_dimensions_where_there_are_half_as_many_points_more(
    dim: int, last: int, searched: bool
) -> None:
    """A search takes d^4 operations, and with a few points more it finds what it found before."""
    archive = Archive.of(evaluations_of_potential(TwistedGaussian(dim)))
    archive.evaluate(stream(6, "points").standard_normal((30, dim)), "training")
    assert unexplained(state_of(archive, unbent=last), 1.5) == searched


@pytest.mark.parametrize(
    ("dim", "missing", "filling", "last", "searched"),
    [
        (12, 1.5, 0.0, 30, True),
        (13, 1.5, 0.0, 0, False),
        (12, 0.5, 0.2, 0, False),
        (12, 0.5, 0.3, 20, True),
        (12, 0.5, 0.3, 21, False),
        (13, 0.5, 0.3, 20, True),
    ],
)
def test_a_bend_is_searched_where_parts_are_missing_or_tails_stay_open(
    dim: int, missing: float, filling: float, last: int, searched: bool
) -> None:
    """Draws are near what they should be, but they do not come everywhere, or nobody knows whether they do."""
    archive = Archive.of(evaluations_of_potential(TwistedGaussian(dim)))
    archive.evaluate(stream(6, "points").standard_normal((30, dim)), "training")
    near = replace(_wrong(dim, 0.5), variance=0.5, missing=missing, filling=filling)
    assert attempt.unexplained(state_of(archive, unbent=last), near) == searched


@pytest.mark.parametrize("infinite", [False, True])
def test_a_search_that_finds_no_bend_is_remembered(infinite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one waits for more points than there were then."""
    archive = Archive.of(evaluations_of_potential(TwistedGaussian(13)))
    archive.evaluate(stream(6, "points").standard_normal((30, 13)), "training")
    asked = list[Archive]()
    wrong = _wrong(13, np.inf if infinite else 1.5)
    monkeypatch.setattr(attempt, "train", lambda *_, **__: iter((wrong, wrong, wrong)))
    monkeypatch.setattr(attempt, "measure_noise", lambda *_: None)
    monkeypatch.setattr(attempt, "better_bend", lambda archive, *_, **__: asked.append(archive))
    last = ended(attempt.attempt(state_of(archive, whitening=wrong.posterior.whitening)))
    assert last.refused
    assert len(asked) == (0 if infinite else 1)
    assert last.unbent == (0 if infinite else 30)


def _wrong(dim: int, latest: float) -> Trained:
    posterior = cast("SurrogatePosterior", SimpleNamespace(whitening=Whitening(np.zeros(dim), np.eye(dim))))
    return Trained(posterior, np.zeros((1, dim)), 2.0, latest, no_tails(dim), good=False)


def unexplained(state: State, latest: float) -> bool:
    return attempt.unexplained(state, _wrong(state.archive.dim, latest))


@pytest.mark.parametrize(("depth", "early"), [(2.5, False), (8.0, True)])
def test_training_ends_where_draws_of_another_mode_would_be_lower(
    depth: float, early: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mode 2 + d / 2 above another has no mass; one that is 2 above may be where a descent ended."""
    archive = Archive.of(evaluations_of_potential(two_modes()))
    where = replace(descend(archive, np.array([-5.0, 1.0]), DEFAULT), value=np.log(4.0 * np.pi) + depth)
    went_on: list[float] = []

    def trained(state: State, until: Callable[[State], bool]) -> States:
        went_on.append(state.modes[0].value)
        archive.evaluate(np.array([[5.0, 0.5]]), "training")
        posterior = cast("SurrogatePosterior", None)
        surrogate = Trained(posterior, np.zeros((1, 2)), 0.5, 0.5, no_tails(2), good=False)
        state = replace(state, refused=False, trained=surrogate)
        yield state
        if not until(state):
            went_on.append(np.inf)
        return replace(state, refused=True, reason="to the end")

    monkeypatch.setattr(attempt, "attempt", trained)
    last = ended(attempts(state_of(archive, modes=(where,), whitening=where.whitening)))
    assert np.isinf(went_on[1]) != early
    # Whatever ended the first, the next begins at the mode below.
    assert went_on[-2] < where.value - 2.0
    assert last.reason == "to the end"
