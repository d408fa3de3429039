"""Coordinates without bounds: maps that invert each other, and densities with their Jacobians."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.inference.transforms import Transform, make_transform, with_prior
from rnshmc.types import Array

NAMES = ["a", "b", "c", "d", "e"]
BOUNDS: list[Any] = [None, "positive", "unit", (-3.0, 2.0), (None, 4.0)]
EPS = float(np.finfo(np.float64).eps)


@pytest.fixture
def transform() -> Transform:
    return make_transform(BOUNDS, NAMES)


@pytest.fixture
def x() -> Array:
    return np.random.default_rng(1).normal(size=(6, 5))


def test_parameters_are_inside_and_coordinates_bring_back(transform: Transform, x: Array) -> None:
    theta = transform.parameters(x)
    assert ((theta > transform.low) & (theta < transform.high)).all()
    # |x| < 3 here: the derivative of x by theta, relative to theta, is below 60.
    np.testing.assert_allclose(transform.coordinates(theta), x, rtol=0, atol=1000 * EPS)


def test_parameters_stay_inside_where_rounding_would_not(transform: Transform) -> None:
    for far in (-800.0, 800.0):
        theta = transform.parameters(np.full(5, far))
        assert ((theta > transform.low) & (theta < transform.high)).all()


@pytest.mark.parametrize("i", range(5))
def test_the_jacobian_is_that_of_the_map(x: Array, i: int, assert_slope: Callable[..., None]) -> None:
    alone = make_transform([BOUNDS[i]], ["a"])
    for row in x[:, [i]]:
        slope = np.exp(alone.log_jacobians(row)) * (-1 if i == 4 else 1)  # an upper bound turns the direction
        assert_slope(lambda q: float(alone.parameters(q)[0]), slope, row, np.ones(1))


def test_the_log_jacobian_is_the_sum_of_those_of_the_coordinates(transform: Transform, x: Array) -> None:
    for row in x:
        total = sum(make_transform([BOUNDS[i]], ["a"]).log_jacobians(row[[i]]) for i in range(5))
        assert transform.log_jacobians(row) == pytest.approx(total, rel=0, abs=50 * EPS)


def test_the_gradient_is_that_of_the_density_in_new_coordinates(
    transform: Transform, x: Array, assert_slope: Callable[..., None]
) -> None:
    def density(theta: Array) -> float:
        return float(np.sin(theta).sum() + theta[0] * theta[3])

    def gradient(theta: Array) -> Array:
        slope: Array = np.cos(theta) + np.array([theta[3], 0, 0, theta[0], 0])
        return slope

    direction = np.array([0.3, -0.5, 0.7, 0.2, -0.4])
    for row in x:
        pulled = transform.pulled_back(gradient(transform.parameters(row)), row)
        assert_slope(
            lambda q: density(transform.parameters(q)) + transform.log_jacobians(q), pulled @ direction, row, direction
        )


def test_bounds_may_be_named() -> None:
    named = make_transform({"d": (-3, 2), "b": "positive", "c": "unit", "e": (-math.inf, 4)}, NAMES)
    listed = make_transform(BOUNDS, NAMES)
    assert (named.low == listed.low).all()
    assert (named.high == listed.high).all()


def test_bounds_outside_of_the_prior_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"bounds of a: its prior has the bounds \(2\.0, 3\.0\), and no mass"):
        with_prior(make_transform([(0, 1)], ["a"]), {0: (2.0, 3.0)}, {}, ["a"])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ([(0, 1)], "one entry for each of the 5 parameters, got 1"),
        ("positive", "bounds: expected a list, got 'positive'"),
        ({"z": (0, 1)}, "no parameter is named 'z'; there are a, b"),
        ([(1, 0), *BOUNDS[1:]], "bounds of a: the lower one has to be smaller"),
        (["positiv", *BOUNDS[1:]], "bounds of a: expected one of positive, unit, real, angle, got 'positiv'"),
        ([3.0, *BOUNDS[1:]], r"bounds of a: expected \(low, high\)"),
        ([(math.nan, 1.0), *BOUNDS[1:]], "bounds of a: the lower one has to be smaller"),
    ],
)
def test_bounds_that_cannot_be_used_are_told(bounds: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_transform(bounds, NAMES)
