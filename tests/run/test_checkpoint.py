"""A chain that is resumed from its checkpoint equals the uninterrupted chain."""

import logging
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import CheckpointError, ParameterError
from rnshmc.random import stream
from rnshmc.run import checkpoint as module
from rnshmc.run.chain import Phase, Progress, run_phase
from rnshmc.run.checkpoint import Checkpoint, Stopwatch
from rnshmc.run.phases import explore, make_kernel
from rnshmc.run.recipes import RECIPES
from rnshmc.run.sample import Chain, run_sampler
from rnshmc.surrogates.normal_equations import BLOCK
from rnshmc.surrogates.online import OnlineNetwork
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.minibatch_logistic import MinibatchLogistic
from rnshmc.targets.priors import NormalPrior
from rnshmc.types import Array, Potential

EXPLORED, KEPT = 50, 2 * BLOCK + 20
SPEC = {"data": "made here"}
NETWORK = {"hidden_units": 20, "ridge": 1e-6}
SETTINGS: dict[str, dict[str, Any]] = {
    "hmc": {},
    "rmhmc": {"step_size": 0.6},
    "rns_hmc": {"surrogate": NETWORK},
    "rns_rmhmc": {"surrogate": NETWORK, "options": {"metric": {"shape": "full", "softness": 1.0}}},
    "arns_hmc": {"surrogate": NETWORK, "options": {"offset": 100.0, "exponent": 1.0}},
    "rns_hmc_rbf": {"surrogate": NETWORK},
    "gp_hmc": {"surrogate": {"max_evaluations": 5}},
    "fitc_hmc": {"surrogate": {"inducing_points": 10, "max_evaluations": 5}},
    "nng_hmc": {"surrogate": {"hidden_units": 10, "epochs": 2}},
    "sghmc": {"options": {"batch_size": 5, "friction": 1.0}},
    "sghmc_mh": {"options": {"batch_size": 5}},
}


class KilledError(Exception):
    """Simulated death of a process."""


def killed_at(iteration: int, *, of: int) -> Progress:
    """A process that dies before it can keep this iteration of the phase that has ``of`` of them."""

    def progress(done: int, total: int, acceptance: float) -> None:
        if (done, total) == (iteration, of):
            raise KilledError

    return progress


def target(sampler: str = "hmc") -> Potential:
    rng = stream(5, "checkpoint", "data")
    X, y = rng.normal(size=(40, 3)), (rng.random(40) < 0.4).astype(np.uint8)
    return MinibatchLogistic(X, y, NormalPrior(2.0)) if RECIPES[sampler].minibatches else LogisticRegression(X, y, 2.0)


def chain(sampler: str, checkpoint: Checkpoint | None = None, progress: Progress | None = None) -> Chain:
    settings: dict[str, Any] = {"step_size": 0.3, **SETTINGS[sampler]}
    return run_sampler(
        target(sampler),
        sampler=sampler,
        start=np.zeros(3),
        n_steps=(1, 3),
        iterations=KEPT,
        explore_iterations=EXPLORED,
        seed=5,
        checkpoint=checkpoint,
        progress=progress,
        **settings,
    )


def exploration(
    checkpoint: Checkpoint | None = None, progress: Progress | None = None, *, seed: int = 5, **changed: Any
) -> Phase:
    settings = {"start": np.zeros(3), "step_size": 0.3, "n_steps": (1, 3), "iterations": EXPLORED, **changed}
    return explore(target(), rng=stream(seed, "chain"), checkpoint=checkpoint, progress=progress, **settings)


def contents(phase: Phase) -> dict[str, bytes]:
    return {"draws": phase.draws.tobytes(), **{name: values.tobytes() for name, values in phase.stats.items()}}


@pytest.fixture
def kept(tmp_path: Path) -> Checkpoint:
    return Checkpoint(tmp_path / "kept" / "chain1.npz", SPEC, every_s=0.0)


