"""Quantities with units, complex numbers and times are refused by the name of the argument, never cut to a number."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers
from rnshmc.types import Array

TIMES = np.linspace(0.5, 2.0, 4)


class Subclass(np.ndarray):  # type: ignore[type-arg]
    """An array with a unit, as of astropy."""

    unit = "km"


class Wrapper:
    """A number or array with units that gives itself as an array without, as of pint and unyt."""

    def __init__(self, magnitude: Any) -> None:
        self.magnitude, self.units = magnitude, "km"

    def __array__(self, dtype: Any = None, copy: Any = None) -> npt.NDArray[Any]:
        return np.asarray(self.magnitude, dtype=dtype)

    def __float__(self) -> float:
        return float(self.magnitude)


def line(x: Array) -> Array:
    return np.asarray(x[0] * TIMES)


def model(forward: Callable[[Array], Any] = line, data: Any = TIMES, sd: Any = 0.1, prior: Any = (0.0, 1.0)) -> Any:
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd=sd), prior=prior)


def sample(target: Any, x0: Any = (0.5,), **settings: Any) -> rnshmc.Result:
    return rnshmc.sample(target, x0, progress_bar=False, budget=20, **settings)


def density(x: Array) -> float:
    return -0.5 * float(x @ x)


class Falling:
    """A potential whose gradient has a unit."""

    dim = 1

    def __init__(self, km: Callable[[Any], Any]) -> None:
        self.km = km

    def value(self, x: Array) -> float:
        return -density(x)

    def gradient(self, x: Array) -> Any:
        return self.km(x)


PLACES: dict[str, Callable[[Any], Any]] = {
    "data": lambda km: model(data=km(TIMES)),
    "data of a": lambda km: model(data={"a": km(TIMES)}),
    "sd": lambda km: model(sd=km(0.1)),
    "covariance": lambda km: rnshmc.Gaussian(covariance=km(np.eye(4))),
    "n": lambda km: rnshmc.Binomial(n=km(4.0)),
    "Normal: mean": lambda km: rnshmc.Normal(km(0.0), 1.0),
    "Normal: sd": lambda km: rnshmc.Normal(0.0, km(1.0)),
    "Normal: covariance": lambda km: rnshmc.Normal(0.0, covariance=km(np.eye(1))),
    "prior of x0": lambda km: sample(model(prior={"x0": ("normal", km(0.0), 1.0)})),
    "prior of x0 ": lambda km: sample(model(prior={"x0": stats.norm(0.0, km(1.0))})),
    "prior": lambda km: sample(model(prior=lambda x: km(density(x)))),
    "prior: its gradient": lambda km: sample(model(prior=lambda x: (density(x), km(-x)))),
    "x0": lambda km: sample(density, km(np.ones(1))),
    "x0 ": lambda km: sample(density, [km(1.0), 2.0]),
    "x0  ": lambda km: sample(density, lambda _: km(np.ones(1))),
    "scale": lambda km: sample(density, scale=km(1.0)),
    "bounds of x0": lambda km: sample(density, bounds=[(km(-1.0), None)]),
    "the forward model's output": lambda km: sample(model(lambda x: km(line(x)))),
    "the log density": lambda km: sample(lambda x: km(density(x))),
    "the gradient of a potential": lambda km: sample(Falling(km)),
    "the gradient": lambda km: sample(lambda x: (density(x), km(-x))),
    "vectorize": lambda km: sample(lambda x: km(-0.5 * (x**2).sum(axis=1)), vectorize=True),
    "evaluations, points": lambda km: sample(
        density, evaluations={"points": km(np.ones((1, 1))), "log_densities": [0.5]}
    ),
}
MAKERS = {
    "subclass": lambda value: np.asarray(value, dtype=np.float64).view(Subclass),
    "wrapper": Wrapper,
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
@pytest.mark.parametrize(("place", "use"), PLACES.items(), ids=PLACES)
def test_a_quantity_is_refused_where_it_enters(
    place: str, use: Callable[[Any], Any], make: Callable[[Any], Any]
) -> None:
    argument = place.removesuffix(" of a potential").strip()
    with pytest.raises(ParameterError, match=rf"{argument}: got numbers with a unit \(km\).* in consistent units"):
        use(make)


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    return rnshmc.sample(density, [0.5], draws=50, progress_bar=False)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x[:, 0] + 1j, "expected real numbers, got complex numbers"),
        (lambda x: MAKERS["subclass"](x[:, 0]), r"got numbers with a unit \(km\)"),
        (lambda x: x[:, 0].astype("timedelta64[s]"), "expected real numbers, got dates or durations"),
    ],
)
def test_no_part_of_a_function_of_the_draws_is_dropped(
    result: rnshmc.Result, function: Callable[[Array], Any], message: str
) -> None:
    for use in (result.expectation, lambda f: result.quantile(0.5, f)):
        with pytest.raises(ParameterError, match=f"function: {message}"):
            use(function)
    with pytest.raises(ParameterError, match=f"variables: f: {message}"):
        result.summary(variables=lambda x: {"f": function(x)})


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (np.array([1.0, 1j]), "complex numbers"),
        (np.ma.masked_invalid(np.array([1j, np.nan])), "complex numbers"),  # type: ignore[no-untyped-call]
        (np.array([1], dtype="timedelta64[h]"), "dates or durations"),
        (np.array(["2026-01-01"], dtype="datetime64[D]"), "dates or durations"),
        ([np.array([1.0, 2.0]), MAKERS["wrapper"]([1.0, 2.0])], "a unit"),
        (np.array([MAKERS["wrapper"](1.0), None], dtype=object), "a unit"),
        ({1.0, 2.0}, "expected numbers"),
        ([[1.0], [1.0, 2.0]], "expected numbers"),
        ([10**400], "expected numbers"),
    ],
)
def test_what_is_no_real_number_is_refused(given: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=f"x: .*{message}"):
        numbers(given, "x")
