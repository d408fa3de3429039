"""Errors of likelihoods for unusable arguments and data."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.groups import Grouped, make_likelihood

ONES = np.ones((3, 2))
NAN = np.full((3, 2), np.nan)
BAD: Any = {}
MIXED: Any = ["a", 1.0]


def observed(likelihood: Any, data: Any = ONES) -> Callable[[], Any]:
    return lambda: likelihood().observing({"": np.asarray(data, dtype=np.float64)})


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: rnshmc.Gaussian(), "sd, covariance: expected one of them, got none"),
        (lambda: rnshmc.Gaussian(1.0, covariance=np.eye(2)), "sd, covariance: expected one of them, got both"),
        (lambda: rnshmc.Gaussian(0.0), "sd: expected positive numbers, got 0.0"),
        (lambda: rnshmc.Gaussian([1.0, np.nan]), "sd: expected positive numbers, got nan"),
        (lambda: rnshmc.Gaussian([]), "sd: expected positive numbers, got none"),
        (lambda: rnshmc.Gaussian(BAD), "sd: expected positive numbers or names of parameters, got {}"),
        (lambda: rnshmc.Gaussian("my sd"), "sd: expected the name of a parameter (letters, digits and _), got 'my sd'"),
        (lambda: rnshmc.Gaussian(MIXED), "sd: expected the name of a parameter (letters, digits and _), got 1.0"),
        (lambda: rnshmc.Gaussian("s", scale="t"), "scale: expected no second unknown factor, as sd is 's', got 't'"),
        (lambda: rnshmc.Gaussian(1.0, scale="for"), "scale: expected the name of a parameter"),
        (lambda: rnshmc.Gaussian(covariance=np.ones((2, 3))), "covariance: expected a square matrix, got shape (2, 3)"),
        (lambda: rnshmc.Gaussian(covariance=[[1.0, 2.0], [0.0, 1.0]]), "covariance: expected a symmetric matrix, got"),
        (lambda: rnshmc.Gaussian(covariance=-np.eye(2)), "covariance: expected a positive definite matrix"),
        (lambda: rnshmc.Gaussian(covariance=np.full((2, 2), np.inf)), "covariance: expected finite numbers, got inf"),
        (lambda: rnshmc.Gaussian(covariance=np.eye(2), censored=1), "censored: expected none with a covariance"),
        (lambda: rnshmc.Binomial(2.5), "n: expected positive whole numbers, got 2.5"),
        (lambda: rnshmc.Binomial("n"), "n: expected positive whole numbers, got 'n'"),
        (lambda: rnshmc.StudentT(-1.0, 1.0), "df: expected positive numbers, got -1.0"),
        (lambda: rnshmc.NegativeBinomial(0), "dispersion: expected positive numbers, got 0.0"),
        (lambda: rnshmc.Custom(3), "function: expected a function (outputs, parameters), got 3"),  # type: ignore[arg-type]
        (lambda: rnshmc.Custom(max, ["a", "a"]), "names: expected each name once, got a, a"),
        (lambda: rnshmc.Custom(max, ["a"], {"b": "positive"}), "bounds: no parameter is named 'b'; there are a"),
        (lambda: rnshmc.Custom(max, bounds={"b": "positive"}), "bounds: no parameter is named 'b'; names is empty"),
        (lambda: rnshmc.Custom(max, ["a"], {"a": "angle"}), "bounds of a: give an angle by its prior, "),
    ],
)
def test_arguments_that_cannot_be_used(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (
            observed(lambda: rnshmc.Gaussian([1.0, 2.0, 3.0])),
            "sd: expected an array that broadcasts to the data of shape (3, 2), got shape (3,)",
        ),
        (
            observed(lambda: rnshmc.Gaussian(["a", "b", "c"])),
            "sd: got 3 names, expected one for each index of the last axis of the data of shape (3, 2)",
        ),
        (
            observed(lambda: rnshmc.Gaussian(covariance=np.eye(5))),
            "covariance: expected shape (6, 6) for 6 data, got (5, 5)",
        ),
        (observed(lambda: rnshmc.Gaussian(1.0), NAN), "data: all 6 entries are missing (NaN), expected at least one"),
        (observed(lambda: rnshmc.Gaussian(1.0), [1.0, np.inf]), "data: got inf in the data[1], expected finite"),
        (
            observed(lambda: rnshmc.Gaussian(1.0, censored=[0, 2])),
            'censored: expected "left" or -1, "right" or 1, or 0',
        ),
        (observed(lambda: rnshmc.Gaussian(1.0, censored=True)), 'censored: expected "left" or -1, "right" or 1, or 0'),
        (
            observed(lambda: rnshmc.Gaussian(1.0, censored=[0, 0, 1])),
            "censored: expected an array that broadcasts to the data of shape (3, 2), got shape (3,)",
        ),
        (
            observed(lambda: rnshmc.LogNormal(1.0), [np.nan, 0.0]),
            "data: got 0.0 in the data[1], expected positive data for LogNormal",
        ),
        (observed(lambda: rnshmc.Relative(1.0), [0.0]), "data: got 0.0 in the data[0], but an error relative to 0"),
        (
            observed(lambda: rnshmc.Poisson(), [1.5]),
            "data: got 1.5 in the data[0], expected counts: whole numbers from 0",
        ),
        (observed(lambda: rnshmc.NegativeBinomial(1.0), [-1.0]), "data: got -1.0 in the data[0], expected counts"),
        (observed(lambda: rnshmc.Binomial([3, 4]), [3, 5]), "data: got 5.0 in the data[1], expected at most n = 4"),
        (
            lambda: rnshmc.Poisson().observing({"a": np.ones(2), "b": np.array([[1.0, -2.0]])}),
            "data: got -2.0 in data 'b'[0, 1], expected counts",
        ),
        (
            lambda: rnshmc.Gaussian([1.0, 2.0]).observing({"a": np.ones(2), "b": np.ones(3)}),
            "sd: expected an array that broadcasts to data 'b' of shape (3,), got shape (2,)",
        ),
    ],
)
def test_data_that_cannot_be_used(make: Callable[[], Any], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        make()
    assert str(error.value).startswith(sentence)


@pytest.mark.parametrize(
    ("likelihood", "names", "sentence"),
    [
        ({"a": rnshmc.Poisson()}, ["a", "b"], "likelihood: none is given for the data 'b'"),
        ({"a": rnshmc.Poisson(), "c": rnshmc.Poisson()}, ["a"], "likelihood: no data are named 'c'; there are a"),
        ({"a": rnshmc.Poisson()}, [""], "likelihood: got a mapping, but data without names"),
        ({"a": 0.1}, ["a"], "likelihood of 'a': got 0.1, expected a likelihood such as rnshmc.Gaussian(sd=0.1)"),
        (0.1, [""], "likelihood: got 0.1, expected a likelihood such as rnshmc.Gaussian(sd=0.1)"),
        (rnshmc.Poisson, [""], "likelihood: got the class Poisson, expected Poisson(...)"),
    ],
)
def test_unusable_likelihoods_are_refused(likelihood: Any, names: list[str], sentence: str) -> None:
    with pytest.raises(ParameterError) as error:
        make_likelihood(likelihood, names)
    assert str(error.value).startswith(sentence)


def test_errors_of_a_group_name_it() -> None:
    grouped = make_likelihood({"a": rnshmc.Poisson(), "b": rnshmc.Gaussian(1.0)}, ["a", "b"])
    with pytest.raises(ParameterError, match=r"likelihood of 'a': data: got 0\.5 in the data\[0\], expected counts"):
        grouped.observing({"a": np.array([0.5]), "b": np.array([0.5])})
    with pytest.raises(ParameterError, match=r"likelihood of 'b': data: all 1 entries are missing"):
        grouped.observing({"a": np.array([1.0]), "b": np.array([np.nan])})


def test_groups_agree_on_the_bounds_of_shared_parameters() -> None:
    own = rnshmc.Custom(lambda outputs, parameters: 0.0, ["s"], {"s": (0, 5)})
    grouped = Grouped({"a": rnshmc.Gaussian("s"), "b": own})
    with pytest.raises(
        ParameterError, match=r"likelihood: groups give 's' the bounds \(0\.0, None\) and \(0\.0, 5\.0\)"
    ):
        _ = grouped.bounds
