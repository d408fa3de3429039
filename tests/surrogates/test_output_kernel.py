"""Processes of all outputs of a model: derivatives and leave-one-out predictions."""

import numpy as np
import pytest

from rnshmc.random import stream
from rnshmc.surrogates.output_kernel import OutputKernel
from rnshmc.surrogates.output_likelihood import Covariance, _loss_and_slopes, chosen
from rnshmc.types import Array

DIM, OUTPUTS, RUNS = 4, 6, 30
UNITS = np.ones(OUTPUTS)
STEP = 1e-5
"""Of central differences: their error is about its square, and rounding over it."""


def runs(count: int = RUNS) -> tuple[Array, Array]:
    """Inputs, and outputs that are neither linear nor quadratic."""
    rng = stream(1, "output kernel")
    linear, bent = rng.standard_normal((2, DIM, OUTPUTS))
    inputs = rng.standard_normal((count, DIM))
    return inputs, np.sin(inputs @ linear) + (inputs @ bent) ** 2


def fitted() -> OutputKernel:
    return OutputKernel.fit(*runs(), units=UNITS)


def test_gradients_are_slopes_of_predictions() -> None:
    kernel, rng = fitted(), stream(2, "output kernel")
    w, slopes = rng.standard_normal((3, DIM)), rng.standard_normal((3, OUTPUTS))
    _, local = kernel.predict(w)
    expected = [
        ((kernel.predict(w + h)[0] - kernel.predict(w - h)[0]) * slopes).sum(axis=1) / (2 * STEP)
        for h in STEP * np.eye(DIM)
    ]
    np.testing.assert_allclose(kernel.pulled_back(w, local, slopes), np.transpose(expected), rtol=1e-5, atol=1e-5)


def test_slopes_of_the_likelihood_are_those_of_its_values() -> None:
    inputs, outputs = runs()

    def loss(logarithms: Array) -> tuple[float, Array]:
        found = np.exp(logarithms)
        return _loss_and_slopes(Covariance(found[:DIM], 1.3, found[-1], found[DIM]), inputs, outputs)

    # Noise that is large enough for its slope to be more than rounding.
    at = np.log([1.0, 1.5, 0.8, 2.0, 3.0, 0.05])
    expected = [(loss(at + h)[0] - loss(at - h)[0]) / (2 * STEP) for h in STEP * np.eye(DIM + 2)]
    np.testing.assert_allclose(loss(at)[1], expected, rtol=1e-5, atol=1e-5)


def test_quadratic_outputs_have_a_quadratic_part() -> None:
    """15 terms of a quadratic in four dimensions: 30 runs predict far from them, where the local part has ended."""
    rng = stream(3, "output kernel")
    bent = rng.standard_normal((DIM, OUTPUTS))
    inputs = rng.standard_normal((RUNS, DIM))
    outputs = np.square(inputs @ bent)
    kernel = OutputKernel.fit(inputs, outputs, units=UNITS)
    far = 10.0 * rng.standard_normal((20, DIM))
    exact = (far @ bent) ** 2
    assert np.sqrt(np.mean((kernel.predict(far)[0] - exact) ** 2)) < 0.02 * exact.std()


def test_a_run_that_is_left_out_is_predicted_as_by_a_fit_without_it() -> None:
    inputs, outputs = runs()
    # Noise keeps the matrix, and what it solves, well conditioned.
    like = OutputKernel.fit(inputs, outputs, units=UNITS)
    covariances = Covariance(np.full(DIM, 2.0), 1.9, 1e-3, 2.0)
    kernel = OutputKernel.fit(inputs, outputs, units=UNITS, like=with_covariances(like, covariances))
    added, variances = kernel.held_out(inputs)
    for i in (0, 7, RUNS - 1):
        others = np.arange(RUNS) != i
        without = OutputKernel.fit(inputs[others], outputs[others], units=UNITS, like=kernel)
        here = inputs[i][None]
        np.testing.assert_allclose(kernel.predict(here)[0] + added[i], without.predict(here)[0], rtol=1e-5, atol=1e-5)
        assert variances[i] == pytest.approx(without.covariance(here)[0, 0] + covariances.nugget, rel=1e-5)


def test_where_no_run_is_nothing_is_left_out() -> None:
    kernel = fitted()
    elsewhere = runs()[0][:5] + 0.1
    added, variances = kernel.held_out(elsewhere)
    assert not added.any()
    np.testing.assert_allclose(variances, kernel.covariance(elsewhere).diagonal() + kernel.covariances.nugget)


def test_noise_is_found() -> None:
    """Outputs with noise of a tenth of their range: no interpolation."""
    inputs, outputs = runs(60)
    noisy = outputs + 0.1 * outputs.std(axis=0) * stream(4, "output kernel").standard_normal((60, OUTPUTS))
    assert chosen(inputs, noisy).nugget > 100 * chosen(inputs, outputs).nugget


def with_covariances(kernel: OutputKernel, covariances: Covariance) -> OutputKernel:
    return OutputKernel(kernel.centres, kernel.alpha, covariances, kernel.factor, kernel.roots, kernel.level)
