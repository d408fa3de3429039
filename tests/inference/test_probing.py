"""Curvatures of many directions from a few batches of gradients."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages import descent, probing
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import probe
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array
from tests.conftest import FAILURE
from tests.inference.conftest import evaluations_of_potential

DIM = 120


def precision(large: Array) -> Array:
    """4 I, but for some larger eigenvalues in random directions."""
    basis = np.linalg.qr(stream(1, "precision").standard_normal((DIM, DIM)))[0]
    values = np.full(DIM, 4.0)
    values[: len(large)] += large
    return np.asarray((basis * values) @ basis.T)


def probed(large: Array, *, telling: int = DEFAULT.probing.telling, seed: int = 2) -> tuple[Archive, Array]:
    """What was evaluated, and the eigenvalues of the true Hessian in the coordinates that were found."""
    hessian = precision(large)
    archive = Archive.of(evaluations_of_potential(Gaussian(np.zeros(DIM), np.linalg.inv(hessian))))
    tuning = replace(DEFAULT, probing=replace(DEFAULT.probing, telling=telling))
    mode = probe(archive, descend(archive, np.ones(DIM), tuning), stream(seed, "probe"), tuning)
    inverse = np.linalg.inv(mode.whitening.factor)
    return archive, np.linalg.eigvalsh(inverse @ hessian @ inverse.T)


def test_a_low_rank_is_known_from_two_batches() -> None:
    """The first batch of 20 implies it, and the second one confirms that; one in twenty needs a third one."""
    seeds, third = 12, 0
    for seed in range(seeds):
        archive, curvatures = probed(np.geomspace(4.0, 400.0, 6), seed=seed)
        batches = archive.journal.by_stage[probing.STAGE].values // 20
        assert batches in (2, 3)
        third += batches == 3
        # That is what the confirmation is of: the mean square of what random steps of length sqrt(d) leave.
        assert ((curvatures - 1.0) ** 2).sum() < DEFAULT.probing.predicted
        np.testing.assert_allclose(np.median(curvatures), 1.0, atol=1e-6)
    assert third <= binom.isf(FAILURE, seeds, 1 / 20)


def test_without_a_low_rank_all_directions_are_probed() -> None:
    archive, curvatures = probed(np.geomspace(0.4, 400.0, DIM))
    spent = archive.journal.by_stage
    # All but those of the descent's steps, and then random ones that check.
    checks = DIM // DEFAULT.probing.batches // 2
    assert spent[probing.STAGE].values >= DIM - spent[descent.STAGE].values + checks
    assert 0.3 < curvatures.min() < curvatures.max() < 3.0


def test_small_batches_are_no_evidence_on_other_directions() -> None:
    archive, _ = probed(np.geomspace(4.0, 400.0, 6), telling=100)
    assert archive.journal.by_stage[probing.STAGE].values > DIM


@pytest.mark.parametrize("rank", [0, 3, 12])
def test_changes_of_gradients_imply_a_low_rank_exactly(rank: int) -> None:
    rng = stream(3, "low rank", str(rank))
    root = rng.standard_normal((60, rank))
    hessian = 2.0 * np.eye(60) + 5.0 * root @ root.T
    steps = rng.standard_normal((20, 60))
    found = probing._low_rank(steps, steps @ hessian, DEFAULT.probing)
    np.testing.assert_allclose(found, hessian, rtol=0, atol=1e-8 * np.abs(hessian).max())
