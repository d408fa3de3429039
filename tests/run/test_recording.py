"""Every exact gradient of an exploration is recorded, without changing the exploration."""

from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import CheckpointError, FitError, NumericalError
from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.run.chain import Phase
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.phases import explore
from rnshmc.run.recording import GradientPairs, GradientRecording, RecordedKernel, RecordedPotential
from rnshmc.types import Array

N = 40


class Normal:
    """N(0, diag(1, 1/4)), which writes down where its gradient is asked for."""

    dim = 2
    precision = np.array([1.0, 4.0])

    def __init__(self) -> None:
        self.asked: list[Array] = []

    def value(self, q: Array) -> float:
        return 0.5 * float(self.precision @ q**2)

    def gradient(self, q: Array) -> Array:
        self.asked.append(q)
        return self.precision * q

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


def exploration(
    recording: GradientRecording | None,
    *,
    potential: Normal | None = None,
    iterations: int = N,
    checkpoint: Checkpoint | None = None,
) -> Phase:
    return explore(
        potential or Normal(),
        start=np.ones(2),
        step_size=0.8,
        n_steps=(1, 4),
        iterations=iterations,
        rng=stream(7, "recording"),
        recording=recording,
        checkpoint=checkpoint,
    )


def test_draws_and_counts_are_those_without_a_recording() -> None:
    plain, recorded = exploration(None), exploration(GradientRecording(2))
    assert plain.draws.tobytes() == recorded.draws.tobytes()
    for name, values in plain.stats.items():
        assert values.tobytes() == recorded.stats[name].tobytes(), name


def test_every_leapfrog_step_gives_a_pair() -> None:
    potential, recording = Normal(), GradientRecording(2)
    phase = exploration(recording, potential=potential)
    pairs = recording.pairs()
    # The gradient at the start belongs to no step.
    np.testing.assert_array_equal(pairs.q, potential.asked[1:])
    np.testing.assert_array_equal(pairs.gradients, Normal.precision * pairs.q)
    np.testing.assert_array_equal(np.bincount(pairs.iterations.astype(int)), phase.stats["n_steps"])
    assert not phase.stats["accepted"].all(), "the pairs of rejected proposals are to be among them"


def test_what_is_recorded_is_a_copy() -> None:
    recording = GradientRecording(2)
    potential = RecordedPotential(Normal(), recording)
    q = np.array([1.0, 2.0])
    with recording.iteration():
        potential.gradient(q)
        pairs = recording.pairs()
        q[:] = 7.0
        potential.value_and_grad(q)
    np.testing.assert_array_equal(pairs.q, [[1.0, 2.0]])
    np.testing.assert_array_equal(recording.pairs().q, [[1.0, 2.0], [7.0, 7.0]])


def test_the_first_iterations_can_stay_out() -> None:
    everything, late = GradientRecording(2), GradientRecording(2, start=15)
    exploration(everything)
    exploration(late)
    expected, found = everything.pairs().between(15, N), late.pairs()
    assert len(found) == len(expected) > 0
    for name in ("q", "gradients", "iterations"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))


def test_pairs_of_some_iterations() -> None:
    recording = GradientRecording(2)
    exploration(recording)
    pairs = recording.pairs()
    parts = [pairs.between(0, 10), pairs.between(10, 30), pairs.between(30, N)]
    assert set(parts[1].iterations) == set(range(10, 30))
    np.testing.assert_array_equal(np.concatenate([part.q for part in parts]), pairs.q)


def test_pairs_of_trajectories_that_diverged_or_failed_can_be_left_out() -> None:
    q = np.arange(12.0).reshape(6, 2)
    pairs = GradientPairs(q, -q, np.array([0.0, 1.0, 1.0, 3.0, 3.0, 4.0]))
    diverging, failed = np.arange(5) == 1, np.arange(5) == 4
    kept = pairs.of_sound_trajectories({"diverging": diverging, "solver_failed": failed})
    assert kept.iterations.tolist() == [0, 3, 3]
    np.testing.assert_array_equal(kept.q, q[[0, 3, 4]])
    np.testing.assert_array_equal(kept.gradients, -q[[0, 3, 4]])


def test_no_sound_trajectory_is_said_to_be_so() -> None:
    pairs = GradientPairs(np.ones((3, 2)), np.ones((3, 2)), np.array([0.0, 0.0, 1.0]))
    with pytest.raises(FitError, match="no gradients to train on: all 3 recorded are from"):
        pairs.of_sound_trajectories({"diverging": np.array([True, False]), "solver_failed": np.array([False, True])})


def test_it_goes_on_over_several_stretches() -> None:
    whole, split = GradientRecording(2), GradientRecording(2)
    exploration(whole)
    rng, start = stream(7, "recording"), np.ones(2)
    for iterations in (10, N - 10):
        phase = explore(
            Normal(), start=start, step_size=0.8, n_steps=(1, 4), iterations=iterations, rng=rng, recording=split
        )
        start = phase.draws[-1]
    assert split.pairs().q.tobytes() == whole.pairs().q.tobytes()
    assert split.pairs().iterations.tobytes() == whole.pairs().iterations.tobytes()


class Rugged(Normal):
    """Fails in one place, and is not finite in another."""

    def gradient(self, q: Array) -> Array:
        if q[0] > 1.5:
            raise NumericalError("not there")
        return np.array([np.inf, 0.0]) if q[0] < -1.5 else super().gradient(q)


def test_gradients_that_fail_or_are_not_finite_are_left_out() -> None:
    recording = GradientRecording(2)
    phase = exploration(recording, potential=Rugged(), iterations=300)
    assert phase.stats["solver_failed"].any()
    assert phase.stats["diverging"].any()
    pairs = recording.pairs()
    assert np.abs(pairs.q[:, 0]).max() <= 1.5
    np.testing.assert_array_equal(pairs.gradients, Normal.precision * pairs.q)


def test_pairs_come_back_from_disk(tmp_path: Path) -> None:
    recording = GradientRecording(2)
    exploration(recording)
    pairs = recording.pairs()
    pairs.save(tmp_path / "pairs.npz")
    back = GradientPairs.load(tmp_path / "pairs.npz")
    for name in ("q", "gradients", "iterations"):
        np.testing.assert_array_equal(getattr(back, name), getattr(pairs, name))


def test_a_snapshot_is_all_of_a_recording() -> None:
    recording = GradientRecording(2)
    potential = Normal()
    kernel = RecordedKernel(
        HMC(*2 * [RecordedPotential(potential, recording)], step_size=0.8, n_steps=(1, 4)), recording
    )
    rng, state = stream(7, "recording"), kernel.init(np.ones(2))
    for _ in range(10):
        state, _ = kernel.step(rng, state)
    other = GradientRecording(2)
    other.restore({name: np.copy(value) for name, value in kernel.snapshot().items()})
    assert other.pairs().q.tobytes() == recording.pairs().q.tobytes()
    with other.iteration():
        other.add(np.zeros(2), np.ones(2))
    assert other.pairs().iterations[-1] == 10


def test_a_checkpoint_with_another_recording_is_refused(tmp_path: Path) -> None:
    kept = Checkpoint(tmp_path / "chain1.npz", {}, every_s=0.0)
    exploration(GradientRecording(2, start=5), checkpoint=kept)
    for other in (None, GradientRecording(2)):
        with pytest.raises(CheckpointError, match=r"differs in recording"):
            exploration(other, checkpoint=kept)
    resumed = GradientRecording(2, start=5)
    exploration(resumed, checkpoint=kept)
    assert len(resumed.pairs()) > 0
