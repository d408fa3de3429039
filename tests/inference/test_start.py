"""A start or a gradient that cannot work is reported before it costs evaluations."""

import logging
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.start import check_gradient, check_inside, check_start
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of

DIM = 40
SCALES = np.geomspace(0.1, 10, DIM)
START = np.random.default_rng(2).normal(size=DIM)


def density(x: Array) -> float:
    return float(-0.5 * ((x / SCALES) ** 2).sum() - np.cos(x).sum())


def slope(x: Array) -> Array:
    return np.asarray(-x / SCALES**2 + np.sin(x))


def check(gradient: Callable[[Array], Any], value: Callable[[Array], float] = density, start: Array = START) -> int:
    exact = Archive.of(evaluations_of(lambda x: (value(x), gradient(x)), DIM))
    check_gradient(exact, check_start(exact, start), np.random.default_rng(3))
    return exact.spent.values


def test_a_right_gradient_takes_two_values(caplog: pytest.LogCaptureFixture) -> None:
    assert check(slope) == 3
    assert check(slope, start=1e4 * START) == 3
    assert caplog.messages == []


def test_a_gradient_of_zero_is_right_at_a_mode() -> None:
    assert check(lambda x: -x, lambda x: -0.5 * float(x @ x), np.zeros(DIM)) == 3


def test_a_wrong_sign_is_reported_as_such() -> None:
    with pytest.raises(ParameterError, match="The sign is wrong"):
        check(lambda x: -slope(x))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda x: 2 * slope(x),
        lambda x: np.zeros(DIM),
        lambda x: slope(x)[::-1],
        lambda x: np.where(np.arange(DIM) == 0, 0.0, slope(x)),
        lambda x: slope(x) + 50.0,
    ],
    ids=["scale", "zero", "order", "one entry", "shift"],
)
def test_a_wrong_gradient_is_reported(wrong: Callable[[Array], Array]) -> None:
    with pytest.raises(ParameterError, match=r"gradient: it is wrong.*, but differences of the log density are"):
        check(wrong)


def test_an_inexact_gradient_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING):
        check(lambda x: 1.04 * slope(x))
    assert "The gradient is inexact" in caplog.text


def test_an_error_of_a_thousandth_is_right_in_every_direction(caplog: pytest.LogCaptureFixture) -> None:
    """As that of an ODE solver: along a direction that is nearly orthogonal to the gradient it is all of the slope."""
    error = 1e-3 * np.linalg.norm(slope(START)) * np.random.default_rng(5).standard_normal(DIM) / np.sqrt(DIM)
    exact = Archive.of(evaluations_of(lambda x: (density(x), slope(x) + error), DIM))
    first = check_start(exact, START)
    with caplog.at_level(logging.WARNING):
        for seed in range(200):
            check_gradient(exact, first, np.random.default_rng(seed))
    assert caplog.messages == []


def test_a_noisy_density_is_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    rng = np.random.default_rng(4)
    with caplog.at_level(logging.WARNING):
        check(slope, lambda x: density(x) + 30.0 * rng.standard_normal())
    assert "The gradient could not be checked" in caplog.text
    assert "Is the log density noisy?" in caplog.text


@pytest.mark.parametrize(
    ("returned", "message"),
    [
        (math.nan, "target: it cannot be evaluated at x0: the log density is nan"),
        ((0.0, np.zeros(3)), r"the gradient has shape \(3,\), expected \(40,\)"),
        (-math.inf, "x0: the density is 0 there"),
    ],
)
def test_a_start_that_cannot_be_evaluated_is_reported(returned: Any, message: str) -> None:
    exact = Archive.of(evaluations_of(lambda x: returned, DIM))
    with pytest.raises(ParameterError, match=message):
        check_start(exact, START)


def test_a_start_outside_the_bounds_is_named() -> None:
    transform = make_transform({"b": "positive"}, ["a", "b"])
    check_inside(np.array([[-1.0, 1.0]]), transform, ["a", "b"])
    with pytest.raises(ParameterError, match=r"x0: b = 0 is not strictly between its bounds 0 and inf"):
        check_inside(np.array([[-1.0, 1.0], [-1.0, 0.0]]), transform, ["a", "b"])
