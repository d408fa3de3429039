"""The chain loop keeps every draw, statistic and count, and reports progress."""

import numpy as np

from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.run.chain import STATS_DTYPES, Phase, run_phase
from rnshmc.run.counting import CountedDriver, CountedPotential, Counter
from rnshmc.types import Array


class StandardNormal:
    """N(0, I) in two dimensions."""

    dim = 2

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ q)

    def gradient(self, q: Array) -> Array:
        return q.copy()

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


def run(*, driven: bool, iterations: int = 50, seed: int = 1) -> Phase:
    counter = Counter()
    potential = CountedPotential(StandardNormal(), counter)
    driver = CountedDriver(StandardNormal(), counter) if driven else potential
    kernel = HMC(potential, driver, step_size=0.8, n_steps=(1, 4))
    rng = stream(seed, "chain")
    return run_phase(kernel, kernel.init(np.ones(2)), iterations=iterations, rng=rng, counter=counter)[1]


def test_declared_statistics_are_those_of_the_transition_and_the_counter() -> None:
    phase = run(driven=False)
    assert {name: values.dtype for name, values in phase.stats.items()} == {
        name: np.dtype(dtype) for name, dtype in STATS_DTYPES.items()
    }


def test_exact_hmc_costs_one_gradient_per_step() -> None:
    stats = run(driven=False).stats
    np.testing.assert_array_equal(stats["gradients"], stats["n_steps"])
    np.testing.assert_array_equal(stats["evaluations"], stats["n_steps"])
    np.testing.assert_array_equal(stats["values"], 1)
    np.testing.assert_array_equal(stats["surrogate_gradients"], 0)


def test_a_driven_chain_costs_one_exact_value_per_iteration() -> None:
    stats = run(driven=True).stats
    np.testing.assert_array_equal(stats["surrogate_gradients"], stats["n_steps"])
    np.testing.assert_array_equal(stats["evaluations"], 1)
    np.testing.assert_array_equal(stats["values"], 1)
    np.testing.assert_array_equal(stats["gradients"], 0)


def test_potential_is_that_of_the_draw_and_rejections_repeat_it() -> None:
    phase = run(driven=False)
    np.testing.assert_allclose(phase.stats["potential"], 0.5 * np.sum(phase.draws**2, axis=1), rtol=1e-14)
    moved = np.any(phase.draws[1:] != phase.draws[:-1], axis=1)
    np.testing.assert_array_equal(moved, phase.stats["accepted"][1:])
    assert 0 < moved.sum() < len(moved)


def test_the_same_stream_gives_the_same_bytes() -> None:
    assert run(driven=True).draws.tobytes() == run(driven=True).draws.tobytes()
    assert run(driven=True).draws.tobytes() != run(driven=True, seed=2).draws.tobytes()


def test_two_stretches_are_one_chain() -> None:
    counter = Counter()
    potential = CountedPotential(StandardNormal(), counter)
    kernel = HMC(potential, potential, step_size=0.8, n_steps=(1, 4))
    rng = stream(1, "chain")
    state, first = run_phase(kernel, kernel.init(np.ones(2)), iterations=20, rng=rng, counter=counter)
    _, second = run_phase(kernel, state, iterations=30, rng=rng, counter=counter)
    np.testing.assert_array_equal(np.concatenate([first.draws, second.draws]), run(driven=False).draws)


def test_progress_is_told_after_each_iteration() -> None:
    told: list[tuple[int, int, float]] = []
    counter = Counter()
    potential = CountedPotential(StandardNormal(), counter)
    kernel = HMC(potential, potential, step_size=0.8, n_steps=(1, 4))
    _, phase = run_phase(
        kernel,
        kernel.init(np.ones(2)),
        iterations=5,
        rng=stream(1, "chain"),
        counter=counter,
        progress=lambda *told_now: told.append(told_now),
    )
    assert [(done, total) for done, total, _ in told] == [(i, 5) for i in range(1, 6)]
    assert told[-1][2] == phase.stats["accepted"].mean()
