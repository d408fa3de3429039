"""Starting points: given as rows, by a function, or drawn from a prior or a box."""

import math
from typing import Any

import numpy as np
import pytest
from peers.known_laws import NormalMixture

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.stages.starts import Candidates, make_starts, middle_of
from rnshmc.random import stream
from rnshmc.types import Array

RNG = stream(1, "starts")


def two_wells(x: Array) -> tuple[float, Array]:
    """Normal modes at -4 and 4 of the first parameter, with shares of 0.3 and 0.7."""
    centres, shares = np.array([[-4.0, 0.0], [4.0, 0.0]]), np.array([0.3, 0.7])
    away = x - centres
    weights = shares * np.exp(-0.5 * (away**2).sum(axis=1))
    return float(np.log(weights.sum())), -(weights @ away) / weights.sum()


NARROW = NormalMixture(
    np.array([0.2, 0.5, 0.3]), np.array([[0.0, 0.0], [8.0, 0.0], [-8.0, 0.0]]), np.array([0.3, 1.0, 1.0])
)
"""The narrow one between two wide ones has a fifth of the mass."""


def narrow_among_wide(x: Array) -> tuple[float, Array]:
    value, gradient = NARROW.value_and_grad(x)
    return -value, -gradient


def narrow_is_largest(x: Array) -> bool:
    """Whether the narrow one's density is the largest of the three."""
    narrow = np.log(0.2) - 2.0 * np.log(0.3) - 0.5 * float(x @ x) / 0.3**2
    wide = [np.log(share) - 0.5 * ((x[0] - at) ** 2 + x[1] ** 2) for share, at in ((0.5, 8.0), (0.3, -8.0))]
    return bool(narrow > max(wide))


@pytest.mark.parametrize(
    ("x0", "message"),
    [
        ("far", "x0: expected numbers"),
        ([], "x0: expected shape"),
        ([1.0, math.inf], "x0: inf for parameter 1"),
        (lambda rng: rng.standard_normal((2, 3)), "x0: expected a function of a generator that returns one start"),
        (lambda _: "far", "x0: expected numbers"),
    ],
)
def test_an_invalid_start_is_reported(x0: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        make_starts(x0, RNG)


def test_starts_are_rows() -> None:
    assert make_starts(1.0, RNG).shape == (1, 1)
    assert make_starts([1.0, 2.0], RNG).shape == (1, 2)
    assert make_starts([[1.0, 2.0]] * 3, RNG).shape == (3, 2)


def test_a_function_of_a_generator_gives_four_starts() -> None:
    result = rnshmc.sample(two_wells, lambda rng: rng.uniform(-6.0, 6.0, 2), draws=500, progress_bar=False)
    assert len(result.outcome.modes) == 2
    smaller = min((mode.share for mode in result.outcome.modes), key=lambda share: share.value)
    assert abs(smaller.value - 0.3) < 5.0 * smaller.standard_error
    assert smaller.standard_error < 0.05


def test_one_mode_takes_no_more_than_four_drawn_starts() -> None:
    result = rnshmc.sample(
        lambda x: -0.5 * float(x @ x), lambda rng: rng.uniform(-6.0, 6.0, 2), draws=500, progress_bar=False
    )
    assert (result.outcome.starts, result.outcome.quiet) == (4, 3)


def test_several_modes_take_starts_until_a_hundred_lead_to_no_other() -> None:
    """A mode that 4% of starts are nearest to has a fifth of the mass."""
    box = stream(3, "box").uniform(-10.0, 10.0, (20000, 2))
    assert np.mean([narrow_is_largest(x) for x in box]) == pytest.approx(0.037, abs=0.005)
    result = rnshmc.sample(narrow_among_wide, lambda rng: rng.uniform(-10.0, 10.0, 2), draws=500, progress_bar=False)
    assert result.outcome.starts > 104
    assert result.outcome.quiet == 100
    shares = sorted((mode.share for mode in result.outcome.modes), key=lambda share: float(share.value))
    assert len(shares) == 3
    for share, true in zip(shares, (0.2, 0.3, 0.5), strict=True):
        assert abs(share.value - true) < 5.0 * share.standard_error
        assert share.standard_error < 0.02
    assert result.verdict.level == "good"


def test_starts_take_half_of_a_budget_at_most() -> None:
    result = rnshmc.sample(
        narrow_among_wide, lambda rng: rng.uniform(-20.0, 20.0, 2), draws=500, budget=400, progress_bar=False
    )
    assert result.outcome.quiet < 100
    assert result.spent.units <= 400
    assert len(result.draws) == 500
    assert result.verdict.level != "good"


def test_rows_are_starts_until_a_hundred_lead_to_no_other() -> None:
    rows = stream(2, "rows").uniform(-6.0, 6.0, (300, 2))
    result = rnshmc.sample(two_wells, rows, draws=500, progress_bar=False)
    assert result.outcome.quiet == 100
    assert result.outcome.starts < 120


def test_without_a_start_a_box_is_drawn_from() -> None:
    result = rnshmc.sample(two_wells, bounds=[(-8.0, 8.0), (-6.0, 6.0)], draws=200, budget=400, progress_bar=False)
    assert len(result.outcome.modes) == 2


def test_without_a_start_the_prior_of_a_model_is_drawn_from() -> None:
    seen = list[Array]()

    def decay(x: Array) -> Array:
        seen.append(x.copy())
        return np.asarray(x[0] * np.exp(-x[1] * np.arange(5.0)))

    model = rnshmc.Model(
        decay,
        [2.0, 1.2, 0.75, 0.45, 0.27],
        likelihood=rnshmc.Gaussian(sd=0.05),
        prior={"height": ("lognormal", 0.5, 0.5), "rate": ("lognormal", -0.5, 0.5)},
    )
    result = rnshmc.sample(model, names=["height", "rate"], draws=500, progress_bar=False)
    assert result.verdict.level == "good"
    # The first runs are draws of the prior, all apart.
    first = np.log(np.array(seen[:4]))
    assert (np.abs(first - [0.5, -0.5]) < 2.0).all()
    assert np.unique(first[:, 0]).size == 4


def test_in_the_middle_of_a_ring_the_nearest_draw_is_taken() -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False)
    ring = np.column_stack((np.cos(angles), np.sin(angles)))
    rows = np.vstack((2.0 * ring, ring[:1]))
    assert np.array_equal(middle_of(rows, lambda x: bool(x @ x > 0.5)), ring[0])
    assert np.array_equal(middle_of(rows, lambda x: True), np.median(rows, axis=0))


