"""What a posterior may be given as."""

import math
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.inference.exact.evaluation import Cost, Evaluation
from rnshmc.inference.exact.forward import LeastSquares
from rnshmc.inference.exact.names import make_names, make_units
from rnshmc.inference.exact.target import make_model, make_posterior
from rnshmc.targets.gaussian import Gaussian
from rnshmc.types import Array

X = np.array([0.5, -1.0])
DATA = np.array([1.0, 2.0, 3.0])
DESIGN = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])


def forward(x: Array) -> Array:
    return np.asarray(DESIGN @ np.exp(x))


def jacobian(x: Array) -> Array:
    return np.asarray(DESIGN * np.exp(x))


def vjp(x: Array, v: Array) -> Array:
    return np.asarray(jacobian(x).T @ v)


def test_a_potential_is_minus_the_log_density() -> None:
    potential = Gaussian(np.ones(2), np.diag([1.0, 4.0]))
    answer, cost = make_model(potential, None, 2).evaluate(X, gradient=True)
    assert -answer.value == -potential.value(X)
    assert np.array_equal(answer.gradient, potential.gradient(X))  # type: ignore[arg-type]
    assert (cost.values, cost.gradients) == (1, 1)


def test_a_potential_that_cannot_be_evaluated_is_a_failure() -> None:
    class Overflows:
        dim = 2

        def value(self, q: Array) -> float:
            raise NumericalError("an overflow")

    answer, _ = make_model(Overflows(), None, 2).evaluate(X, gradient=True)
    assert answer.failure == "NumericalError: an overflow"


def test_a_potential_is_used_with_either_of_its_two_gradients() -> None:
    class Apart:
        dim = 2

        def value(self, q: Array) -> float:
            return 0.5 * float(q @ q)

        def gradient(self, q: Array) -> Array:
            return q

    class AtOnce:
        dim = 2

        def value(self, q: Array) -> float:
            return 0.5 * float(q @ q)

        def value_and_grad(self, q: Array) -> tuple[float, Array]:
            return 0.5 * float(q @ q), q

    for potential in (Apart(), AtOnce()):
        answer, cost = make_model(potential, None, 2).evaluate(X, gradient=True)
        assert (answer.value, cost.values, cost.gradients) == (0.625, 1, 1)
        assert np.array_equal(answer.gradient, X)  # type: ignore[arg-type]


def test_a_potential_without_gradient_is_used_without() -> None:
    class Value:
        dim = 2

        def value(self, q: Array) -> float:
            return 3.0

    answer, _ = make_model(Value(), None, 2).evaluate(X, gradient=True)
    assert (answer.value, answer.gradient) == (3.0, None)


def read(target: Any, *, gradient: bool, x: Array = X) -> tuple[Evaluation, Cost]:
    """The evaluation of a forward model's posterior."""
    posterior = make_posterior(target, None, ("a", "b"))
    found, cost = posterior.evaluable.evaluate(x, gradient=gradient)
    assert posterior.forward_posterior is not None
    return posterior.forward_posterior.read(found, x), cost


@pytest.mark.parametrize(("how", "products"), [({"jacobian": jacobian}, 2), ({"vjp": vjp}, 1)])
@pytest.mark.parametrize("prior", [None, (np.zeros(2), 2.0), Gaussian(np.zeros(2), 4.0 * np.eye(2))])
def test_least_squares_is_the_density_of_its_data(how: Any, products: int, prior: Any, assert_slope: Any) -> None:
    target = LeastSquares(forward, DATA, [0.5, 1.0, 2.0], prior=prior, **how)
    found, cost = read(target, gradient=True)
    misfit = (forward(X) - DATA) / [0.5, 1.0, 2.0]
    penalty = 0.0 if prior is None else float(X @ X) / 8
    # Up to a constant of the data.
    elsewhere = (forward(X + 1.0) - DATA) / [0.5, 1.0, 2.0]
    there = 0.5 * float(elsewhere @ elsewhere) + (0.0 if prior is None else float((X + 1.0) @ (X + 1.0)) / 8)
    change = read(target, gradient=False, x=X + 1.0)[0].value - found.value
    assert change == pytest.approx(there - 0.5 * float(misfit @ misfit) - penalty, rel=1e-13)
    assert found.gradient is not None
    direction = np.array([0.6, 0.8])
    assert_slope(lambda q: read(target, gradient=False, x=q)[0].value, float(found.gradient @ direction), X, direction)
    assert (cost.values, cost.gradients) == (1, products)


def test_the_gradient_of_least_squares_does_not_solve_again() -> None:
    solved: list[Array] = []

    def counted(x: Array) -> Array:
        solved.append(x)
        return forward(x)

    read(LeastSquares(counted, DATA, 1.0, vjp=vjp), gradient=True)
    assert len(solved) == 1


def test_least_squares_without_jacobian_has_no_gradient() -> None:
    assert read(LeastSquares(forward, DATA, 1.0), gradient=True)[0].gradient is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"data": [math.nan] * 3}, "data: all 3 entries are missing"),
        ({"noise_sd": [1.0, 2.0]}, "sd"),
        ({"noise_sd": 0.0}, "sd"),
        ({"jacobian": jacobian, "vjp": vjp}, "jacobian, vjp: give one of them"),
        ({"prior": (0.0, -1.0)}, "Normal: expected a positive sd, got -1.0"),
    ],
)
def test_unusable_arguments_of_least_squares_are_refused(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_posterior(LeastSquares(forward, **{"data": DATA, "noise_sd": 1.0, **arguments}), None, ("a", "b"))


def test_outputs_of_the_wrong_shape_are_a_failure_that_names_the_shape() -> None:
    target = LeastSquares(lambda x: np.zeros(2), DATA, 1.0)
    found, _ = read(target, gradient=False)
    assert found.failure == "ParameterError: the forward model's output has shape (2,), expected (3,)"


def test_complex_numbers_are_a_failure() -> None:
    class Potential:
        dim = 2

        def value(self, q: Array) -> Any:
            return np.complex128(3.0)

    answer, _ = make_model(Potential(), None, 2).evaluate(X, gradient=True)
    assert answer.failure == "the log density is complex, (-3-0j); expected a real number"
    found, _ = read(LeastSquares(lambda x: np.fft.ifft(np.fft.fft(DATA)), DATA, 1.0), gradient=True)
    assert found.failure == "ParameterError: the forward model's output: expected real numbers, got complex numbers"


@pytest.mark.parametrize(
    ("target", "gradient", "message"),
    [
        ("http://localhost:4242", None, r"target: expected a function.*rnshmc\.UMBridge"),
        (3.0, None, "target: expected a function of x or a potential, got 3.0"),
        (Gaussian(np.zeros(3), np.eye(3)), None, "x0: it has 2 parameters, but the target has 3"),
        (forward, True, "gradient: expected a function of x, False or None, got True"),
    ],
)
def test_unusable_targets_are_refused(target: Any, gradient: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_model(target, gradient, 2)


def test_names_and_units_match_the_parameters() -> None:
    assert make_names(None, 2) == ("x0", "x1")
    assert make_units(None, ["a", "b"]) == ("", "")
    assert make_units({"b": "m"}, ["a", "b"]) == ("", "m")
    for names in (["a"], ["a", "a"], "ab"):
        with pytest.raises(ParameterError, match="names: "):
            make_names(names, 2)
    for units in (["m"], {"c": "m"}, "m"):
        with pytest.raises(ParameterError, match="units: "):
            make_units(units, ["a", "b"])
