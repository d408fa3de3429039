"""Log likelihoods given as functions."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.groups import make_likelihood
from rnshmc.inference.exact.likelihoods.named import Gaussian
from rnshmc.inference.exact.likelihoods.own import Custom
from rnshmc.types import Array
from tests.inference.likelihood_cases import DATA

POSITIVE = {"s": "positive"}
ROOT_2PI = np.sqrt(2.0 * np.pi)
MISSING = np.where(np.arange(6).reshape(3, 2) == 3, np.nan, DATA)


def plain(outputs: Array, parameters: Array) -> float:
    return float(np.nansum(-0.5 * ((outputs - MISSING) / parameters[0]) ** 2) - 5 * np.log(ROOT_2PI * parameters[0]))


def differentiated(outputs: Array, parameters: Array) -> tuple[float, Array, Array]:
    z = (outputs - MISSING) / parameters[0]
    return plain(outputs, parameters), -z / parameters[0], (np.nansum(z**2, keepdims=True)[0] - 5) / parameters[0]


def in_jax(outputs: Any, parameters: Any) -> Any:
    np_of_jax = pytest.importorskip("jax.numpy", reason="jax is not installed")
    z = np_of_jax.where(np.isnan(MISSING), 0.0, (outputs - np.nan_to_num(MISSING)) / parameters[0])
    return -0.5 * (z**2).sum() - 5 * np_of_jax.log(ROOT_2PI * parameters[0])


@pytest.mark.parametrize(("function", "rtol"), [(plain, 1e-6), (differentiated, 1e-12), (in_jax, 1e-12)])
def test_a_function_in_each_form_agrees_with_the_likelihood_it_writes(
    function: Callable[..., Any], rtol: float
) -> None:
    if function is in_jax:
        pytest.importorskip("jax", reason="jax is not installed")
    rng = np.random.default_rng(0)
    outputs, own = rng.uniform(0.5, 3.0, (5, 6)), rng.uniform(0.5, 2.0, (5, 1))
    custom, known = Custom(function, ["s"], POSITIVE), Gaussian("s")
    assert (custom.names, custom.bounds) == (known.names, known.bounds)
    ours, exact = custom.observing({"": MISSING}), known.observing({"": MISSING})
    predictors = ours.predictors(outputs)
    np.testing.assert_array_equal(predictors, exact.predictors(outputs))
    for found, expected in zip(ours.potential(predictors, own), exact.potential(predictors, own), strict=True):
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=10 * rtol)
    np.testing.assert_allclose(ours.curvatures(predictors, own), exact.curvatures(predictors, own), rtol=1e-3)
    np.testing.assert_array_equal(ours.pulled_back(outputs[0], np.ones(5)), exact.pulled_back(outputs[0], np.ones(5)))
    own[0] = -1.0
    predictors[1, 0] = np.nan
    values, slopes, own_slopes = ours.potential(predictors, own)
    np.testing.assert_array_equal(np.isinf(values), [True, True, False, False, False])
    assert not slopes[:2].any()
    assert not own_slopes[:2].any()


def test_outputs_have_the_structure_of_the_data() -> None:
    seen: list[Any] = []

    def function(outputs: dict[str, Array], parameters: Array) -> float:
        seen.append(outputs)
        return float(np.sum(norm.logpdf(outputs["b"])) + np.sum(norm.logpdf(outputs["a"], 1.0)))

    observed = Custom(function).observing({"b": np.ones((2, 2)), "a": np.ones(1)})
    values = observed.potential(np.arange(5.0)[None], np.empty((1, 0)))[0]
    np.testing.assert_array_equal(seen[0]["b"], [[0.0, 1.0], [2.0, 3.0]])
    np.testing.assert_array_equal(seen[0]["a"], [4.0])
    assert values[0] == pytest.approx(-np.sum(norm.logpdf([0, 1, 2, 3, 3])))


def test_a_function_is_one_of_several_groups() -> None:
    likelihood = make_likelihood({"a": lambda outputs, _: -float(outputs @ outputs), "b": Gaussian("s")}, ["a", "b"])
    observed = likelihood.observing({"a": np.ones(2), "b": np.zeros(1)})
    values, slopes, own_slopes = observed.potential(np.array([[1.0, 2.0, 3.0]]), np.ones((1, 1)))
    assert values[0] == pytest.approx(5.0 + 4.5 + np.log(ROOT_2PI))
    np.testing.assert_allclose(slopes, [[2.0, 4.0, 3.0]], rtol=1e-8)
    np.testing.assert_allclose(own_slopes, [[-8.0]])


def test_a_log_likelihood_of_minus_infinity_excludes_a_row() -> None:
    def function(outputs: Array, parameters: Array) -> tuple[float, Array]:
        return (-np.inf, np.full(2, np.nan)) if outputs[0] < 0 else (1.0, np.ones(2))

    values, slopes, _ = Custom(function).observing({"": np.ones(2)}).potential(np.array([[-1.0, 0], [1.0, 0]]), NONE)
    np.testing.assert_array_equal(values, [np.inf, -1.0])
    np.testing.assert_array_equal(slopes, [[0.0, 0.0], [-1.0, -1.0]])


NONE = np.empty((2, 0))


def test_data_are_not_simulated_from_a_function() -> None:
    observed = Custom(plain, ["s"], POSITIVE).observing({"": MISSING})
    with pytest.raises(ParameterError, match="data cannot be simulated from a function"):
        observed.simulated(np.ones((1, 5)), np.ones((1, 1)), np.random.default_rng(0))


@pytest.mark.parametrize(
    ("function", "names", "sentence"),
    [
        (lambda f, p: (1.0, f, p), [], "likelihood: the function returned 3 things, expected 2"),
        (
            lambda f, p: (1.0, f),
            ["a"],
            "likelihood: the function returned 2 things, expected 3: the log likelihood, its",
        ),
        (lambda f, p: (1.0, f[:1]), [], "likelihood: a derivative has shape (1,), expected (60,)"),
        (lambda f, p: (1.0, {"b": f}), [], "likelihood: expected the derivative by the outputs with the structure"),
        (
            lambda f, p: 1.0,
            [],
            "likelihood: it returns a number without derivatives, of 60 variables; that is too many",
        ),
        (lambda f, p: f, [], "likelihood: it returned array("),
        (lambda f, p: None, [], "likelihood: it returned None, expected a real number or a tuple"),
    ],
)
def test_return_values_of_a_function_are_checked(function: Any, names: list[str], sentence: str) -> None:
    observed = Custom(function, names).observing({"": np.ones(60)})
    with pytest.raises(ParameterError) as error:
        observed.potential(np.ones((1, 60)), np.ones((1, len(names))))
    assert str(error.value).startswith(sentence)


def test_own_parameters_beyond_their_bounds_are_excluded_without_a_call() -> None:
    def function(outputs: Array, parameters: Array) -> float:
        assert 0.0 < parameters[0] < 2.0
        return 0.0

    observed = Custom(function, ["a"], {"a": (0, 2)}).observing({"": np.ones(1)})
    values = observed.potential(np.ones((3, 1)), np.array([[-1.0], [1.0], [3.0]]))[0]
    np.testing.assert_array_equal(values, [np.inf, 0.0, np.inf])