def test_a_given_start_where_the_density_is_zero_is_reported_and_the_others_are_used() -> None:
    def cut(x: Array) -> float:
        return -math.inf if x[0] > 20.0 else -0.5 * float(x @ x)

    result = rnshmc.sample(cut, [[0.5, 0.0], [30.0, 0.0], [-0.5, 1.0]], draws=200, progress_bar=False)
    assert result.outcome.starts == 2
    assert any(one.text.startswith("A start is not used: ") for one in result.verdict.findings)


def test_drawn_starts_where_the_density_is_zero_are_passed_over() -> None:
    seen = list[float]()

    def cut(x: Array) -> float:
        seen.append(x[0])
        return -math.inf if x[0] < 0.0 else -0.5 * float(x @ x)

    result = rnshmc.sample(cut, bounds=[(-3.0, 3.0), (-6.0, 6.0)], draws=200, progress_bar=False)
    assert min(seen[:4]) < 0.0
    # A half normal has the mean sqrt(2 / pi) and the standard deviation sqrt(1 - 2 / pi).
    error = np.sqrt((1.0 - 2.0 / np.pi) / 200)
    assert abs(result.draws[:, 0].mean() - np.sqrt(2.0 / np.pi)) < 5.0 * error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, r"x0: without a start, give the parameters' names \(names\), or a sequence of bounds"),
        ({"names": ["a", "b"]}, "x0: a has no two finite bounds between which a start could be drawn; give a start"),
        (
            {"bounds": [(0.0, 1.0), "positive"], "names": ["a", "b"]},
            "x0: b has no two finite bounds between which a start could be drawn; give a start",
        ),
    ],
)
def test_a_prior_that_cannot_be_drawn_from_is_reported(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        rnshmc.sample(two_wells, progress_bar=False, **settings)


def test_a_prior_that_is_flat_in_a_parameter_cannot_be_drawn_from() -> None:
    model = rnshmc.Model(lambda x: x, [1.0, 2.0], likelihood=rnshmc.Gaussian(sd=0.1), prior={"a": ("normal", 0.0, 1.0)})
    with pytest.raises(ParameterError, match="x0: the prior cannot be drawn from, and a has no two finite bounds"):
        rnshmc.sample(model, names=["a", "b"], progress_bar=False)


def test_a_density_that_is_zero_at_all_drawn_starts_is_reported() -> None:
    with pytest.raises(ParameterError, match="x0: the density is 0 at all of 20 drawn starts; give one where"):
        rnshmc.sample(lambda _: -math.inf, bounds=[(0.0, 1.0)], progress_bar=False)
    with pytest.raises(ParameterError, match=r"x0: the target cannot be evaluated \(.*no licence.*\) at all of 20"):
        rnshmc.sample(_failing, bounds=[(0.0, 1.0)], progress_bar=False)


def test_of_candidates_the_first_that_is_possible_is_the_start() -> None:
    asked = list[float]()

    def above_four(x: Array) -> float:
        asked.append(float(x[0]))
        return -0.5 * (float(x[0]) - 5.0) ** 2 if x[0] > 4 else -math.inf

    rows = np.array([[1.0], [2.0], [6.0], [5.0]])
    result = rnshmc.sample(above_four, Candidates(rows, "ref"), draws=20, progress_bar=False)
    assert asked[:3] == [1.0, 2.0, 6.0]
    assert asked.count(6.0) == 1
    assert result.spent.values == len(asked)
    with pytest.raises(ParameterError, match=r"^ref: the density is 0 at all of 2 drawn starts; give"):
        rnshmc.sample(above_four, Candidates(rows[:2], "ref"), progress_bar=False)


def _failing(_: Array) -> float:
    raise RuntimeError("no licence")
