"""HMC and NNg-HMC on a Gaussian with disparate variances."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.experiments.network_gaussian import NetworkGaussian, run_network_gaussian

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


def test_both_samplers_have_the_variances_of_the_target() -> None:
    tables = run_network_gaussian(EXPERIMENT, settings=NETWORK)
    rates = tables.acceptance.groupby("sampler")["acceptance"].mean()
    assert rates["hmc"] > 0.85
    assert 0.2 < rates["nng_hmc"] < rates["hmc"]
    for sampler, draws in tables.draws.groupby("sampler"):
        assert draws["draw"].tolist() == list(range(1, 601))
        # A variance from n independent draws has the relative error sqrt(2 / n). Draws of HMC are taken as worth a
        # fourth as many, those of NNg-HMC as its acceptance times that.
        error = np.sqrt(2 / (600 / 4 * rates[sampler]))
        assert abs(draws["narrowest"].var() / 0.1 - 1) < 4 * error
        assert abs(draws["widest"].var() / 100.0 - 1) < 4 * error


def test_every_gradient_of_the_collected_iterations_trains() -> None:
    fixed = replace(EXPERIMENT, n_steps=(7, 7), collected=11, iterations=5)
    rows = run_network_gaussian(fixed, settings=NETWORK).acceptance
    assert (rows["pairs"] == 7 * 11).all()
    assert rows.groupby("sampler")["repeat"].agg(list).to_dict() == {"hmc": [1, 2], "nng_hmc": [1, 2]}


def test_more_gradients_make_better_proposals() -> None:
    few, many = (
        run_network_gaussian(replace(EXPERIMENT, collected=collected), settings=NETWORK).acceptance
        for collected in (5, 200)
    )
    rates = [table.groupby("sampler")["acceptance"].mean()["nng_hmc"] for table in (few, many)]
    # A share of 1200 proposals has an error of at most 0.0144.
    assert rates[1] > rates[0] + 5 * 0.0144 * np.sqrt(2)


def test_no_iterations_are_refused() -> None:
    with pytest.raises(ParameterError, match="collected: expected at least 1, got 0"):
        replace(EXPERIMENT, collected=0)
