"""Evaluations that fail at random, as with a solver that does not always converge."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import rnshmc
from rnshmc.inference.stages.correction import Checked, without_random_failures
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound

RATE = 0.2
TIMES = np.linspace(0.3, 4.0, 8)
READ = 2.0 * np.exp(-0.6 * TIMES) + 0.1 * np.cos(5.0 * np.arange(8))


def sampled(model: Any, x0: Array, **settings: Any) -> rnshmc.Result:
    return rnshmc.sample(model, x0, seed=1, draws=1000, progress_bar=False, **settings)


def decay(x: Array) -> Array:
    return np.asarray(x[0] * np.exp(-x[1] * TIMES))


def test_failures_of_a_model_at_random_are_not_in_its_log_evidence() -> None:
    rng, start = stream(1, "failures"), [1.5, 0.8]

    def flaky(x: Array) -> Array:
        if rng.uniform() < RATE and not np.allclose(x, start):
            raise RuntimeError("no convergence")
        return decay(x)

    prior = {"rise": ("halfnormal", 5.0), "rate": ("halfnormal", 2.0)}
    settings: dict[str, Any] = {"names": list(prior)}
    likelihood = rnshmc.Gaussian(sd=0.15)
    never, often = (
        sampled(rnshmc.Model(one, READ, likelihood=likelihood, prior=prior), np.array(start), **settings)
        for one in (decay, flaky)
    )
    error = math.hypot(*(float(one.log_evidence.standard_error) for one in (never, often)))
    assert abs(float(often.log_evidence.value - never.log_evidence.value)) < z_bound() * error
    assert error < abs(math.log1p(-RATE)) / 5
    assert "evaluations failed, apparently at random: corrections exclude the" in str(often.verdict)
    assert "count as density 0" not in str(often.verdict)
    assert "surrogate expects draws" not in str(often.verdict)


def test_failures_of_a_density_at_random_are_not_in_its_log_evidence() -> None:
    rng, start = stream(1, "failures"), np.full(3, 0.3)

    def flaky(x: Array) -> tuple[float, Array]:
        return (math.nan if rng.uniform() < RATE and not np.allclose(x, start) else -0.5 * float(x @ x)), -x

    found = sampled(flaky, start).log_evidence
    assert abs(float(found.value) - 1.5 * math.log(2.0 * math.pi)) < z_bound() * float(found.standard_error) < 0.02


def checked(points: Array, failed: npt.NDArray[np.bool_]) -> Checked:
    differences = np.where(failed, np.inf, 0.0)
    return Checked(points, differences, differences, failed)


def test_failures_in_a_region_are_kept_and_failures_anywhere_are_not() -> None:
    rng = stream(1, "regions")
    draws, points = rng.standard_normal((128, 20, 5)), rng.standard_normal((200, 5))
    beyond, outside = points[:, 0] > 1.0, (points**2).sum(axis=1) > 8.0
    for region in (beyond, outside):
        assert len(without_random_failures(checked(points, region), draws).values) == 200
    anywhere = rng.uniform(size=200) < RATE
    kept = without_random_failures(checked(points, anywhere), draws)
    assert kept.points.tolist() == points[~anywhere].tolist()
    none, all_failed = (checked(points, np.full(200, failed)) for failed in (False, True))
    assert without_random_failures(none, draws) is none
    assert without_random_failures(all_failed, draws) is all_failed