@pytest.fixture
def at_every_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checkpoints as often as asked for, whatever part of the time they take."""
    monkeypatch.setattr(module, "SHARE", math.inf)


@pytest.fixture
def interrupted(kept: Checkpoint, at_every_chance: None) -> Checkpoint:
    """What an exploration leaves that was killed at iteration 20."""
    with pytest.raises(KilledError):
        exploration(kept, killed_at(20, of=EXPLORED))
    return kept


def test_every_recipe_is_interrupted_here() -> None:
    assert set(SETTINGS) == set(RECIPES)


@pytest.mark.parametrize("sampler", SETTINGS)
@pytest.mark.parametrize("every_s", [0.0, 7.0])
def test_an_interrupted_chain_is_the_one_that_was_not(
    sampler: str, every_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Killed twice in the exploration and four times after it, with a checkpoint at each or every seventh iteration."""
    clock = iter(range(10**9))
    monkeypatch.setattr(module, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(module, "SHARE", math.inf)
    checkpoint = Checkpoint(tmp_path / "chain1.npz", SPEC, every_s)
    caplog.set_level(logging.INFO, "rnshmc")
    kills = [(13, EXPLORED), (37, EXPLORED), (12, KEPT), (BLOCK, KEPT), (BLOCK + 15, KEPT), (KEPT, KEPT)]
    for iteration, of in kills:
        with pytest.raises(KilledError):
            chain(sampler, checkpoint, killed_at(iteration, of=of))
    resumed, whole = chain(sampler, checkpoint), chain(sampler)

    resumptions = [record.getMessage() for record in caplog.records if "continues from checkpoint" in record.message]
    # The exploration is over at the third kill; from then on, each process goes on from its end.
    assert len(resumptions) == 2 + 2 * 4
    if every_s == 0:
        assert resumptions[-1].endswith(
            f"chain1.sample.npz: continues from checkpoint at iteration {KEPT - 1} of {KEPT}"
        )
    assert contents(resumed.exploration) == contents(whole.exploration)
    assert contents(resumed.sampling) == contents(whole.sampling)
    if isinstance(whole.surrogate, OnlineNetwork):
        assert resumed.surrogate is not None
        assert resumed.surrogate.report() == whole.surrogate.report()


def test_the_generator_and_the_state_go_on_as_well(kept: Checkpoint, at_every_chance: None) -> None:
    def advance(checkpoint: Checkpoint | None, progress: Progress | None = None) -> tuple[float, Array]:
        kernel, counter = make_kernel(target(), None, sampler="rmhmc", step_size=0.6, n_steps=(1, 2))
        state, rng = kernel.init(np.zeros(3)), stream(5, "chain")
        state, _ = run_phase(
            kernel, state, iterations=30, rng=rng, counter=counter, checkpoint=checkpoint, progress=progress
        )
        return rng.random(), np.vstack([state.point.force, state.point.metric.inverse_factor])

    with pytest.raises(KilledError):
        advance(kept, killed_at(11, of=30))
    (after, there), (expected_after, expected) = advance(kept), advance(None)
    assert after == expected_after
    np.testing.assert_array_equal(there, expected)


@pytest.mark.parametrize(
    ("changed", "keys"),
    [
        ({"step_size": 0.4}, "dynamics.step_size"),
        ({"n_steps": (1, 4)}, "dynamics.n_steps"),
        ({"iterations": EXPLORED + 1}, "chain.iterations"),
        ({"start": np.ones(3)}, "chain.start"),
        ({"seed": 6}, "chain.generator"),
        ({"seed": 6, "step_size": 0.4}, "chain.generator, dynamics.step_size"),
    ],
)
def test_a_checkpoint_of_another_chain_is_refused(interrupted: Checkpoint, changed: dict[str, Any], keys: str) -> None:
    with pytest.raises(CheckpointError, match=rf"chain1\.npz: .* differs in {keys}; remove the file to start again"):
        exploration(interrupted, **changed)
    interrupted.remove()
    exploration(interrupted, **changed)


@pytest.mark.parametrize(
    ("spec", "keys"),
    [
        ({"data": "other"}, "data"),
        ({}, "data"),
        ({**SPEC, "target": {"prior_sd": 2.0}}, "target"),
        ({**SPEC, "target": None}, "target"),
    ],
)
def test_a_checkpoint_of_another_spec_is_refused(interrupted: Checkpoint, spec: dict[str, Any], keys: str) -> None:
    with pytest.raises(CheckpointError, match=f"differs in {keys};"):
        exploration(Checkpoint(interrupted.path, spec))


def test_keys_within_keys_are_named(interrupted: Checkpoint) -> None:
    nested = Checkpoint(interrupted.path.with_name("nested.npz"), {"target": {"kind": "logistic", "prior_sd": 1.0}})
    exploration(nested)
    with pytest.raises(CheckpointError, match=r"differs in target\.prior_sd;"):
        exploration(Checkpoint(nested.path, {"target": {"kind": "logistic", "prior_sd": 2.0}}))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 0.98])
