"""Huge negative log densities where -inf is meant."""

import math
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.placing import Floor
from rnshmc.inference.stages.start import first_usable
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of


def floor_of(*values: float, points: Array | None = None, gradient: Array | None = None) -> Floor:
    floor = Floor(outputs=False)
    at = np.arange(float(len(values)))[:, None] if points is None else points
    for point, value in zip(at, values, strict=True):
        floor.see(Evaluation(point, value, gradient if value > 1e3 else None))
    return floor


@pytest.mark.parametrize("huge", [1e4, 1e6, 1e10, 1e30, 1e300])
def test_a_repeated_potential_far_above_all_others_is_a_floor(huge: float) -> None:
    floor = floor_of(huge, 3.0, huge, 40.0, huge)
    assert 400.0 < floor.level <= huge
    found = Evaluation(np.ones(1), huge, np.zeros(1))
    assert floor.without_density(found).value == math.inf
    assert floor.without_density(Evaluation(np.ones(1), 40.0)).value == 40.0


def test_a_prior_may_be_added_to_a_floor() -> None:
    assert floor_of(1e10 + 3.0, 3.0, 1e10 + 700.0, 40.0, 1e10).level < 1e10


@pytest.mark.parametrize(
    "values",
    [
        (1e10, 3.0, 40.0, 1e10),  # two points may be symmetric
        (1e10, 3.0, 1e10, 2e9, 1e10),  # on the way down
        (1e10, 1e10, 1e10),  # nothing else is known
        (900.0, 900.0, 900.0, 0.0),  # a plateau that may matter
    ],
)
def test_other_high_potentials_are_no_floor(values: tuple[float, ...]) -> None:
    assert floor_of(*values).level > max(values)


def test_a_height_that_the_slope_explains_is_no_floor() -> None:
    """Near a start far from the mode, potentials are nearly equal."""
    points = np.array([[1e7], [1e7 + 1.0], [1e7 + 2.0], [0.0]])
    potentials = 0.5 * points[:, 0] ** 2
    assert floor_of(*potentials, points=points, gradient=points[0]).level > potentials.max()
    assert floor_of(*potentials, points=points, gradient=np.zeros(1)).level < potentials.max()


def truncated(floor: float, *, gradient: bool) -> Any:
    """N(0, I) where |x| < 2, and a huge negative log density elsewhere."""

    def log_density(x: Array) -> Any:
        value, slope = (-0.5 * float(x @ x), -x) if x @ x < 4.0 else (floor, np.zeros(2))
        return (value, slope) if gradient else value

    return log_density


VARIANCE = 1.0 - 2.0 * math.exp(-2.0) / (1.0 - math.exp(-2.0))
"""Of each coordinate: the square of the radius is exponential, and cut at 4."""


@pytest.mark.parametrize(("floor", "gradient"), [(-1e10, False), (-1e6, True), (float(np.finfo(float).min), True)])
def test_a_huge_negative_log_density_counts_as_zero(floor: float, gradient: bool) -> None:
    target = truncated(floor, gradient=gradient)
    result = rnshmc.sample(target, [1.0, 0.5], draws=200, progress_bar=False)
    assert result.spent.units < 1200
    assert np.all(np.abs(result.mean.value) < 5.0 * result.mean.standard_error)
    assert np.all(np.abs(result.sd.value - np.sqrt(VARIANCE)) < 5.0 * result.sd.standard_error)
    assert f"The log density is {floor:.4g} or less at " in str(result.verdict)


@pytest.mark.parametrize("floor", [-1e10, -1e300])
def test_drawn_starts_at_a_floor_are_passed_over(floor: float) -> None:
    archive = Archive.of(evaluations_of(truncated(floor, gradient=True), 2))
    drawn = np.random.default_rng(1).uniform(-4.0, 4.0, (40, 2))  # one of five is inside
    starts = first_usable(archive, drawn)
    inside = (drawn**2).sum(axis=1) < 4.0
    assert not inside[:4].all()
    assert np.array_equal(starts, drawn[inside][:4])


def test_starts_on_one_side_of_a_floor_are_used() -> None:
    """The same potential everywhere is no floor: a density may be flat."""
    archive = Archive.of(evaluations_of(lambda _: 1.0, 2))
    drawn = np.random.default_rng(1).uniform(size=(20, 2))
    assert np.array_equal(first_usable(archive, drawn), drawn[:4])


def test_outputs_absurdly_far_from_the_data_count_as_failed_runs() -> None:
    def forward(x: Array, outside: float) -> Array:
        if x[1] < 0.3:
            return np.full(20, outside)
        return np.asarray(x[0] * np.exp(-x[1] * np.linspace(0.0, 5.0, 20)))

    data = forward(np.array([3.0, 0.4]), 0.0) + 0.1 * np.random.default_rng(3).standard_normal(20)

    def result(outside: float) -> Any:
        model = rnshmc.Model(lambda x: forward(x, outside), data, likelihood=rnshmc.Gaussian(sd=0.1))
        return rnshmc.sample(model, [1.0, 1.0], draws=200, progress_bar=False)

    absurd, failing = result(1e30), result(math.nan)
    assert absurd.spent.units <= 1.1 * failing.spent.units
    assert absurd.verdict.level == failing.verdict.level
