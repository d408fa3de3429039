"""Training losses of gradient networks of several designs."""

import numpy as np
from numpy.testing import assert_array_equal
from pandas.testing import assert_frame_equal

from rnshmc.experiments.network_designs import training_losses
from rnshmc.random import stream
from rnshmc.surrogates.gradient_network import GradientNetwork

DESIGNS = {"large": {"hidden_units": 40, "blocks": 1}, "blocks": {"hidden_units": 10, "blocks": 2}}
Q = stream(1, "designs").normal(size=(300, 4))
GRADIENTS = np.tanh(Q @ stream(1, "map").normal(size=(4, 4)))


def test_each_design_has_the_losses_of_its_network() -> None:
    table = training_losses(Q, GRADIENTS, designs=DESIGNS, epochs=5, seed=2, chain=3)
    rng = stream(2, "nng_fig5", "blocks", "chain3")
    network = GradientNetwork.fit(Q, GRADIENTS, rng=rng, hidden_units=10, epochs=5, blocks=2)
    part = table[table["network"] == "blocks"]
    assert_array_equal(part["loss"], network.losses)
    assert_array_equal(part["epoch"], np.arange(1, 6))
    assert set(table["chain"]) == {3}
    # Of B layers of h units, d inputs and d outputs: B h d and h d.
    assert table.set_index("network")["weights"].drop_duplicates().to_dict() == {"large": 320, "blocks": 120}


def test_the_loss_falls() -> None:
    table = training_losses(Q, GRADIENTS, designs=DESIGNS, epochs=30, seed=2, chain=1)
    ends = table.groupby("network")["loss"].agg(["first", "last"])
    assert (ends["last"] < 0.5 * ends["first"]).all()


def test_a_chain_more_changes_nothing_of_the_others() -> None:
    one, again, other = (
        training_losses(Q, GRADIENTS, designs=DESIGNS, epochs=2, seed=2, chain=chain) for chain in (1, 1, 2)
    )
    assert_frame_equal(one, again)
    assert not other["loss"].equals(one["loss"])