def test_a_truncated_checkpoint_is_refused(interrupted: Checkpoint, share: float) -> None:
    whole = interrupted.path.read_bytes()
    interrupted.path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(CheckpointError, match=r"chain1\.npz: a damaged checkpoint .*; remove the file to start again"):
        exploration(interrupted)


def test_a_checkpoint_with_other_bytes_is_refused(interrupted: Checkpoint) -> None:
    """A bit of the draws is not what was written."""
    with np.load(interrupted.path) as stored:
        draws = stored["draws"].tobytes()
    content = bytearray(interrupted.path.read_bytes())
    content[content.find(draws) + len(draws) // 2] ^= 1
    interrupted.path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"chain1\.npz: a damaged checkpoint"):
        exploration(interrupted)


def test_only_numbers_and_text_are_written(interrupted: Checkpoint) -> None:
    with np.load(interrupted.path, allow_pickle=False) as stored:
        assert {array.dtype.kind for array in dict(stored).values()} <= set("fibU")


def test_without_a_checkpoint_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exploration()
    assert list(tmp_path.iterdir()) == []


def test_what_killed_writers_left_is_removed_and_nothing_else(interrupted: Checkpoint) -> None:
    folder = interrupted.path.parent
    leftover, others = folder / ".chain1.0a1b2c3d.npz", [folder / ".chain11.0a1b2c3d.npz", folder / "chain11.npz"]
    for file in (leftover, *others):
        file.write_bytes(b"half")
    exploration(interrupted)
    assert set(folder.iterdir()) == {interrupted.path, *others}
    interrupted.part("explore").path.write_bytes(b"")
    interrupted.remove()
    assert set(folder.iterdir()) == set(others)


def test_seconds_of_earlier_processes_count() -> None:
    read = Stopwatch(wall_s=100.0, cpu_s=50.0).read()
    assert 100.0 <= read["wall_s"] < 110.0
    assert 50.0 <= read["cpu_s"] < 60.0


@pytest.mark.parametrize(("takes", "iterations"), [(0.01, [10, 20, 30, 40, 50]), (0.2, [10, 30, 50]), (1.0, [10, 50])])
def test_checkpoints_that_take_long_are_further_apart(
    takes: float, iterations: list[int], kept: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a second for each iteration and ten asked for between two; a last one is written at the end."""
    now, written = 0.0, []

    def progress(done: int, total: int, acceptance: float) -> None:
        nonlocal now
        now = now + 1.0

    def write(self: Checkpoint, facts: dict[str, Any], arrays: dict[str, Any]) -> None:
        nonlocal now
        now = now + takes
        written.append(facts["iterations"])

    monkeypatch.setattr(module, "monotonic", lambda: now)
    monkeypatch.setattr(Checkpoint, "write", write)
    exploration(Checkpoint(kept.path, SPEC, every_s=10.0), progress)
    assert written == iterations


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda kept: {"checkpoint": Checkpoint(kept.path, {"prior": math.nan})}, "its spec cannot be written as JSON"),
        (lambda kept: {"rng": np.random.Generator(np.random.MT19937(1))}, "rng: .* not of a MT19937"),
    ],
)
def test_what_cannot_be_kept_is_named_before_the_chain_runs(
    kept: Checkpoint, spoil: Callable[[Checkpoint], dict[str, Any]], message: str
) -> None:
    kernel, counter = make_kernel(target(), None, sampler="hmc", step_size=0.3, n_steps=(1, 3))
    arguments = {"checkpoint": kept, "rng": stream(5, "chain"), **spoil(kept)}
    with pytest.raises(ParameterError, match=message):
        run_phase(
            kernel, kernel.init(np.zeros(3)), iterations=10, counter=counter, progress=killed_at(1, of=10), **arguments
        )
