"""Errors of training points far up."""

import numpy as np
import pytest

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.gradient_kernel import GradientKernel
from rnshmc.inference.surrogate.learning import learnt
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array

DIM = 4


def errors_of(quartic: float) -> Array:
    """Errors, (n, 2), at eight points of heights around 2 and eight around 20, of |z|^2 / 2 + quartic |z|^4."""
    rng = stream(1, "learning")
    directions = rng.standard_normal((16, DIM))
    points = directions / np.linalg.norm(directions, axis=1)[:, None] * np.repeat([2.0, 6.5], 8)[:, None]
    squares = (points**2).sum(axis=1)
    training = Training(points, 0.5 * squares + quartic * squares**2, points * (1.0 + 4.0 * quartic * squares)[:, None])
    whitening = Whitening(np.zeros(DIM), np.eye(DIM))
    process = learnt(training, whitening, 0.0, rng, DEFAULT.fitting, like=None, lengths=(1.0,))
    assert isinstance(process, GradientKernel)
    return process.amplitude * process.solution.errors


def test_points_of_a_normal_density_far_up_have_no_error() -> None:
    assert (errors_of(0.0) == 0.0).all()


@pytest.mark.parametrize(("quartic", "error"), [(0.001, 0.5355), (0.01, 2.897)])
def test_other_points_far_up_have_an_error(quartic: float, error: float) -> None:
    """Three tenths of 0.001 * 6.5^4; of ten times as much, a tenth of the height above 4 + 1.5 d is less."""
    found = errors_of(quartic)
    assert (found[:8, 0] == 0.0).all()
    # Errors are in units of the process, which is known within a factor when they are taken.
    assert found[8:, 0] == pytest.approx(error, rel=0.25)
