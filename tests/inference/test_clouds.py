"""Expectations over a cloud of draws made by hand: right, with the errors that they state."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from rnshmc.inference.surrogate.weights import smoothed
from rnshmc.random import stream
from rnshmc.types import Array
from tests.inference.clouds import AIM, cloud

SETS = 200

Generator = np.random.Generator


@dataclass(frozen=True)
class Wrong:
    """Draws N(centre, I) of a surrogate that is wrong, and exact values at some draws N(0, I), known or left out.

    Parameters
    ----------
    dim, checks
        Number of coordinates, and of exact values.
    differences
        U - V there.
    mean
        Of the first coordinate of the posterior, in each set.
    base
        Importance weights of the checked draws to the surrogate; None: they are draws of it.
    """

    dim: int
    checks: int
    differences: Callable[[Array, Generator], Array]
    mean: Callable[[Generator], float]
    base: Callable[[Array], Array] | None = None
    centre: float = 0.0
    lowest: float = 0.5
    largest: float = 2.0


CASES = {
    # The process knows nothing of a cliff, behind which half of the draws weigh nothing.
    "cliff": Wrong(
        1, 400, lambda x, _: np.where(x > 0, 0.0, np.inf), lambda _: np.sqrt(2.0 / np.pi), lowest=0.6, largest=1.6
    ),
    "one coordinate of twenty": Wrong(20, 25, lambda x, _: 0.05 * x, lambda _: -0.05),
    "runs left out in turn": Wrong(1, 400, lambda x, _: 0.3 * x, lambda _: -0.3, np.ones_like),
    # 25 differences measure means to 0.032, as the process knows them: they are in it already.
    "what the process leaves": Wrong(
        20,
        25,
        lambda x, rng: 0.16 * rng.standard_normal(len(x)),
        lambda rng: float(rng.standard_normal() / np.sqrt(AIM)),
        np.ones_like,
        largest=1.5,
    ),
    "draws of an earlier surrogate": Wrong(
        1, 400, lambda x, _: -0.5 * x, lambda _: 1.0, lambda x: smoothed(0.5 * x).weights, centre=0.5, lowest=0.0
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_standard_errors_of_means_are_those_of_the_errors(name: str) -> None:
    """The mean of 200 squared errors, in standard errors, is outside of these bounds with a probability below 1e-5."""
    case, rng, squares = CASES[name], stream(1, "clouds", name), []
    for _ in range(SETS):
        draws = case.centre + rng.standard_normal((6400, case.dim))
        checked = rng.standard_normal((case.checks, case.dim))
        base = None if case.base is None else case.base(checked[:, 0])
        found = cloud(draws, checked, case.differences(checked[:, 0], rng), base=base).mean()
        squares.append(float((found.value[0] - case.mean(rng)) / found.standard_error[0]) ** 2)
    assert case.lowest < np.mean(squares) < case.largest


def test_an_exact_surrogate_is_not_corrected() -> None:
    """Whatever the surrogate was that the checked draws are of."""
    rng = stream(2, "clouds")
    draws, checked = rng.standard_normal((6400, 3)), rng.standard_normal((50, 3))
    for base in (None, smoothed(checked[:, 0]).weights):
        found = cloud(draws, checked, base=base).mean()
        np.testing.assert_allclose(found.value, draws.mean(axis=0), rtol=0, atol=1e-12)


def test_what_tails_lack_widens_standard_errors() -> None:
    draws = stream(3, "clouds").standard_normal((1280, 1))
    found, without = cloud(draws, missing=0.01).mean(), cloud(draws).mean()
    shift = 0.01 * (4.0 - without.value)
    np.testing.assert_allclose(found.standard_error**2 - without.standard_error**2, shift**2, rtol=1e-9, atol=0)
