"""A file of runs and another data set: runs are at other points, and `evaluations` is what learns from them."""

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.exact.resuming import NEW_POINTS
from rnshmc.types import Array
from tests.inference import model_cases

TIMES = np.linspace(0.3, 4.0, 8)


def decay(x: Array) -> Array:
    return np.asarray(x[0] * np.exp(-x[1] * TIMES))


def sampled(data: Array, path: Path, **settings: Any) -> rnshmc.Result:
    prior = {"rise": ("halfnormal", 5.0), "rate": ("halfnormal", 2.0)}
    model = rnshmc.Model(decay, data, likelihood=rnshmc.Gaussian(sd=0.15), prior=prior)
    settings = {"names": list(prior), "draws": 500, "progress_bar": False, **settings}
    return rnshmc.sample(model, [1.5, 0.8], filepath=path, **settings)


def test_a_hardly_used_file_is_reported_with_the_remedy(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path, data = tmp_path / "runs.jsonl", decay(np.array([2.0, 0.6]))
    with caplog.at_level(logging.WARNING, logger="rnshmc"):
        first = sampled(data, path, budget=30)
        sampled(data, path)  # resumes from the file
        stored = len(path.read_text(encoding="utf-8").splitlines()) - 1
        assert caplog.text == ""
        other = sampled(decay(np.array([3.0, 0.3])), path)
    assert f"runs.jsonl holds {stored} evaluations, of which this run requested" in caplog.text
    assert caplog.text.count("pass evaluations=") == 1
    assert other.spent.points > 20
    caplog.clear()
    with caplog.at_level(logging.WARNING, logger="rnshmc"):
        learnt = sampled(decay(np.array([2.2, 0.55])), path, evaluations=path)
    assert caplog.text == ""
    assert learnt.spent.points < first.spent.points


def test_parameters_of_the_likelihood_are_no_new_runs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A run depends on the model's parameters alone, so a resumed run requests all stored ones."""
    settings: dict[str, Any] = {"filepath": tmp_path / "runs.jsonl", "draws": 100}
    with caplog.at_level(logging.WARNING, logger="rnshmc"):
        model_cases.sampled(model_cases.decaying(), budget=20, **settings)
        resumed = model_cases.sampled(model_cases.decaying(), **settings)
    assert resumed.spent.points > NEW_POINTS
    assert "of which this run requested" not in caplog.text
