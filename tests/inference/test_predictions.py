"""Posterior predictive of emulated outputs."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Likelihood
from rnshmc.inference.result.making import make_result
from rnshmc.inference.result.prediction import Prediction
from rnshmc.types import Array
from tests.inference.model_cases import DATA, Counted, decay, decaying, sampled


def test_predictions_cover_the_data_cost_nothing_and_are_stored(tmp_path: Path) -> None:
    forward = Counted(decay)
    data = DATA.copy()
    data[7] = math.nan
    result = sampled(decaying(data, forward))
    before = len(forward.asked)
    prediction = result.predict()
    result.save(tmp_path / "result.nc")
    loaded = rnshmc.load(tmp_path / "result.nc")
    for name in ("outputs", "observations", "data"):
        np.testing.assert_array_equal(getattr(loaded.predict(), name), getattr(prediction, name))
    with pytest.raises(ParameterError, match="seed: a result from a file only has the prediction of seed 1, got 2"):
        loaded.predict(seed=2)
    assert len(forward.asked) == before
    outputs, observations = prediction.outputs, prediction.observations
    assert isinstance(outputs, np.ndarray)
    assert isinstance(observations, np.ndarray)
    assert outputs.shape == observations.shape == (500, 12)
    np.testing.assert_allclose(outputs[:50], [decay(x) for x in result.draws[:50, :2]], atol=0.01)
    low, high = np.quantile(np.delete(observations, 7, axis=1), [0.005, 0.995], axis=0)
    assert ((low < np.delete(data, 7)) & (np.delete(data, 7) < high)).all()
    # The output without a datum is predicted, an observation of it is not.
    assert np.isfinite(outputs[:, 7]).all()
    assert np.isnan(observations[:, 7]).all()


def test_a_loaded_result_has_the_verdict_of_the_saved_one(tmp_path: Path) -> None:
    result = sampled(decaying(DATA, decay))
    # Above the good limit, the verdict names the output with the largest emulation error.
    uneven = replace(result.outcome, surrogate_error=0.6)
    doubtful = make_result(uneven, result._transform, names=result.names, units=result.units)
    doubtful.save(tmp_path / "result.nc")
    assert "has the largest emulation error" in str(doubtful.verdict)
    assert str(rnshmc.load(tmp_path / "result.nc").verdict) == str(doubtful.verdict)


def test_nothing_is_predicted_of_a_density() -> None:
    result = rnshmc.sample(lambda x: (-0.5 * float(x @ x), -x), np.ones(2), progress_bar=False)
    with pytest.raises(ParameterError, match="predict: no outputs were emulated"):
        result.predict()


def test_outputs_have_the_structure_of_the_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    positive = np.abs(DATA) + 0.01
    data = {"early": positive[:6].reshape(2, 3), "late": positive[6:]}

    def split(x: Array) -> dict[str, Array]:
        return {"late": decay(x)[6:], "unused": np.zeros(2), "early": decay(x)[:6].reshape(2, 3)}

    prior = {"a": ("normal", 0.0, 1.0), "r": ("normal", 0.0, 1.0)}
    likelihood: dict[str, Likelihood] = {"early": rnshmc.Gaussian(0.1), "late": rnshmc.LogNormal(0.5)}
    result = sampled(rnshmc.Model(split, data, likelihood=likelihood, prior=prior), np.zeros(2))
    outputs = result.predict().outputs
    assert isinstance(outputs, dict)
    assert {name: array.shape for name, array in outputs.items()} == {"early": (500, 2, 3), "late": (500, 6)}
    monkeypatch.setattr("rnshmc.inference.result.prediction.STORED", 500 * 12 // 3)
    result.save(tmp_path / "result.nc")
    stored = rnshmc.load(tmp_path / "result.nc").predict().outputs
    assert isinstance(stored, dict)
    assert {name: array.shape for name, array in stored.items()} == {"early": (167, 2, 3), "late": (167, 6)}
    with pytest.raises(ParameterError, match="the forward model's output 'late' is missing"):
        sampled(rnshmc.Model(lambda x: {"early": data["early"]}, data, likelihood=likelihood), np.zeros(2))


def test_a_name_of_data_that_is_no_formula_is_drawn_as_it_is_written() -> None:
    figure = pytest.importorskip("matplotlib.figure").Figure()
    outputs = {r"$\frac{$": np.ones((3, 2)), r"$\alpha$": np.ones((3, 2))}
    data = {name: values[0] for name, values in outputs.items()}
    panels = Prediction(outputs, outputs, data).plot(figure.subplots(2))
    figure.draw_without_rendering()
    assert [panel.get_ylabel() for panel in panels] == [r"\$\frac{\$", r"$\alpha$"]
