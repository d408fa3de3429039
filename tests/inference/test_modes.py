"""Descents that end where there is no mode continue; searches for more modes have an end."""

import re
from dataclasses import replace

import numpy as np
import pytest
from peers.known_laws import Banana, NormalMixture

import rnshmc
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.modes import record_mode, refine_modes, search_more_starts
from rnshmc.inference.result.state import State
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of_potential, state_of
from tests.inference.problems import Correlated


def test_a_descent_that_ended_in_a_valley_continues() -> None:
    """Along the ridge of a banana the descent takes a slope for a mode, 15 above the lowest potential."""
    archive = Archive.of(evaluations_of_potential(Banana()))
    ended = descend(archive, np.array([-6.0, 30.0]), DEFAULT)
    assert ended.converged
    assert ended.value > 10.0
    settled = settle(archive, ended, stream(1, "valley"), DEFAULT)
    assert settled.converged
    assert settled.value < 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_mode_of_a_normal_density_is_found(seed: int) -> None:
    """One Newton step from the lowest point, at most sqrt(d) away, with a Hessian right to 10% in each direction."""
    problem = Correlated()
    archive = Archive.of(evaluations_of_potential(problem))
    settled = settle(archive, descend(archive, np.zeros(5), DEFAULT), stream(seed, "normal"), DEFAULT)
    assert archive.spent.gradients <= 40
    root = np.linalg.cholesky(problem.covariance)
    curvatures = np.linalg.svd(settled.whitening.factor.T @ root, compute_uv=False) ** 2
    assert np.abs(curvatures - 1.0).max() < 0.1
    error = np.linalg.solve(root, settled.whitening.centre - problem.mean)
    assert np.linalg.norm(error) < 0.1 * np.sqrt(5)


CENTRES = np.array([(x, y) for x in range(-10, 11, 4) for y in range(-10, 11, 4)], dtype=float)
LATTICE = NormalMixture(np.full(36, 1.0 / 36), CENTRES, np.ones(36))


def lattice_searched(caplog: pytest.LogCaptureFixture, seed: int, **limits: int) -> tuple[State, str]:
    """A search for the 36 modes of the lattice from one of them, and what it logs."""
    evaluations = evaluations_of_potential(LATTICE)
    tuning = replace(DEFAULT, modes=replace(DEFAULT.modes, **limits))
    state = replace(state_of(Archive.of(evaluations)), tuning=tuning)
    state = refine_modes(record_mode(state, descend(state.archive, np.array([2.1, 2.2]), tuning)))
    with caplog.at_level("WARNING"):
        state = search_more_starts(state, stream(seed, "lattice").uniform(-12.0, 12.0, (400, 2)))
    return state, caplog.text


@pytest.mark.parametrize("seed", range(3))
def test_a_search_for_modes_ends_at_twenty(caplog: pytest.LogCaptureFixture, seed: int) -> None:
    state, _ = lattice_searched(caplog, seed)
    assert 15 <= len(state.modes) <= 20
    [doubt] = state.doubts
    assert doubt.endswith("further starts, before 100 in a row found no new one.")


def test_a_search_for_modes_ends_after_as_many_points_as_it_may_take(caplog: pytest.LogCaptureFixture) -> None:
    state, _ = lattice_searched(caplog, 1, further=40)
    assert len(state.doubts) == 1
    assert len(state.modes) < 20
    # The first mode takes a few, and checks of each mode at the end come on top.
    assert 60 <= state.archive.spent.points < 60 + 20 * len(state.modes)


def test_a_long_search_for_modes_is_forecast(caplog: pytest.LogCaptureFixture) -> None:
    state, logged = lattice_searched(caplog, 1, most=50)
    assert len(state.modes) > 20
    assert not state.doubts
    assert len(re.findall(r"\d+ modes so far: the search for more takes about \d+ further units", logged)) == 1


def test_a_run_without_gradients_has_an_end() -> None:
    """Ripples are not learnt."""

    def rippled(x: Array) -> float:
        return float(-0.5 * x @ x + 2.0 * np.cos(40.0 * x).sum())

    result = rnshmc.sample(rippled, [0.3, 0.4], progress_bar=False)
    assert result.spent.points <= 1200
    assert result.verdict.level == "bad"
    assert "without gradients, 1200 points are the limit; `budget` sets another" in str(result.verdict)


@pytest.mark.parametrize("seed", range(5))
def test_a_start_from_which_a_known_mode_is_predicted_takes_one_gradient(seed: int) -> None:
    """Far on the side of one of two modes, 8 apart; on the other side, the descent finds the other mode."""
    law = NormalMixture(np.array([0.5, 0.5]), np.outer([-4.0, 4.0], np.eye(3)[0]), np.array([1.0, 1.3]))
    archive = Archive.of(evaluations_of_potential(law))
    known = settle(archive, descend(archive, np.array([-3.0, 0.5, 0.5]), DEFAULT), stream(seed, "known"), DEFAULT)
    before = archive.spent.points
    assert descend(archive, np.array([-7.0, 3.0, -4.0]), DEFAULT, known.whitening, known=(known,)) is known
    assert archive.spent.points == before + 1
    other = descend(archive, np.array([7.0, 3.0, -4.0]), DEFAULT, known.whitening, known=(known,))
    assert other.converged
    assert other.near(np.array([4.0, 0.0, 0.0]))
    assert not known.near(other.whitening.centre)
