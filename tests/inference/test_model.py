"""One evaluation: what a target may return, what each costs, and that nothing it does goes further."""

import math
import re
from typing import Any

import numpy as np
import pytest

from rnshmc.inference.exact.model import Answer, Model
from rnshmc.inference.exact.trouble import EvaluationError
from rnshmc.types import Array

X = np.array([1.0, -2.0])


def value(x: Array) -> float:
    return -0.5 * float(x @ x)


def slope(x: Array) -> Array:
    return -x


def pair(x: Array) -> tuple[float, Array]:
    return value(x), slope(x)


def price(answer: Answer) -> tuple[int, int]:
    return answer.values, answer.gradients


@pytest.mark.parametrize(
    ("model", "gradient", "has", "costs"),
    [
        (Model(value), True, False, (1, 0)),
        (Model(pair), True, True, (1, 1)),
        (Model(pair), False, True, (1, 1)),  # it comes along, and is paid for
        (Model(pair, use_gradient=False), True, False, (1, 1)),
        (Model(value, slope), True, True, (1, 1)),
        (Model(value, slope), False, False, (1, 0)),
        (Model(value, None, pair), True, True, (1, 1)),
        (Model(value, None, pair), False, False, (1, 0)),
    ],
)
def test_what_targets_return_and_what_it_costs(model: Model, gradient: bool, has: bool, costs: tuple[int, int]) -> None:
    answer = model.evaluate(X, gradient=gradient)
    assert answer.log_density == -2.5
    assert (answer.gradient is not None) is has
    assert answer.failure is None
    assert price(answer) == costs
    if answer.gradient is not None:
        assert (answer.gradient == -X).all()


@pytest.mark.parametrize("returned", [np.float32(-2.5), np.array([-2.5]), np.array([[-2.5]]), -2.5])
def test_a_number_is_a_number(returned: Any) -> None:
    assert Model(lambda x: returned).evaluate(X, gradient=False).log_density == -2.5


@pytest.mark.parametrize(
    ("returned", "failure"),
    [
        (math.nan, "the log density is nan"),
        (math.inf, "the log density is inf"),
        (None, "the target returned None"),
        ("much", "the log density is 'much', expected a number"),
        (np.zeros(2), r"the log density has shape \(2,\), expected a number"),
        ((1.0, np.zeros(2), 3), "the target returned 3 things"),
        ((1.0, np.zeros((2, 1))), r"the gradient has shape \(2, 1\), expected \(2,\)"),
        ((1.0, np.zeros(3)), r"the gradient has shape \(3,\), expected \(2,\)"),
        ((1.0, [0.0, math.nan]), "the gradient is nan in entry 1"),
        ((1.0, "steep"), "the gradient is 'steep', expected numbers"),
    ],
)
def test_what_cannot_be_used_is_a_failure_with_a_reason(returned: Any, failure: str) -> None:
    answer = Model(lambda x: returned).evaluate(X, gradient=True)
    assert answer.failure is not None
    assert re.search(failure, answer.failure)
    assert answer.gradient is None


def test_a_value_survives_its_gradient() -> None:
    def broken(x: Array) -> Array:
        raise ZeroDivisionError("adjoint")

    answer = Model(value, broken).evaluate(X, gradient=True)
    assert (answer.log_density, answer.gradient) == (-2.5, None)
    assert answer.failure == "ZeroDivisionError: adjoint"
    assert price(answer) == (1, 1)


def test_a_density_of_zero_is_no_failure_and_has_no_gradient() -> None:
    answer = Model(lambda x: -math.inf, slope).evaluate(X, gradient=True)
    assert (answer.log_density, answer.gradient, answer.failure) == (-math.inf, None, None)
    assert price(answer) == (1, 0)


def test_an_exception_is_a_failure_in_one_line_and_counts() -> None:
    def fails(x: Array) -> float:
        raise ValueError("no\nconvergence")

    answer = Model(fails).evaluate(X, gradient=True)
    assert answer.failure == "ValueError: no convergence"
    assert math.isnan(answer.log_density)
    assert price(answer) == (1, 0)


def test_the_user_may_change_the_argument() -> None:
    def careless(x: Array) -> float:
        x *= 0
        return 0.0

    point = X.copy()
    Model(careless).evaluate(point, gradient=False)
    assert (point == X).all()


def test_a_server_that_is_gone_is_no_failure_of_the_point() -> None:
    def gone(x: Array) -> float:
        raise EvaluationError("gone")

    answer = Model(gone).evaluate(X, gradient=False)
    assert answer.unavailable
    assert answer.failure == "gone"


def test_interrupts_pass() -> None:
    def interrupted(x: Array) -> float:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Model(interrupted).evaluate(X, gradient=False)
