"""The surrogate of a named sampler."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from rnshmc.errors import ParameterError
from rnshmc.experiments.training import train
from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork


def test_a_sampler_trains_what_drives_it() -> None:
    q = stream(1, "states").standard_normal((30, 2))
    settings = {"hidden_units": 7, "ridge": 1e-3}
    trained = train("rns_hmc", q, (q**2).sum(axis=1), settings=settings, rng=stream(1, "fit"))
    same = RandomNetwork.fit(q, (q**2).sum(axis=1), rng=stream(1, "fit"), hidden_units=7, ridge=1e-3)
    assert_array_equal(trained.output_weights, same.output_weights)


def test_exact_hmc_has_nothing_to_train() -> None:
    with pytest.raises(ParameterError, match="hmc has no surrogate"):
        train("hmc", np.zeros((1, 1)), np.zeros(1), settings={}, rng=stream(1))
