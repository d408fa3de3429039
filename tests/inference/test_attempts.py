"""Another attempt at a surrogate: at the mode that the first came upon, behind a nearer wall, with more points."""

from collections.abc import Iterator
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest
from peers.known_laws import TwistedGaussian

from rnshmc.inference import attempt, coordinates
from rnshmc.inference.attempt import attempts, lowered
from rnshmc.inference.exact.archive import Archive, Training
from rnshmc.inference.job import Job
from rnshmc.inference.result.findings import Found
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, fit_posterior
from rnshmc.inference.surrogate.tails import no_tails
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.random import stream
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Correlated, two_modes


@pytest.mark.parametrize("emulating", [False, True])
def test_later_attempts_are_behind_a_nearer_wall_and_may_have_more(
    emulating: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first failed for what is far up, and its points are no reason to give up; emulators go on with all runs."""
    archive = Archive(evaluations_of_potential(Correlated()), lambda _: None)
    job = Job(archive, stream(1, "attempts"), DEFAULT, 1000)
    seen: list[Tuning] = []

    def refused(job: Job, found: Found) -> list[Found]:
        seen.append(job.tuning)
        job.archive.evaluate(job.rng.standard_normal((30, 5)), "training")
        return [replace(found, refused=True)]

    monkeypatch.setattr(attempt, "attempt", refused)
    mode = descend(archive, np.zeros(5), DEFAULT)
    archive.emulating = emulating
    list(attempts(job, Found(modes=(mode,), whitening=mode.whitening)))
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


def test_an_attempt_begins_at_the_mode_below_what_the_last_came_upon() -> None:
    """The descent ended where no mode is: one point of the training is 18 below it, at the foot of a mode."""
    archive = Archive(evaluations_of_potential(two_modes()), lambda _: None)
    job = Job(archive, stream(3, "lower"), DEFAULT, 1000)
    ended = replace(descend(archive, np.array([-5.0, 1.0]), DEFAULT), value=22.5)
    archive.evaluate(np.array([[4.0, 0.5]]), "training")
    found = lowered(job, Found(modes=(ended,), whitening=ended.whitening))
    [mode] = found.modes
    assert mode.converged
    assert mode.value < np.log(4.0 * np.pi) + 0.1
    # One that is as low as all that was seen stays.
    assert lowered(job, found) is found


@pytest.mark.parametrize(
    ("variance", "budget", "count"), [(5.0, None, 2), (20.0, None, 1), (np.nan, None, 1), (20.0, 40, 2)]
)
def test_a_surrogate_far_from_the_posterior_has_no_second_attempt_before_exact_chains(
    variance: float, budget: int | None, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the budget suffices for chains: they tell where the posterior is.

    Nor is there a third where the second evaluated nothing: it would be the same.
    """
    archive = Archive(evaluations_of_potential(Correlated(), budget=budget), lambda _: None)
    job = Job(archive, stream(4, "far"), DEFAULT, 1000)
    mode = descend(archive, np.zeros(5), DEFAULT)
    begun = list[Found]()

    def refused(_: Job, found: Found) -> Iterator[Found]:
        begun.append(found)
        posterior = cast("SurrogatePosterior", None)
        trained = Trained(posterior, np.zeros((1, 5)), variance, variance, no_tails(5), good=False)
        yield replace(found, refused=True, trained=trained)

    monkeypatch.setattr(attempt, "attempt", refused)
    *_, last = attempts(job, Found(modes=(mode,), whitening=mode.whitening))
    assert len(begun) == count
    assert last.refused


@pytest.mark.parametrize(
    ("dim", "latest", "searched"), [(12, 0.1, True), (13, 0.1, False), (13, 1.5, True), (13, np.inf, False)]
)
def test_a_bend_is_searched_in_many_dimensions_where_the_last_draws_show_that_the_surrogate_is_wrong(
    dim: int, latest: float, searched: bool
) -> None:
    """The first good draws are not believed yet: the variance is half of what it may be at most."""
    archive = Archive(evaluations_of_potential(TwistedGaussian(dim)), lambda _: None)
    assert unexplained(archive, Found(), latest) == searched


@pytest.mark.parametrize(("dim", "last", "searched"), [(12, 30, True), (13, 21, False), (13, 20, True)])
def test_a_bend_is_searched_in_many_dimensions_where_there_are_half_as_many_points_more(
    dim: int, last: int, searched: bool
) -> None:
    """A search takes d^4 operations, and with a few points more it finds what it found before."""
    archive = Archive(evaluations_of_potential(TwistedGaussian(dim)), lambda _: None)
    archive.evaluate(stream(6, "points").standard_normal((30, dim)), "training")
    assert unexplained(archive, Found(unbent=last), 1.5) == searched


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
    archive = Archive(evaluations_of_potential(TwistedGaussian(dim)), lambda _: None)
    archive.evaluate(stream(6, "points").standard_normal((30, dim)), "training")
    near = replace(_wrong(dim, 0.5), variance=0.5, missing=missing, filling=filling)
    job = Job(archive, stream(5, "bent"), DEFAULT, 1000)
    assert coordinates.unexplained(job, Found(unbent=last), near) == searched


@pytest.mark.parametrize("infinite", [False, True])
def test_a_search_that_finds_no_bend_is_remembered(infinite: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next one waits for more points than there were then."""
    archive = Archive(evaluations_of_potential(TwistedGaussian(13)), lambda _: None)
    archive.evaluate(stream(6, "points").standard_normal((30, 13)), "training")
    job, asked = Job(archive, stream(5, "bent"), DEFAULT, 1000), list[Archive]()
    wrong = _wrong(13, np.inf if infinite else 1.5)
    monkeypatch.setattr(attempt, "train", lambda *_, **__: iter((wrong, wrong, wrong)))
    monkeypatch.setattr(attempt, "measure_noise", lambda *_: None)
    monkeypatch.setattr(coordinates, "better_bend", lambda archive, *_, **__: asked.append(archive))
    *_, last = attempt.attempt(job, Found(whitening=wrong.posterior.whitening))
    assert last.refused
    assert len(asked) == (0 if infinite else 1)
    assert last.unbent == (0 if infinite else 30)


def _wrong(dim: int, latest: float) -> Trained:
    posterior = cast("SurrogatePosterior", SimpleNamespace(whitening=Whitening(np.zeros(dim), np.eye(dim))))
    return Trained(posterior, np.zeros((1, dim)), 2.0, latest, no_tails(dim), good=False)


def unexplained(archive: Archive, found: Found, latest: float) -> bool:
    job = Job(archive, stream(5, "bent"), DEFAULT, 1000)
    return coordinates.unexplained(job, found, _wrong(archive.dim, latest))


@pytest.mark.parametrize(("depth", "ended"), [(2.5, False), (8.0, True)])
def test_training_ends_where_draws_of_another_mode_would_be_lower(
    depth: float, ended: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mode 2 + d / 2 above another has no mass; one that is 2 above may be where a descent ended."""
    archive = Archive(evaluations_of_potential(two_modes()), lambda _: None)
    job = Job(archive, stream(3, "lower"), DEFAULT, 1000)
    where = replace(descend(archive, np.array([-5.0, 1.0]), DEFAULT), value=np.log(4.0 * np.pi) + depth)
    went_on: list[float] = []

    def trained(job: Job, found: Found) -> Iterator[Found]:
        went_on.append(found.modes[0].value)
        archive.evaluate(np.array([[5.0, 0.5]]), "training")
        posterior = cast("SurrogatePosterior", None)
        yield replace(
            found, refused=False, trained=Trained(posterior, np.zeros((1, 2)), 0.5, 0.5, no_tails(2), good=False)
        )
        went_on.append(np.inf)
        yield replace(found, refused=True, reason="to the end")

    monkeypatch.setattr(attempt, "attempt", trained)
    *_, last = attempts(job, Found(modes=(where,), whitening=where.whitening))
    assert np.isinf(went_on[1]) != ended
    # Whatever ended the first, the next begins at the mode below.
    assert went_on[-2] < where.value - 2.0
    assert last.reason == "to the end"
