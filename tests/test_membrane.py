"""The membrane of Aristoff and Bangerth: published values of the model, its adjoint, the change of variables."""

import numpy as np
import pytest
from peers.membrane import Membrane, MembraneModel

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.types import Array

EPS = float(np.finfo(np.float64).eps)
CONDITION = 1e4
"""Condition of the stiffness matrix on 31 x 31 inner nodes: 4e2 at equal stiffnesses, more at unequal ones."""


@pytest.fixture
def observations() -> Array:
    return np.random.default_rng(1).uniform(0.1, 0.9, size=169)


def test_the_deflection_is_the_published_one() -> None:
    # The benchmark's own test set, input 1: all stiffnesses 10; at the first point and in the middle.
    prediction = MembraneModel().predict(np.full(64, np.log(10.0)))
    published = [7.6937775560547905e-03, 7.3728116929367787e-02]
    np.testing.assert_allclose(prediction[[0, 84]], np.array(published), rtol=100 * CONDITION * EPS)


def test_blocks_are_numbered_along_x_first() -> None:
    # One soft block at the lower right deflects the membrane most there.
    q = np.zeros(64)
    q[7] = -3.0
    change = MembraneModel().predict(q) - MembraneModel().predict(np.zeros(64))
    assert np.argmax(change) == 12


def test_the_deflection_converges_with_the_mesh() -> None:
    q = np.random.default_rng(2).normal(0.0, 0.3, size=64)
    coarse, middle, fine, finest = (MembraneModel(cells).predict(q) for cells in (16, 32, 64, 128))
    errors = [np.abs(prediction - finest).max() for prediction in (coarse, middle, fine)]
    # Of order h at least, next to the corners of blocks: against the finest mesh, 7 : 3 : 1.
    assert errors[0] > 2.0 * errors[1] > 4.0 * errors[2]


def test_the_gradient_is_that_of_the_potential(observations: Array) -> None:
    potential = Membrane(observations)
    rng = np.random.default_rng(3)
    q, direction = rng.normal(0.0, 0.5, size=(2, 64))
    value, gradient = potential.value_and_grad(q)
    assert value == pytest.approx(potential.value(q), rel=CONDITION * EPS)
    steps = np.array([1e-2, 1e-3])
    differences = [
        (potential.value(q + step * direction) - potential.value(q - step * direction)) / (2 * step) for step in steps
    ]
    errors = np.abs(np.array(differences) - gradient @ direction)
    # Central differences: a hundredth of the error at a tenth of the step.
    assert 80.0 < errors[0] / errors[1] < 120.0


def test_the_density_is_one_of_the_stiffnesses(observations: Array) -> None:
    # Without data, under N(0, prior_sd^2) for log a without the factor 1 / a, q has its mode at prior_sd^2.
    potential = Membrane(observations, noise_sd=1e8, prior_sd=2.0)
    np.testing.assert_allclose(potential.gradient(np.full(64, 4.0)), 0.0, atol=1e-10)


def test_what_cannot_be_solved_is_an_error(observations: Array) -> None:
    potential = Membrane(observations)
    with pytest.raises(NumericalError, match="stiffness"):
        potential.value(np.full(64, 800.0))
    with pytest.raises(NumericalError, match="stiffness"):
        potential.value(np.full(64, np.nan))
    with pytest.raises(ParameterError, match=r"shape \(64,\)"):
        potential.value(np.zeros(3))
    with pytest.raises(DataError, match="169"):
        Membrane(observations[1:])
    with pytest.raises(ParameterError, match="multiple of 8"):
        MembraneModel(20)
