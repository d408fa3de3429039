"""Forward models whose posteriors have several modes: all of them are found from no start, and share their runs."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import BudgetSpent
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.model_cases import Counted

TIMES = np.linspace(0.5, 2.0, 5)
SD, MEAN = 0.1, 0.15
"""Standard deviation of the data's errors, and the mean of the prior of the first parameter."""


def mirrored(x: Array) -> Array:
    """The data do not show the sign of the first parameter."""
    return np.asarray(x[0] ** 2 * TIMES + x[1])


DATA = mirrored(np.array([1.2, 0.3])) + SD * np.array([0.3, -1.1, 0.8, -0.2, 0.5])


def model(forward: Counted) -> rnshmc.Model:
    prior = {"a": ("normal", MEAN, 1.0), "b": ("normal", 0.0, 1.0)}
    return rnshmc.Model(forward, DATA, likelihood=rnshmc.Gaussian(sd=SD), prior=prior)


def exact(lowest: float = -3.0, highest: float = 3.0) -> tuple[Array, float, float]:
    """Means of both parameters, the share of positive values of the first, and the log evidence, by quadrature.

    Where the first is between the two bounds.
    """
    a, b = np.meshgrid(np.linspace(lowest, highest, 2001), np.linspace(-2.0, 2.5, 801), indexing="ij")
    outputs = a[..., None] ** 2 * TIMES + b[..., None]
    logs = -0.5 * (((outputs - DATA) / SD) ** 2).sum(axis=-1) - 0.5 * (a - MEAN) ** 2 - 0.5 * b**2
    weights = np.exp(logs - logs.max())
    cell = (highest - lowest) / 2000 * (4.5 / 800)
    constant = len(DATA) * np.log(SD * np.sqrt(2.0 * np.pi)) + np.log(2.0 * np.pi)
    evidence = np.log(weights.sum() * cell) + logs.max() - constant
    weights /= weights.sum()
    return np.array([(weights * a).sum(), (weights * b).sum()]), float(weights[a > 0].sum()), float(evidence)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_two_modes_are_found_from_no_start(seed: int) -> None:
    forward = Counted(mirrored)
    result = rnshmc.sample(model(forward), None, draws=1000, seed=seed, progress_bar=False)
    mean, share, evidence = exact()
    assert result.verdict.level == "good", str(result.verdict)
    assert str(result.verdict).startswith("No problem found in the 2 modes that a search over drawn starts found.")
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    [positive] = [one.share for one in result.outcome.modes if one.point[0] > 0.0]
    assert abs(positive.value - share) < z_bound() * positive.standard_error
    assert positive.standard_error < 0.03
    assert abs(result.log_evidence.value - evidence) < z_bound() * result.log_evidence.standard_error
    # One mode from a start in it takes fewer than sixty.
    assert len(forward.asked) < 200
    predicted = result.predict().outputs
    assert isinstance(predicted, np.ndarray)
    np.testing.assert_allclose(predicted[:200], [mirrored(x) for x in result.draws[:200]], atol=0.1 * SD)


def test_a_search_that_is_resumed_is_the_same(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"filepath": tmp_path / "runs.jsonl", "draws": 200, "progress_bar": False}
    with pytest.raises(BudgetSpent):
        rnshmc.sample(model(Counted(mirrored)), None, budget=16, **settings)
    resumed = rnshmc.sample(model(Counted(mirrored)), None, **settings)
    whole = rnshmc.sample(model(Counted(mirrored)), None, draws=200, progress_bar=False)
    assert resumed.outcome.surveyed == whole.outcome.surveyed > 16
    np.testing.assert_array_equal(resumed.draws, whole.draws)


def test_rows_in_two_modes_share_their_runs() -> None:
    forward = Counted(mirrored)
    result = rnshmc.sample(model(forward), [[1.0, 0.0], [-1.0, 0.0]], draws=1000, progress_bar=False)
    mean, _, _ = exact()
    assert len(result.outcome.modes) == 2
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    assert len(forward.asked) < 150
    assert "There may be others: too few starts were used." in str(result.verdict)


def test_a_model_that_fails_at_most_drawn_starts_is_searched_from_the_others() -> None:
    def fragile(x: Array) -> Array:
        if not (1.0 < x[0] < 1.5 and abs(x[1]) < 1.0):
            raise RuntimeError("no convergence")
        return mirrored(x)

    result = rnshmc.sample(model(Counted(fragile)), None, draws=200, budget=400, progress_bar=False)
    mean, _, evidence = exact(lowest=1.0, highest=1.5)
    assert result.verdict.level == "doubtful"
    assert "evaluations failed and count as density 0" in str(result.verdict)
    assert (np.abs(result.mean.value - mean) < z_bound(2) * result.mean.standard_error).all()
    assert abs(result.log_evidence.value - evidence) < z_bound() * result.log_evidence.standard_error
