"""A schedule of training stops HMC once a network is accepted about as often, and never otherwise."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rnshmc.errors import ParameterError
from rnshmc.experiments.training_schedule import (
    EXACT,
    NETWORK,
    TRAINING,
    Schedule,
    as_table,
    run_schedule,
    schedule_table,
)
from rnshmc.random import stream
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array, Driver

TARGET = Gaussian(np.zeros(3), np.eye(3))
SCHEDULE = Schedule(start=40, end=80, every=20, trial=30, tolerance=0.1)
DYNAMICS = {"step_size": 0.3, "n_steps": (1, 5)}


class Wrong:
    """A driver whose gradient is many times too large: almost nothing is accepted."""

    dim = 3

    def gradient(self, q: Array) -> Array:
        return 300.0 * (q + 1.0)


def run(*drivers: Driver) -> tuple[list[tuple[str, int]], list[int]]:
    """Kind and draws of each stretch, and the sizes of the training sets, with drivers that are trained in turn."""
    sizes: list[int] = []

    def train(q: Array, gradients: Array) -> Driver:
        assert_allclose(gradients, q)
        sizes.append(len(q))
        return drivers[len(sizes) - 1]

    rng, start = stream(3, "schedule"), np.zeros(3)
    stretches = run_schedule(TARGET, SCHEDULE, train=train, start=start, iterations=300, rng=rng, dynamics=DYNAMICS)
    assert sum(len(part.draws) for part in stretches) == 300
    return [(part.kind, len(part.draws)) for part in stretches], sizes


def test_a_network_that_is_accepted_as_often_as_hmc_draws_the_rest() -> None:
    stretches, sizes = run(TARGET)
    assert stretches == [(EXACT, 40), (TRAINING, 0), (NETWORK, 30), (NETWORK, 230)]
    # Every step of a trajectory leaves a gradient: 3 on average.
    assert 40 < sizes[0] <= 5 * 40


def test_training_goes_on_with_all_gradients_until_a_network_is_good_enough() -> None:
    stretches, sizes = run(Wrong(), TARGET)
    first = [(EXACT, 40), (TRAINING, 0), (NETWORK, 30)]
    assert stretches == [*first, (EXACT, 20), (TRAINING, 0), (NETWORK, 30), (NETWORK, 180)]
    assert sizes[0] < sizes[1]


def test_hmc_draws_the_rest_where_no_network_is_good_enough() -> None:
    stretches, _ = run(Wrong(), Wrong(), Wrong())
    assert [kind for kind, _ in stretches] == [EXACT, TRAINING, NETWORK] * 3 + [EXACT]
    assert stretches[-1] == (EXACT, 300 - 80 - 3 * 30)


def test_seconds_are_beside_those_of_hmc_for_as_many_draws() -> None:
    table = schedule_table(
        TARGET,
        seed=3,
        start=np.zeros(3),
        draws=200,
        schedule={"start": 30, "end": 30, "every": 10, "trial": 20, "tolerance": 1.0},
        dynamics={"step_size": 0.3, "n_steps": [1, 5]},
        settings={"hidden_units": 5, "epochs": 2},
    )
    assert table["kind"].tolist() == [EXACT, TRAINING, NETWORK, NETWORK]
    assert table["draws"].tolist() == [30, 30, 50, 200]
    assert_allclose(table["hmc_seconds"], table["seconds"].iloc[0] / 30 * table["draws"])
    assert table["seconds"].is_monotonic_increasing


def test_hmc_after_the_schedule_counts_among_the_seconds_of_hmc() -> None:
    stretches = run_schedule(
        TARGET,
        SCHEDULE,
        train=lambda q, gradients: Wrong(),
        start=np.zeros(3),
        iterations=300,
        rng=stream(3, "seconds"),
        dynamics=DYNAMICS,
    )
    timed = [replace(part, seconds=2.0 * len(part.draws) if part.kind == EXACT else 0.5) for part in stretches]
    table = as_table(timed)
    assert_allclose(table["hmc_seconds"], 2.0 * table["draws"])


@pytest.mark.parametrize("name", ["start", "end", "every", "trial", "tolerance"])
def test_a_schedule_out_of_range_is_refused_by_name(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}: expected at least"):
        replace(SCHEDULE, **{name: -1})


def test_a_schedule_that_leaves_no_draws_is_refused() -> None:
    with pytest.raises(ParameterError, match="iterations: 170 leave no draw"):
        run_schedule(
            TARGET,
            SCHEDULE,
            train=lambda q, gradients: TARGET,
            start=np.zeros(3),
            iterations=170,
            rng=stream(3, "short"),
            dynamics=DYNAMICS,
        )
