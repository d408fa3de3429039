"""Names of the parameters: from the argument, the prior's keys or those of the start; and bounds in any container."""

from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.stages.starts import make_starts
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array

TIMES = np.linspace(0.25, 4.0, 8)
RISE, RATE = 2.0, 0.7
DATA = RISE * np.exp(-RATE * TIMES) + np.random.default_rng(1).normal(0.0, 0.05, 8)
PRIOR = {"rise": ("lognormal", 0.0, 1.0), "rate": ("lognormal", 0.0, 1.0), "sigma": ("halfnormal", 0.2)}


class Reached(Exception):  # noqa: N818
    """The target was called with these parameters."""


def reaching(x: Array) -> Any:
    raise Reached(x.tolist())


def decay(x: Array) -> Array:
    rise, rate = x
    return np.asarray(rise * np.exp(-rate * TIMES))


def model(forward: Callable[[Array], Any] = decay, prior: Any = PRIOR) -> rnshmc.Model:
    return rnshmc.Model(forward, DATA, likelihood=rnshmc.Gaussian(sd="sigma"), prior=prior)


def first_call(*arguments: Any, **settings: Any) -> Any:
    """Parameters of the first call of the target."""
    with pytest.raises(ParameterError, match=r"Reached: \[.*\]") as caught:
        rnshmc.sample(*arguments, progress_bar=False, **settings)
    text = str(caught.value)
    return [float(word) for word in text[text.index("[") + 1 : text.index("]")].split(",")]


def test_a_model_needs_no_names_beside_its_prior() -> None:
    result = rnshmc.sample(model(), [1.5, 1.0, 0.1], draws=100, progress_bar=False)
    assert result.names == ("rise", "rate", "sigma")
    assert np.abs(result.mean.value[:2] - [RISE, RATE]).max() < 0.3  # sd(data) = 0.05: errors of 0.05 each
    drawn = rnshmc.sample(model(), draws=100, progress_bar=False)
    assert drawn.names == result.names


@pytest.mark.parametrize(
    "prior",
    [
        dict(reversed(PRIOR.items())) | {"rate": PRIOR["rate"]},  # sigma, rate, rise
        {("rate", "rise"): rnshmc.Normal([1.0, 2.0], 1.0)},
    ],
)
def test_the_order_is_that_of_the_prior(prior: Any) -> None:
    """Parameters of the likelihood come last wherever the prior has them."""
    assert model(prior=prior).names == ("rate", "rise", "sigma")
    start = {"sigma": 0.1, "rise": 2.0, "rate": 0.7}
    assert first_call(model(reaching, prior), start) == [0.7, 2.0]
    assert first_call(model(reaching, prior), [0.7, 2.0, 0.1]) == [0.7, 2.0]


def test_names_of_the_start_are_the_parameters() -> None:
    assert first_call(reaching, {"b": 1.0, "a": 2.0}) == [1.0, 2.0]
    assert first_call(reaching, {"b": 1.0, "a": 2.0}, names=["a", "b"]) == [2.0, 1.0]
    assert first_call(reaching, {"b": [1.0, 3.0], "a": 2.0}, names=["a", "b"]) == [2.0, 1.0]
    assert first_call(reaching, lambda _: {"b": 1.0, "a": 2.0}, names=["a", "b"]) == [2.0, 1.0]
    # A prior of some parameters does not say in which order all are.
    some = {"rate": ("lognormal", 0.0, 1.0)}
    assert first_call(model(reaching, some), {"rise": 1.0, "rate": 2.0, "sigma": 0.1}) == [1.0, 2.0]


def test_a_start_by_name_may_be_several() -> None:
    starts = make_starts(MappingProxyType({"b": np.arange(3.0), "a": 7.0}), np.random.default_rng(0), ["a", "b"])
    assert starts.tolist() == [[7.0, 0.0], [7.0, 1.0], [7.0, 2.0]]


