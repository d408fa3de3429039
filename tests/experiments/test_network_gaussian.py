"""HMC and NNg-HMC on a Gaussian with disparate variances."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.experiments.network_gaussian import NetworkGaussian, NetworkGaussianTables, run_network_gaussian
from tests.conftest import z_bound

EXPERIMENT = NetworkGaussian(
    seed=4,
    dimension=5,
    smallest=0.1,
    largest=100.0,
    between=(1.0, 10.0),
    step_size=0.3,
    n_steps=(1, 59),
    collected=50,
    iterations=600,
    repeats=2,
)
NETWORK = {"hidden_units": 100, "epochs": 20}


@pytest.fixture(scope="module")
def tables() -> NetworkGaussianTables:
    return run_network_gaussian(EXPERIMENT, settings=NETWORK)


def test_both_samplers_have_the_variances_of_the_target(tables: NetworkGaussianTables) -> None:
    rates = tables.acceptance.groupby("sampler")["acceptance"].mean()
    # Over 12 seeds 0.946 and 0.919, with spreads of 0.007 and 0.008.
    assert rates["hmc"] > 0.85
    assert 0.8 < rates["nng_hmc"] != rates["hmc"]
    for sampler, draws in tables.draws.groupby("sampler"):
        assert draws["draw"].tolist() == 2 * list(range(1, 601))
        assert draws["repeat"].tolist() == [1] * 600 + [2] * 600
        # A variance from n independent draws has the relative error sqrt(2 / n). Draws of HMC are taken as worth a
        # fourth as many, those of NNg-HMC as its acceptance times that. Over 12 seeds
        # the spread is 0.5 to 1.0 of that error. Its logarithm is nearer to a normal law.
        error = np.sqrt(2 / (1200 / 4 * rates[sampler]))
        assert abs(np.log(draws["narrowest"].var() / 0.1)) < z_bound(4) * error
        assert abs(np.log(draws["widest"].var() / 100.0)) < z_bound(4) * error


def test_every_gradient_of_the_collected_iterations_trains() -> None:
    fixed = replace(EXPERIMENT, n_steps=(7, 7), collected=11, iterations=5)
    rows = run_network_gaussian(fixed, settings=NETWORK).acceptance
    assert (rows["pairs"] == 7 * 11).all()
    assert rows.groupby("sampler")["repeat"].agg(list).to_dict() == {"hmc": [1, 2], "nng_hmc": [1, 2]}


def test_an_exploration_that_has_not_converged_starts_near_the_origin() -> None:
    """A coordinate of sd 1e7 goes no further in four steps of 0.1 from N(0, I) than by momenta from N(0, I)."""
    wide = replace(EXPERIMENT, largest=1e14, step_size=0.1, n_steps=(1, 1), collected=2, iterations=2, repeats=1)
    far = {
        converged: run_network_gaussian(replace(wide, converged=converged), settings=NETWORK).draws["widest"].abs()
        for converged in (True, False)
    }
    assert (far[True] > 10).all()
    assert (far[False] < z_bound(4) * np.sqrt(1 + 4 * 0.1**2)).all()


def test_more_gradients_make_better_proposals(tables: NetworkGaussianTables) -> None:
    few = run_network_gaussian(replace(EXPERIMENT, collected=5), settings=NETWORK)
    rates = [table.acceptance.groupby("sampler")["acceptance"].mean()["nng_hmc"] for table in (few, tables)]
    # Over 8 seeds 0.37 and 0.92, with spreads of 0.084 and 0.010: six of these.
    assert rates[1] > rates[0]
