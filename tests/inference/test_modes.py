"""A descent may end where there is no mode, and goes on when the directions around it show that."""

import numpy as np

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import descend
from rnshmc.inference.stages.probing import settle
from rnshmc.random import stream
from tests.inference.conftest import evaluations_of_potential
from tests.inference.problems import Banana, Correlated


def test_a_descent_that_ended_in_a_valley_goes_on() -> None:
    """Along the ridge of a banana the descent takes a slope for a mode, 15 above the lowest potential."""
    archive = Archive(evaluations_of_potential(Banana()), lambda _: None)
    ended = descend(archive, np.array([-6.0, 30.0]))
    assert ended.converged
    assert ended.value > 10.0
    settled = settle(archive, ended, stream(1, "valley"))
    assert settled.converged
    assert settled.value < 1.0


def test_a_mode_stays_where_it_is() -> None:
    """A normal density's is exact, and so are its curvatures: one Newton step more, and one probe of each direction."""
    problem = Correlated()
    archive = Archive(evaluations_of_potential(problem), lambda _: None)
    settled = settle(archive, descend(archive, np.zeros(5)), stream(1, "normal"))
    assert archive.spent.gradients <= 40
    np.testing.assert_allclose(settled.whitening.centre, problem.mean, rtol=0, atol=1e-3)
