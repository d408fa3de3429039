"""Under another prior, the swapped exact gradient samples the same posterior as HMC."""

from dataclasses import replace

import numpy as np
from numpy.testing import assert_allclose

from rnshmc.datasets.synthetic import simulate_normal_logistic
from rnshmc.experiments.prior_swap import (
    MAX_DRAWS,
    NETWORK_FACTOR,
    Kept,
    PriorSwap,
    acceptance_table,
    draws_table,
    swap_prior,
)
from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression
from tests.conftest import z_bound

DATA = simulate_normal_logistic(200, 3, stream(5, "prior swap"))
EXPERIMENT = PriorSwap(seed=5, old_sd=3.0, new_sd=0.2, burn_in=20, iterations=400)
SETTINGS = {"step_size": 0.05, "n_steps": [1, 10]}
BOTH = {"hmc": SETTINGS, "nng_hmc": SETTINGS}


def run(experiment: PriorSwap, driver_sd: float) -> list[Kept]:
    """HMC and NNg-HMC under the new prior, with an exact gradient under some prior instead of a network."""
    target = LogisticRegression(DATA.X, DATA.y, experiment.new_sd)
    driver = LogisticRegression(DATA.X, DATA.y, driver_sd)
    return swap_prior(experiment, target=target, network=driver, start=np.zeros(3), settings=BOTH)


def test_a_perfect_network_drives_as_well_as_the_exact_gradient() -> None:
    exact, network = run(EXPERIMENT, EXPERIMENT.old_sd)
    assert (exact.sampler, network.sampler) == ("hmc", "nng_hmc")
    assert len(exact.draws) == EXPERIMENT.iterations
    assert len(network.draws) == NETWORK_FACTOR * EXPERIMENT.iterations
    # Over 12 seeds 0.98, with a spread of 0.008.
    assert min(exact.acceptance, network.acceptance) > 0.93
    # Means of 400 draws, at most twice as correlated as independent ones: each within 1.4 / 20 of a posterior sd. Over
    # 12 seeds the largest difference is 0.09, with a spread of 0.03.
    sd = exact.draws.std(axis=0)
    assert np.abs((exact.draws.mean(axis=0) - network.draws.mean(axis=0)) / sd).max() < z_bound(3) * 1.4 * np.sqrt(
        2 / 400
    )


def test_the_prior_that_is_taken_out_is_that_of_the_training() -> None:
    """A driver under yet another prior is wrong by (1 / 0.1^2 - 1 / 3^2) q, and proposals are rejected."""
    # Over 12 seeds 0.23 and 0.98, with spreads of 0.06 and 0.006.
    assert run(EXPERIMENT, 0.1)[1].acceptance < run(EXPERIMENT, EXPERIMENT.old_sd)[1].acceptance - 0.1


def test_the_same_seed_gives_the_same_draws() -> None:
    short = replace(EXPERIMENT, iterations=20)
    for one, two in zip(run(short, 3.0), run(short, 3.0), strict=True):
        assert np.array_equal(one.draws, two.draws)
    assert not np.array_equal(run(replace(short, seed=6), 3.0)[0].draws, run(short, 3.0)[0].draws)


def test_tables_name_samplers_and_variances() -> None:
    draws = np.arange(2.5 * MAX_DRAWS * 4).reshape(-1, 4)
    chains = [Kept("hmc", 2.0, draws, 0.8), Kept("nng_hmc", 0.5, draws[:10], 0.6)]
    table = draws_table(chains, [1, 3])
    counts = table.groupby(["sampler", "prior_variance"]).size()
    assert counts["hmc", 4.0] == -(-len(draws) // 3) <= MAX_DRAWS
    assert counts["nng_hmc", 0.25] == 10
    assert_allclose(table["x"], draws[table["draw"], 1])
    assert_allclose(table["y"], draws[table["draw"], 3])
    assert table[["x_coordinate", "y_coordinate"]].drop_duplicates().to_numpy().tolist() == [[2, 4]]


def test_means_are_compared_with_those_of_hmc_under_the_same_prior() -> None:
    rng = np.random.default_rng(7)
    near, far = rng.standard_normal((2, 800, 2))
    chains = [Kept("hmc", 2.0, near, 0.8), Kept("nng_hmc", 2.0, far, 0.6), Kept("hmc", 0.5, near[:20], 0.7)]
    for shift in (0.0, 0.5):
        moved = [replace(chains[1], draws=far + shift)]
        all_chains = [chains[0], *moved, chains[2], replace(chains[2], sampler="nng_hmc")]
        table = acceptance_table(all_chains, draws_table(all_chains, [0, 1]))
        assert table["acceptance"].tolist() == [0.8, 0.6, 0.7, 0.7]
        # A shift by half a standard deviation is ten standard errors of 800 draws.
        assert (table["means"][1] > 1.0) == (shift > 0)
        assert table["means"][0] == 0.0
        # Twenty draws are too few.
        assert table["means"][2:].isna().all()
