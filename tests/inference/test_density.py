"""One evaluation: what a target may return, what each costs, and that nothing it does goes further."""

import math
import re
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import EvaluationError
from rnshmc.inference.exact.density import Density
from rnshmc.inference.exact.evaluation import Cost
from rnshmc.types import Array

X = np.array([1.0, -2.0])


def value(x: Array) -> float:
    return -0.5 * float(x @ x)


def slope(x: Array) -> Array:
    return -x


def pair(x: Array) -> tuple[float, Array]:
    return value(x), slope(x)


def price(cost: Cost) -> tuple[int, int]:
    return cost.values, cost.gradients


@pytest.mark.parametrize(
    ("model", "gradient", "has", "costs"),
    [
        (Density(value), True, False, (1, 0)),
        (Density(pair), True, True, (1, 1)),
        (Density(pair), False, True, (1, 1)),  # it comes along, and is paid for
        (Density(lambda x: list(pair(x))), True, True, (1, 1)),
        (Density(lambda x: [value(x), slope(x).tolist()]), True, True, (1, 1)),
        (Density(value, slope), True, True, (1, 1)),
        (Density(value, slope), False, False, (1, 0)),
        (Density(value, None, pair), True, True, (1, 1)),
        (Density(value, None, pair), False, False, (1, 0)),
    ],
)
def test_return_values_of_targets_and_their_cost(
    model: Density, gradient: bool, has: bool, costs: tuple[int, int]
) -> None:
    answer, cost = model.evaluate(X, gradient=gradient)
    assert answer.value == 2.5
    assert (answer.gradient is not None) is has
    assert answer.failure is None
    assert price(cost) == costs
    if answer.gradient is not None:
        assert (answer.gradient == X).all()


@pytest.mark.parametrize("returned", [np.float32(-2.5), np.array([-2.5]), np.array([[-2.5]]), -2.5, [-2.5]])
def test_a_number_is_a_number(returned: Any) -> None:
    assert Density(lambda x: returned).evaluate(X, gradient=False)[0].value == 2.5


@pytest.mark.parametrize(
    ("returned", "failure"),
    [
        (math.nan, "the log density is nan"),
        (np.ma.masked, "the log density is nan"),
        (math.inf, "the log density is inf"),
        (None, "the target returned None"),
        ("much", "the log density is 'much', expected a real number"),
        (np.zeros(2), r"the log density has shape \(2,\), expected a number"),
        ((1.0, np.zeros(2), 3), "the target returned 3 things"),
        ((1.0, np.zeros((2, 1))), r"the gradient has shape \(2, 1\), expected \(2,\)"),
        ((1.0, np.zeros(3)), r"the gradient has shape \(3,\), expected \(2,\)"),
        ((1.0, [0.0, math.nan]), "the gradient is nan in entry 1"),
        ((1.0, "steep"), "the gradient is 'steep', expected real numbers"),
        (-2.5 + 1j, r"the log density is complex, \(-2\.5\+1j\); expected a real number"),
        (np.complex128(-2.5), r"the log density is complex, \(-2\.5\+0j\); expected a real number"),
        ((1.0, np.array([1.0, 1j])), "the gradient is complex, .*; expected real numbers"),
        ([1.0, 2.0], r"the log density has shape \(2,\), expected a number"),
        ([1.0, np.zeros(3)], r"the gradient has shape \(3,\), expected \(2,\)"),
    ],
)
def test_an_unusable_return_value_is_a_failure_with_a_reason(returned: Any, failure: str) -> None:
    answer, _ = Density(lambda x: returned).evaluate(X, gradient=True)
    assert answer.failure is not None
    assert re.search(failure, answer.failure)
    assert answer.gradient is None


def test_a_value_survives_its_gradient() -> None:
    def broken(x: Array) -> Array:
        raise ZeroDivisionError("adjoint")

    answer, cost = Density(value, broken).evaluate(X, gradient=True)
    assert (answer.value, answer.gradient) == (2.5, None)
    assert answer.failure == "ZeroDivisionError: adjoint"
    assert price(cost) == (1, 1)


def test_a_density_of_zero_is_no_failure_and_has_no_gradient() -> None:
    answer, cost = Density(lambda x: -math.inf, slope).evaluate(X, gradient=True)
    assert (answer.value, answer.gradient, answer.failure, answer.failed) == (math.inf, None, None, False)
    assert price(cost) == (1, 0)


def test_an_exception_is_a_failure_in_one_line_and_counts() -> None:
    def fails(x: Array) -> float:
        raise ValueError("no\nconvergence")

    answer, cost = Density(fails).evaluate(X, gradient=True)
    assert answer.failure == "ValueError: no convergence"
    assert answer.failed
    assert price(cost) == (1, 0)


def test_the_user_may_change_the_argument() -> None:
    def careless(x: Array) -> float:
        x *= 0
        return 0.0

    point = X.copy()
    Density(careless).evaluate(point, gradient=False)
    assert (point == X).all()


def test_a_gradient_is_at_the_point_whatever_the_function_did_to_its_argument() -> None:
    def careless(x: Array) -> float:
        x *= 0
        return 0.0

    answer, _ = Density(careless, lambda x: 3.0 * x).evaluate(X, gradient=True)
    assert answer.gradient is not None
    assert (answer.gradient == -3.0 * X).all()


def test_an_unavailable_server_is_no_failure_of_the_point() -> None:
    def gone(x: Array) -> float:
        raise EvaluationError("gone")

    with pytest.raises(EvaluationError, match="gone"):
        Density(gone).evaluate(X, gradient=False)


def test_interrupts_pass() -> None:
    def interrupted(x: Array) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Density(interrupted).evaluate(X, gradient=False)


class Panic(BaseException):
    """A panic of a model in Rust, which is no `Exception`."""


class MuteError(Exception):
    """An exception without a message."""

    def __str__(self) -> str:
        raise RuntimeError


@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (Panic("index out of bounds"), "Panic: index out of bounds"),
        (MemoryError(), "MemoryError"),
        (MuteError(), "MuteError"),
    ],
)
def test_every_exception_of_a_model_is_a_failure(error: BaseException, failure: str) -> None:
    def raises(x: Array) -> float:
        raise error

    answer, _ = Density(raises).evaluate(X, gradient=False)
    assert (answer.failure, answer.failed) == (failure, True)
