"""`scale=`: coordinates to start in, from the width of the posterior that a user expects."""

from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.stages.starts import make_coordinates
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array

FREE = make_transform(None, ["a", "b"])
SCALES = np.array([1e-9, 3e4])
COVARIANCE = np.outer(SCALES, SCALES) * np.array([[1.0, 0.9], [0.9, 1.0]])


def covariance(scale: Any, transform: Any = FREE, start: Any = (1.0, 1.0)) -> Array:
    """That of the unconstrained coordinates."""
    found = make_coordinates(scale, np.array(start), transform)
    assert found is not None
    root = np.linalg.inv(found.factor)
    return np.asarray(root.T @ root)


def test_each_kind_of_scale_gives_its_covariance() -> None:
    np.testing.assert_allclose(covariance(3.0), 9.0 * np.eye(2), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(covariance(SCALES), np.diag(SCALES**2), rtol=1e-12, atol=0)
    np.testing.assert_allclose(covariance(COVARIANCE), COVARIANCE, rtol=1e-12, atol=0)
    draws = np.random.default_rng(1).multivariate_normal([0, 0], COVARIANCE, size=50)
    np.testing.assert_allclose(covariance(draws), np.cov(draws.T), rtol=1e-11, atol=0)


def test_scales_of_bounded_parameters_are_relative_to_the_distance_of_the_bound() -> None:
    positive = make_transform({"b": "positive"}, ["a", "b"])
    np.testing.assert_allclose(covariance([1.0, 0.1], positive, (0.0, 5.0)), np.diag([1.0, 4e-4]), rtol=1e-12)
    np.testing.assert_allclose(covariance(10.0, positive, (0.0, 0.1)), np.diag([100.0, np.pi**2 / 3.0]), rtol=1e-12)
    draws = np.column_stack((np.arange(4.0), np.exp([0.0, 2.0, 1.0, 5.0])))
    np.testing.assert_allclose(covariance(draws, positive)[1, 1], np.var([0, 2, 1, 5], ddof=1), rtol=1e-12)


@pytest.mark.parametrize(
    ("scale", "message"),
    [
        (0.0, "scale: expected positive"),
        ([1.0, -1.0], "scale: expected positive"),
        ([1.0, np.nan], "scale: expected finite"),
        ("wide", "scale: expected numbers, got 'wide'"),
        ([1.0, 2.0, 3.0], r"scale: expected a number, or an array of shape \(2,\).*got shape \(3,\)"),
        ([[1.0, 2.0], [0.0, 1.0]], "scale: an array of shape .* is a covariance, and this one is not symmetric"),
        ([[1.0, 2.0], [2.0, 1.0]], "scale: the covariance is not positive definite"),
        (np.ones((5, 2)), "scale: the covariance is not positive definite"),
    ],
)
def test_a_scale_that_cannot_be_used_is_reported(scale: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        covariance(scale)


def test_prior_draws_outside_the_bounds_are_reported() -> None:
    with pytest.raises(ParameterError, match="scale: some of the prior draws"):
        covariance(np.random.default_rng(1).normal(size=(5, 2)), make_transform({"a": "positive"}, ["a", "b"]))


@pytest.mark.parametrize("has_gradient", [True, False])
def test_a_posterior_is_sampled_in_the_scales_that_are_given(has_gradient: bool) -> None:
    def density(x: Array) -> Any:
        value = -0.5 * float(((x / SCALES) ** 2).sum())
        return (value, -x / SCALES**2) if has_gradient else value

    result = rnshmc.sample(density, np.zeros(2), scale=5 * SCALES, draws=400, progress_bar=False)
    assert result.verdict.level == "good"
    assert np.abs(np.log(result.sd.value / SCALES)).max() < 0.2
    assert result.spent.units < 250
