"""Evaluations at many states, and the check of their gradients."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.errors import RnshmcError
from rnshmc.experiments.ensemble import (
    STEPS,
    Evaluations,
    central_differences,
    directions,
    gradient_check,
    prior_states,
    values_and_gradients,
)
from rnshmc.targets.banana import Banana

MPI = pytest.importorskip("mpi4py.MPI")
ALONG = directions(3, 2, seed=1, problem="banana")


@pytest.fixture
def evaluations() -> Evaluations:
    potential = Banana(np.array([0.5, 1.5, 1.0]), noise_sd=2.0, prior_sd=1.0)
    states = prior_states(5, 2, prior_sd=1.0, seed=1, problem="banana")
    evaluated = values_and_gradients(MPI.COMM_SELF, potential, states)
    differences = central_differences(MPI.COMM_SELF, potential, states[:3], ALONG)
    assert evaluated is not None
    assert differences is not None
    np.testing.assert_array_equal(evaluated[0], [potential.value(q) for q in states])
    return Evaluations(states, *evaluated, differences)


def test_a_larger_set_begins_with_the_smaller_one() -> None:
    small, large = (prior_states(n, 3, prior_sd=0.5, seed=1, problem="pde") for n in (4, 9))
    np.testing.assert_array_equal(large[:4], small)


def test_directions_have_length_one() -> None:
    np.testing.assert_allclose(np.linalg.norm(ALONG, axis=1), 1.0, rtol=1e-14)


def test_errors_of_a_right_gradient_fall_with_the_square_of_the_step(evaluations: Evaluations) -> None:
    check = gradient_check(evaluations, ALONG)
    assert len(check) == 3 * len(STEPS)
    errors = check.pivot_table(index="state", columns="step", values="relative_error").to_numpy()[:, ::-1]
    # The banana is a polynomial of degree four: from step to step the error of order h^2 is all there is.
    np.testing.assert_allclose(np.log2(errors[:, 1] / errors[:, 2]), 2.0, atol=1e-3)


def test_a_wrong_gradient_is_an_error_that_names_the_state(evaluations: Evaluations) -> None:
    gradients = evaluations.gradients.copy()
    gradients[1] *= 1 + 1e-4
    with pytest.raises(RnshmcError, match="state 1: slope and differences disagree"):
        gradient_check(replace(evaluations, gradients=gradients), ALONG)
