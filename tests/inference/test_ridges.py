"""Functions of one variable in a process: their covariances, tables and choice."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.inference.surrogate.gradient_conditioning import conditional_covariance, factorise
from rnshmc.inference.surrogate.gradient_kernel import GradientKernel
from rnshmc.inference.surrogate.ridges import NONE, PriorMean, Ridges
from rnshmc.random import stream
from rnshmc.types import Array

NUGGET = 1e-9
PARTS = Ridges(additive=(30.0, 1.1), radial=(7.0, 0.8))


def covariance(a: Array, b: Array, length: float, ridges: Ridges) -> float:
    """Of values at two points, as the formulas have it."""
    total = np.exp(-0.5 * ((a - b) ** 2).sum() / length**2)
    if ridges.additive is not None:
        weight, short = ridges.additive
        total += weight * np.exp(-0.5 * (a - b) ** 2 / short**2).mean()
    if ridges.radial is not None:
        weight, short = ridges.radial
        apart = np.sqrt(1.0 + a @ a) - np.sqrt(1.0 + b @ b)
        total += weight * np.exp(-0.5 * apart**2 / short**2)
    return float(total)


@pytest.mark.parametrize("ridges", [NONE, Ridges(additive=(3.0, 1.3)), Ridges(radial=(2.0, 0.9)), PARTS])
def test_covariances_of_gradients_are_derivatives(ridges: Ridges) -> None:
    """By central differences of the covariance of values, whose error is the square of the step."""
    length, step = 1.7, 1e-4
    rng = stream(1, "ridges")
    points, fresh = rng.standard_normal((4, 3)), rng.standard_normal((5, 3))
    sloped = np.array([True, False, True, True])
    shifts = [np.zeros(3), *(sign * step * axis for axis in np.eye(3) for sign in (1.0, -1.0))]
    every = [point + shift for point in points for shift in shifts]
    given = np.zeros((4 + 3 * 3, len(every)))
    for row in range(4):
        given[row, row * 7] = 1.0
    for k, row in enumerate(np.flatnonzero(sloped)):
        for axis in range(3):
            given[4 + 3 * axis + k, row * 7 + 1 + 2 * axis :][:2] = np.array([0.5, -0.5]) * length / step
    matrix = given @ [[covariance(a, b, length, ridges) for b in every] for a in every] @ given.T
    factor = np.tril(factorise(points, sloped, length, NUGGET, np.zeros((4, 2)), ridges))
    np.testing.assert_allclose(factor @ factor.T, matrix, rtol=0, atol=1e-6 * matrix.max())
    cross = given @ [[covariance(a, b, length, ridges) for b in fresh] for a in every]
    prior = np.array([[covariance(a, b, length, ridges) for b in fresh] for a in fresh])
    expected = prior - cross.T @ np.linalg.solve(factor @ factor.T, cross)
    found = conditional_covariance(points, sloped, length, factor, fresh, ridges)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * prior.max())


def wells(q: Array) -> tuple[Array, Array]:
    """Two modes along the first coordinate, and heavy tails: with its gradient, rows of q."""
    values = 0.5 * q[:, 0] ** 2 - np.log(np.cosh(2.0 * q[:, 0])) + 3.0 * np.log1p((q**2).sum(axis=1) / 4.0)
    slopes = 6.0 * q / (4.0 + (q**2).sum(axis=1))[:, None]
    slopes[:, 0] += q[:, 0] - 2.0 * np.tanh(2.0 * q[:, 0])
    return values, slopes


def fitted(*, parts: bool) -> tuple[GradientKernel, Array]:
    q = 1.5 * stream(2, "wells").standard_normal((40, 3))
    u, g = wells(q)
    found = GradientKernel.fit(
        q, u, rng=stream(3, "fit"), grad=g, prior=0.5, nuggets=(NUGGET,), most_amplitude=100.0, parts=parts
    )
    return found, q


def test_parts_are_chosen_and_halve_the_error() -> None:
    fresh = stream(4, "fresh").standard_normal((400, 3))
    with_parts, without = (fitted(parts=parts)[0] for parts in (True, False))
    assert with_parts.ridges.parameters > 0
    assert without.ridges == NONE
    off, alone = (np.std(one.values_and_gradients(fresh)[0] - wells(fresh)[0]) for one in (with_parts, without))
    assert off < 0.5 * alone


def test_where_they_explain_nothing_there_are_no_parts() -> None:
    """The difference from the prior mean is a function of all coordinates, as drawn from the isotropic process."""
    q = stream(5, "waves").standard_normal((30, 3))
    u, g = PriorMean(1.0, math.sqrt(3.0)).values_and_gradients(q)
    phases = q @ np.array([1.0, -1.2, 0.9])
    slopes = g + np.cos(phases)[:, None] * np.array([1.0, -1.2, 0.9])
    found = GradientKernel.fit(q, u + np.sin(phases), rng=stream(6, "fit"), grad=slopes, prior=1.0, parts=True)
    assert found.ridges == NONE


def test_values_and_gradients_are_interpolated() -> None:
    kernel, q = fitted(parts=True)
    u, g = wells(q)
    values, gradients = kernel.values_and_gradients(q)
    np.testing.assert_allclose(values, u - u.min(), rtol=0, atol=1e-4)
    np.testing.assert_allclose(gradients, g, rtol=0, atol=1e-3)


def test_gradient_and_mean_hessian_are_derivatives() -> None:
    """Cubics between nodes: there is none within the step, and a difference of gradients has a rounding error."""
    kernel, _ = fitted(parts=True)
    q, direction = stream(7, "slopes").standard_normal((2, 3))
    step = 1e-4

    def difference(found: Callable[[Array], Array]) -> Array:
        return (found(q + step * direction) - found(q - step * direction)) / (2.0 * step)

    slope = difference(lambda x: kernel.values_and_gradients(x[None])[0][0])
    assert kernel.values_and_gradients(q[None])[1][0] @ direction == pytest.approx(slope, rel=1e-4)
    bend = difference(lambda x: kernel.values_and_gradients(x[None])[1][0])
    np.testing.assert_allclose(kernel.mean_hessian(q[None]) @ direction, bend, rtol=0, atol=1e-5 * np.abs(bend).max())
    rows = np.stack((q, direction))
    each = np.mean([kernel.mean_hessian(row[None]) for row in rows], axis=0)
    np.testing.assert_allclose(kernel.mean_hessian(rows), each, rtol=0, atol=1e-10)


@pytest.mark.parametrize("mean", [PriorMean(0.5), PriorMean(0.5, 2.0)])
def test_derivatives_of_the_prior_mean(mean: PriorMean, assert_slope: Callable[..., None]) -> None:
    q, direction = stream(8, "mean").standard_normal((2, 3))
    _, gradients = mean.values_and_gradients(q[None])
    assert_slope(lambda x: float(mean.values_and_gradients(x[None])[0][0]), gradients[0] @ direction, q, direction)
    bend = mean.mean_hessian(q[None]) @ direction
    assert_slope(lambda x: mean.values_and_gradients(x[None])[1][0], bend, q, direction)


def test_far_away_it_is_the_prior_mean() -> None:
    kernel, _ = fitted(parts=True)
    far = np.array([[1e4, -1e4, 1e4]])
    expected = kernel.prior.values_and_gradients(far)[0][0] + kernel.solution.mean
    assert kernel.values_and_gradients(far)[0][0] == pytest.approx(expected, rel=1e-6)
