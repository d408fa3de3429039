"""Known evaluations that a surrogate learns from, where there are more than it takes."""

import logging
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.stored_evaluations import chosen
from rnshmc.inference.transforms import make_transform
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference import model_cases

REAL = make_transform(None, ["a", "b"])


def known(points: Array) -> tuple[Evaluation, ...]:
    return tuple(Evaluation(x, 0.5 * float(x @ x), x) for x in points)


def test_few_evaluations_are_all_taken_unchanged() -> None:
    given = known(stream(1, "few").standard_normal((20, 2)))
    taken = chosen(given, REAL, None, most=20, height=10.0)
    assert all(one is other for one, other in zip(taken, given, strict=True))


def test_the_lowest_potentials_are_taken_where_few_are_plausible() -> None:
    given = known(stream(1, "far").uniform(-40.0, 40.0, (2000, 2)))
    taken = chosen(given, REAL, None, most=50, height=10.0)
    highest = max(one.value for one in taken)
    assert len(taken) == 50
    assert sum(one.value < highest for one in given) == 49


def test_a_selection_is_spread_over_many_plausible_points() -> None:
    """Nearest neighbours are farther apart than those of random draws, and the mode is among them."""
    points = np.concatenate((stream(1, "many").standard_normal((3000, 2)), np.full((500, 2), 1.5)))
    taken = np.array([one.point for one in chosen(known(points), REAL, None, most=100, height=10.0)])
    assert len(np.unique(taken, axis=0)) == len(taken) == 100
    assert np.linalg.norm(taken, axis=1).min() == np.linalg.norm(points, axis=1).min()

    def gap(some: Array) -> float:
        return float(np.median(np.sort(np.linalg.norm(some[:, None] - some, axis=-1), axis=1)[:, 1]))

    assert gap(taken) > 2.0 * gap(points[:100])


def test_equal_points_are_taken_once_and_points_outside_never() -> None:
    bounded = make_transform({"a": (0.0, None)}, ["a", "b"])
    points = np.concatenate((np.full((60, 2), 1.0), np.full((60, 2), -1.0), [[2.0, 0.0]]))
    taken = chosen(known(points), bounded, None, most=10, height=10.0)
    assert sorted(one.point.tolist() for one in taken) == [[1.0, 1.0], [2.0, 0.0]]


def test_thousands_of_known_evaluations_are_used_in_seconds(caplog: pytest.LogCaptureFixture) -> None:
    """5000 evaluations with gradients, more than a surrogate takes."""
    points = 1.5 * stream(1, "thousands").standard_normal((5000, 2))
    given: dict[str, Any] = {
        "points": points,
        "log_densities": -0.5 * (points**2).sum(axis=1),
        "gradients": -points,
    }
    with caplog.at_level(logging.WARNING, logger="rnshmc"):
        result = rnshmc.sample(
            lambda x: (-0.5 * float(x @ x), -x), np.ones(2), evaluations=given, draws=500, progress_bar=False
        )
    assert "evaluations: 256 of 5000 are used" in caplog.text
    assert result.outcome.method == "surrogate"
    assert result.verdict.level == "good"
    assert (np.abs(result.mean.value) < z_bound(2) * result.mean.standard_error).all()
    assert result.spent.units < 200


def test_thousands_of_known_runs_of_a_model_are_used_in_seconds(caplog: pytest.LogCaptureFixture) -> None:
    """20000 runs, spread over the posterior and beyond it."""
    points = stream(1, "runs").normal([0.6, 0.0], 0.4, (20_000, 2))
    outputs = np.exp(points[:, :1] - np.exp(points[:, 1:]) * model_cases.TIMES)

    def units(seed: int) -> int:
        with caplog.at_level(logging.WARNING, logger="rnshmc"):
            given = {"points": points, "outputs": outputs}
            result = model_cases.sampled(model_cases.decaying(), evaluations=given, seed=seed)
        assert "of 20000 are used, chosen near the mode" in caplog.text
        assert result.outcome.emulated is not None
        assert result.verdict.level == "good", str(result.verdict)
        return result.spent.units

    # A run without known ones takes about 75. In two of eight seeds, a chain begins far out, which takes a batch more.
    assert max(units(seed) for seed in range(4)) < 60
