"""A descent may end where there is no mode, and continues when the directions around it show that."""

import numpy as np
import pytest
from peers.known_laws import Banana

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Correlated


def test_a_descent_that_ended_in_a_valley_continues() -> None:
    """Along the ridge of a banana the descent takes a slope for a mode, 15 above the lowest potential."""
    archive = Archive.of(evaluations_of_potential(Banana()))
    ended = descend(archive, np.array([-6.0, 30.0]), DEFAULT)
    assert ended.converged
    assert ended.value > 10.0
    settled = settle(archive, ended, stream(1, "valley"), DEFAULT)
    assert settled.converged
    assert settled.value < 1.0


@pytest.mark.parametrize("seed", range(5))
def test_the_mode_of_a_normal_density_is_found(seed: int) -> None:
    """One Newton step from the lowest point, at most sqrt(d) away, with a Hessian right to 10% in each direction."""
    problem = Correlated()
    archive = Archive.of(evaluations_of_potential(problem))
    settled = settle(archive, descend(archive, np.zeros(5), DEFAULT), stream(seed, "normal"), DEFAULT)
    assert archive.spent.gradients <= 40
    root = np.linalg.cholesky(problem.covariance)
    curvatures = np.linalg.svd(settled.whitening.factor.T @ root, compute_uv=False) ** 2
    assert np.abs(curvatures - 1.0).max() < 0.1
    error = np.linalg.solve(root, settled.whitening.centre - problem.mean)
    assert np.linalg.norm(error) < 0.1 * np.sqrt(5)
