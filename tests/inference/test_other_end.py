"""Posteriors at a bound: of an angle across the ends of its interval, and of parameters that end there."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.types import Array

CENTRE, WIDTH = 0.105, 0.053
TURN = 2.0 * np.pi


def angle(x: Array) -> tuple[float, Array]:
    """Of von Mises' density 2.4% are below 0, the side that a start at 6 finds."""
    return float((np.cos(x[0] - CENTRE) - 1.0) / WIDTH**2), -np.sin(x - CENTRE) / WIDTH**2


def sampled(target: Any, x0: float, bounds: Any) -> rnshmc.Result:
    return rnshmc.sample(target, [x0], bounds=[bounds], names=["angle"], draws=500, progress_bar=False)


def test_an_angle_across_the_ends_of_its_interval_is_marked() -> None:
    result = sampled(angle, 6.0, (0.0, TURN))
    assert result.mean.value[0] > 6.0  # the side with 2.4% of the mass
    assert result.verdict.level != "good"
    line = "! angle: draws pile up at the bound 6.28319, but the density is as high at the other end, 0, where"
    assert line in str(result.verdict)
    assert 'If angle is periodic, make it an angle, ("angle", 0, 6.28319) in bounds or' in str(result.verdict)
    assert sum(spent.units for spent in result.outcome.by_stage.values()) <= result.spent.units
    assert result.outcome.by_stage["other ends"].points == 1


def test_the_same_angle_away_from_the_ends_is_not() -> None:
    result = sampled(angle, 0.2, (-np.pi, np.pi))
    assert abs(result.mean.value[0] - CENTRE) < 0.01
    assert "pile up" not in str(result.verdict)
    assert "other ends" not in result.outcome.by_stage


def half_normal(x: Array) -> tuple[float, Array]:
    return -0.5 * float(x @ x), -x


def rare(x: Array) -> tuple[float, Array]:
    """Of a probability, where none of fifty trials succeeded."""
    return float(50.0 * np.log1p(-x[0])), -50.0 / (1.0 - x)


def steep(x: Array) -> tuple[float, Array]:
    """Cut off by its bound."""
    return float(5.0 * x[0]), np.full(1, 5.0)


def flat(_: Array) -> tuple[float, Array]:
    return 0.0, np.zeros(1)


@pytest.mark.parametrize(
    ("target", "bounds"),
    [(half_normal, "positive"), (half_normal, (0.0, 10.0)), (rare, "unit"), (steep, (-2.0, 3.0)), (flat, (2.0, 3.0))],
    ids=["half-normal", "half-normal in a box", "probability", "cut off", "flat"],
)
def test_densities_that_end_at_a_bound_are_not(target: Callable[[Array], Any], bounds: Any) -> None:
    result = sampled(target, 2.5 if bounds != "unit" else 0.1, bounds)
    assert "pile up" not in str(result.verdict)
    # Mass far out is looked for with two values, and falsely marked once in forty seeds of the half-normal density.
    others = [one for one in result.verdict.findings if "exact values far from the mean" not in one.text]
    assert all(one.level == "good" for one in others), str(result.verdict)