def test_keys_such_as_x1_are_the_default_names() -> None:
    prior = {"x1": ("uniform", 5.0, 6.0), "x0": ("uniform", 1.0, 2.0)}
    target = rnshmc.Model(reaching, DATA, likelihood=rnshmc.Gaussian(sd=0.1), prior=prior)
    assert first_call(target, [1.5, 5.5]) == [1.5, 5.5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"names": {"a", "b"}}, r"names: expected a list, got \{.*\}; a set has no order"),
        ({"names": frozenset("ab")}, "names: expected a list, got frozenset.*; a set has no order"),
        ({"units": {"m", "s"}}, "units: expected a list, got .*; a set has no order"),
        ({"bounds": {"positive", "unit"}}, "bounds: expected a list, got .*; a set has no order"),
        ({"names": "ab"}, "names: expected a list, got 'ab'"),
        ({"names": 2}, "names: expected a list, got 2"),
        ({"names": [False, "N"]}, "names: expected words, got False"),
        ({"names": ["chain", "b"]}, "names: 'chain' has another meaning in arviz; choose another name"),
        ({"names": ["a", "draw"]}, "names: 'draw' has another meaning in arviz"),
        ({"names": ["a", "lp"]}, "names: 'lp' has another meaning in arviz"),
        ({"x0": {"a": 1.0, "draw": 1.0}}, "names: 'draw' has another meaning"),
        ({"x0": {"a": 1.0}, "names": ["a", "b"]}, "x0: 'b' is missing"),
        ({"x0": {"a": 1.0, "c": 1.0}, "names": ["a", "b"]}, "x0: no parameter is named 'c'; there are a, b"),
        ({"x0": {"a": [1.0, 2.0], "b": [1.0, 2.0, 3.0]}}, r"x0: expected a number for each name, or as many for each"),
        ({"x0": {"a": "far", "b": 1.0}}, "x0 of a: expected numbers, got 'far'"),
        ({"x0": lambda _: {"a": 1.0}}, "x0: a function that returns a mapping needs names="),
        ({"bounds": 3}, "bounds: expected a list, got 3"),
        ({"bounds": zip([0.0], [1.0], strict=True)}, "bounds: expected one entry for each of the 2 parameters, got 1"),
        ({"bounds": optimize.Bounds(2.0, [3.0, 3.0])}, "x0: x0 = 1 is not strictly between its bounds 2 and 3"),
        ({"time_limit": "1e1"}, "time_limit: expected a positive number of seconds, got '1e1'"),
        ({"time_limit": float("nan")}, "time_limit: expected a positive number of seconds, got nan"),
        ({"filepath": 5}, "filepath: expected the path of a file, got 5"),
        ({"evaluations": 5}, "evaluations: expected the path of a file or a mapping, got 5"),
        ({"resume": "no"}, "resume: expected True or False, got 'no'"),
        ({"vectorize": "no"}, "vectorize: expected True or False, got 'no'"),
        ({"progress_bar": 1}, "progress_bar: expected True or False, got 1"),
    ],
)
def test_arguments_without_order_or_of_another_type_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rnshmc.sample(reaching, **{"x0": np.ones(2), "progress_bar": False, **settings})


def test_a_prior_of_some_parameters_requires_the_names_of_all() -> None:
    with pytest.raises(ParameterError, match="names: the prior names rate, sigma, but x0 has 3 entries; give names="):
        rnshmc.sample(model(prior={"rate": ("lognormal", 0.0, 1.0)}), np.ones(3))


@pytest.mark.parametrize(
    "bounds",
    [
        zip([0.0, -1.0], [2.0, np.inf], strict=True),
        ((low, high) for low, high in ((0.0, 2.0), (-1.0, None))),
        optimize.Bounds([0.0, -1.0], [2.0, np.inf]),
        np.array([[0.0, 2.0], [-1.0, np.inf]]),
        {"b": (-1.0, None), "a": (0.0, 2.0)},
    ],
)
def test_bounds_are_taken_from_any_container_in_order(bounds: Any) -> None:
    transform = make_transform(bounds, ["a", "b"])
    assert (transform.low.tolist(), transform.high.tolist()) == ([0.0, -1.0], [2.0, np.inf])


def test_bounds_that_can_be_read_once_are_read_once() -> None:
    drawn = first_call(reaching_in_the_box, bounds=zip([4.0, 6.0], [5.0, 7.0], strict=True))
    assert 4.0 < drawn[0] < 5.0
    assert 6.0 < drawn[1] < 7.0


def reaching_in_the_box(x: Array) -> float:
    raise Reached(x.tolist())


def test_names_of_an_iterator_are_read_once() -> None:
    found = rnshmc.sample(lambda x: -0.5 * float(x @ x), np.ones(2), names=iter(["a", "b"]), draws=50, budget=60)
    assert found.names == ("a", "b")
