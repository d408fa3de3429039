"""Chains of a surrogate, which cost no exact evaluation, continue until they agree."""

import numpy as np
import pytest

from rnshmc.inference.stages import correction
from rnshmc.inference.stages.correction import draw_surrogate
from rnshmc.inference.tuning import Correction
from rnshmc.types import Array


class Identity:
    """A whitening, and a posterior, of nothing: the chains are made up."""

    dim = 1
    whitening: "Identity"

    def __init__(self) -> None:
        self.whitening = self

    def unwhiten(self, z: Array) -> Array:
        return z


@pytest.mark.parametrize(("apart", "patience"), [(0.3, 4), (10.0, 2)])
@pytest.mark.parametrize("slow", [0, 2, 3, 100])
def test_chains_are_made_longer_until_they_agree(
    slow: int, apart: float, patience: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chains that agree after some doublings have as many draws in the end, of the last stretch alone.

    Those in different places, not those that merely disagree, are given up after fewer.
    """
    lengths: list[int] = []

    def draw(posterior: Identity, positions: Array, *, transitions: int, rng: np.random.Generator) -> Array:
        shift = 0.0 if len(lengths) >= slow else apart
        lengths.append(transitions)
        return rng.standard_normal((8, transitions, 1)) + shift * np.arange(8)[:, None, None]

    monkeypatch.setattr(correction, "draw_chains", draw)
    # R-hat of independent draws is above 1.01 in some sequences of draws.
    tuning = Correction(rhat=1.1, hopeless=2.0)
    drawn = draw_surrogate(Identity(), np.zeros((8, 1)), np.random.default_rng(1), tuning)  # type: ignore[arg-type]
    n, doublings = tuning.transitions, min(slow, patience)
    assert lengths == [tuning.settle + n, *(2**k * n for k in range(1, doublings + 1))]
    assert drawn.shape == (8, n, 1)
    assert (np.ptp(drawn.mean(axis=1)) < 1.0) == (slow <= patience)


class Difference(Identity):
    """A whitening whose coordinates in x are a difference of the whitened ones, and one of them."""

    dim = 2

    def unwhiten(self, z: Array) -> Array:
        return np.column_stack((z[:, 0] - z[:, 1], z[:, 1]))


def test_chains_agree_in_the_coordinates_of_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whitened coordinates hide a shift of 0.02 a chain behind a standard deviation of 1; their difference has 0.01."""
    lengths: list[int] = []

    def draw(posterior: Difference, positions: Array, *, transitions: int, rng: np.random.Generator) -> Array:
        lengths.append(transitions)
        both, own = rng.standard_normal((8, transitions)), 0.01 * rng.standard_normal((8, transitions))
        shift = 0.02 * np.arange(8)[:, None] * (len(lengths) == 1)
        return np.stack((both + own + shift, both), axis=2)

    monkeypatch.setattr(correction, "draw_chains", draw)
    tuning = Correction(rhat=1.1)
    drawn = draw_surrogate(Difference(), np.zeros((8, 2)), np.random.default_rng(1), tuning)  # type: ignore[arg-type]
    assert lengths == [tuning.settle + tuning.transitions, 2 * tuning.transitions]
    assert np.ptp(drawn[:, :, 0].mean(axis=1)) < 0.01
