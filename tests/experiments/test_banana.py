"""The banana experiment: forces, trajectories from the same momenta, acceptance of HMC and RNS-HMC."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose
from pandas.testing import assert_frame_equal

from rnshmc.experiments.banana import (
    GRIDS,
    NAMES,
    BananaExperiment,
    BananaTables,
    draw_trajectories,
    run_banana,
)
from rnshmc.experiments.plane import field_on_grid
from rnshmc.types import Array

EXPERIMENT = BananaExperiment(
    seed=3,
    observations=100,
    mean=1.0,
    noise_sd=2.0,
    prior_sd=1.0,
    start=(-1.0, 1.5),
    length=1.45,
    steps=15,
    drawn_steps=40,
    drawn=4,
    discard=0,
    explore=300,
    iterations=300,
    repeats=2,
)
NETWORK = {"hidden_units": 40, "ridge": 1e-6}


class Bowl:
    """U(q) = |q|^2 / 2: a driver other than the banana."""

    dim = 2

    def gradient(self, q: Array) -> Array:
        return q


@pytest.fixture(scope="module")
def tables() -> BananaTables:
    return run_banana(EXPERIMENT, settings=NETWORK)


def test_the_gradient_of_the_field_is_the_slope_of_its_potential() -> None:
    target = EXPERIMENT.target()
    field = field_on_grid(target, {"hmc": target, "rns_hmc": Bowl()}, names=NAMES, grids=GRIDS)
    grid = field.pivot_table(index="theta2", columns="theta1", values=["potential", "hmc_1", "hmc_2"])
    h1, h2 = (np.diff(np.sort(field[name].unique()))[0] for name in ("theta1", "theta2"))
    potential = grid["potential"].to_numpy()
    # U is quadratic in theta_1: a central difference is exact. In theta_2 its third derivative 12 n theta_2 / sd^2, at
    # most 12 * 25 * 2.4, leaves h^2 / 6 of itself.
    slope_1 = (potential[:, 2:] - potential[:, :-2]) / (2 * h1)
    slope_2 = (potential[2:] - potential[:-2]) / (2 * h2)
    assert_allclose(grid["hmc_1"].to_numpy()[:, 1:-1], slope_1, rtol=1e-8, atol=1e-8)
    assert np.abs(grid["hmc_2"].to_numpy()[1:-1] - slope_2).max() < 1.001 * h2**2 / 6 * 12 * 25 * 2.4
    assert_allclose(field[["rns_hmc_1", "rns_hmc_2"]], field[["theta1", "theta2"]])


def test_trajectories_of_both_samplers_start_with_the_same_momenta() -> None:
    target, bowl = EXPERIMENT.target(), Bowl()
    table = draw_trajectories(EXPERIMENT, {"hmc": target, "rns_hmc": bowl})
    start, step_size = np.array(EXPERIMENT.start), EXPERIMENT.length / EXPERIMENT.drawn_steps
    momenta = {}
    for sampler, driver in (("hmc", target), ("rns_hmc", bowl)):
        first = table[(table["sampler"] == sampler) & (table["step"] == 1)].sort_values("trajectory")
        # q_1 = q_0 + eps p_0 - eps^2 / 2 grad U(q_0)
        kick = 0.5 * step_size * driver.gradient(start)
        momenta[sampler] = (first[["theta1", "theta2"]].to_numpy() - start) / step_size + kick
    assert momenta["hmc"].shape == (EXPERIMENT.drawn, 2)
    assert_allclose(momenta["hmc"], momenta["rns_hmc"], rtol=1e-10)
    assert (table.groupby(["sampler", "trajectory"]).size() == EXPERIMENT.drawn_steps + 1).all()


def test_the_network_costs_not_much_acceptance(tables: BananaTables) -> None:
    rates = tables.acceptance.groupby("sampler")["acceptance"].mean()
    # Over 12 seeds 0.929 and 0.862, with spreads of 0.013 and 0.038: six of these.
    assert rates["hmc"] > 0.85
    assert 0.6 < rates["rns_hmc"] != rates["hmc"]


def test_smaller_steps_raise_acceptance(tables: BananaTables) -> None:
    finer = run_banana(replace(EXPERIMENT, steps=60), settings=NETWORK)
    exact = finer.acceptance.groupby("sampler")["acceptance"].mean()["hmc"]
    # The energy error falls 16-fold. Over 12 seeds two of a thousand are rejected: of 600, more than 18 with
    # probability 1e-14. The difference is 0.07, with a spread of 0.013: five of these.
    assert exact >= 0.97
    assert exact > tables.acceptance.groupby("sampler")["acceptance"].mean()["hmc"]


def test_the_same_seed_gives_the_same_tables() -> None:
    short = replace(EXPERIMENT, explore=60, iterations=60, repeats=1)
    first, second = (run_banana(short, settings=NETWORK) for _ in range(2))
    for one, two in zip(first, second, strict=True):
        assert_frame_equal(one, two)
    other = run_banana(replace(short, seed=4), settings=NETWORK)
    assert not other.trajectories.equals(first.trajectories)


def test_the_reversed_acceptance_is_that_of_the_way_back() -> None:
    short = replace(EXPERIMENT, explore=20, iterations=50, repeats=1)
    # Steps of 0.29 are unstable: every proposal has gained energy. None is accepted, and the way back always would be.
    coarse = run_banana(replace(short, steps=5), settings=NETWORK).acceptance.set_index("sampler").loc["hmc"]
    assert (coarse["acceptance"], coarse["reversed_acceptance"]) == (0.0, 1.0)
    # The energy error falls with the square of the step: both ways are as good as certain.
    fine = run_banana(replace(short, steps=400), settings=NETWORK).acceptance.set_index("sampler").loc["hmc"]
    assert 0.99 < fine["reversed_acceptance"] < 1.0
