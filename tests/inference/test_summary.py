"""`Result.summary` and `Result.quantile`: corrected, with standard errors, and none where nothing is known."""

from dataclasses import replace
from importlib import metadata

import numpy as np
import pytest
from scipy import stats

import rnshmc
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Averages
from rnshmc.inference.result.making import make_result
from rnshmc.inference.result.moments import chain_quantiles, corrected_quantiles
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array
from tests.conftest import z_bound
from tests.inference.clouds import cloud
from tests.inference.conftest import interrupted

PROBABILITIES = np.array([0.05, 0.5, 0.95])


def gamma(x: Array) -> tuple[float, Array]:
    """Two independent gamma variables of shape 3."""
    return float((2 * np.log(x) - x).sum()), 2 / x - 1


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    settings = {"names": ["a", "b"], "units": {"a": "m"}, "progress_bar": False}
    return rnshmc.sample(gamma, np.ones(2), bounds=["positive"] * 2, draws=400, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def shifted() -> Corrected:
    """Draws of a standard normal surrogate of a normal density with mean 0.3, which 1000 exact values correct."""
    draws = np.random.default_rng(3).standard_normal((6400, 1))
    checked = draws[:1000]
    return cloud(draws, checked, 0.5 * (checked[:, 0] - 0.3) ** 2 - 0.5 * checked[:, 0] ** 2)


def test_the_table_has_a_row_for_each_parameter_laid_out_as_arviz_does(result: rnshmc.Result) -> None:
    table = result.summary()
    assert list(table.index) == ["a", "b"]
    labels = ["mean", "sd", "5%", "50%", "95%"]
    assert list(table.columns) == [*labels, *(f"mcse_{label}" for label in labels), "ess_mean"]
    assert np.isfinite(table.to_numpy()).all()
    np.testing.assert_array_equal(table["mean"], result.mean.value)
    np.testing.assert_array_equal(table["mcse_sd"], result.sd.standard_error)
    np.testing.assert_allclose(table["ess_mean"], (result.sd.value / result.mean.standard_error) ** 2)
    assert list(result.summary([0.25]).columns)[2] == "25%"


def test_what_it_rests_on_goes_with_it(result: rnshmc.Result) -> None:
    attributes = result.summary().attrs
    assert attributes["verdict"] == str(result.verdict)
    assert (attributes["values"], attributes["gradients"]) == (result.spent.values, result.spent.gradients)
    assert attributes["units"] == {"a": "m", "b": ""}
    assert attributes["inference_library_version"] == metadata.version("rnshmc")


def test_quantiles_are_those_of_the_posterior(result: rnshmc.Result) -> None:
    found = result.quantile(PROBABILITIES)  # type: ignore[arg-type]
    exact = stats.gamma(3).ppf(PROBABILITIES)[:, None]
    assert (np.abs(found.value - exact) < z_bound(6) * found.standard_error).all()
    # Those of 25 independent draws, where the run aims at 200.
    density = stats.gamma(3).pdf(exact)
    assert (found.standard_error < np.sqrt(PROBABILITIES * (1 - PROBABILITIES) / 25)[:, None] / density).all()


def test_quantiles_of_a_function_are_those_of_its_values(result: rnshmc.Result) -> None:
    ratio = result.quantile(0.5, lambda x: x[:, 0] / x[:, 1])
    assert ratio.value.shape == ratio.standard_error.shape == ()
    assert abs(float(ratio.value) - 1.0) < z_bound() * float(ratio.standard_error)
    # A monotone function of a parameter has the function's values of its quantiles.
    logarithms = result.quantile([0.2, 0.8], lambda x: np.log(x[:, 0]))
    np.testing.assert_allclose(np.exp(logarithms.value), result.quantile([0.2, 0.8]).value[:, 0], rtol=1e-12)


def test_exact_values_correct_the_quantiles_of_a_wrong_surrogate(shifted: Corrected) -> None:
    found = corrected_quantiles(shifted, PROBABILITIES)
    exact = 0.3 + stats.norm.ppf(PROBABILITIES)[:, None]
    assert (np.abs(found.value - exact) < z_bound(3) * found.standard_error).all()
    # Uncorrected ones are off by 0.3, and errors let that be seen.
    assert (z_bound(3) * found.standard_error[1] < 0.3).all()


def test_quantiles_of_chains_have_the_errors_of_independent_draws_where_they_are() -> None:
    chains = np.random.default_rng(4).standard_normal((4, 1000, 2))
    found = chain_quantiles(Averages(chains, mixed=True), PROBABILITIES)
    exact = stats.norm.ppf(PROBABILITIES)[:, None]
    assert (np.abs(found.value - exact) < z_bound(6) * found.standard_error).all()
    errors = np.sqrt(PROBABILITIES * (1 - PROBABILITIES) / 4000)[:, None] / stats.norm.pdf(exact)
    # The slope is measured over the 80 draws in a window of 0.02: to 11%.
    ratios = found.standard_error / errors
    assert (np.abs(np.log(ratios)) < z_bound(6) * 80**-0.5).all()


def test_there_are_no_errors_where_chains_are_in_different_places(result: rnshmc.Result) -> None:
    chains = np.random.default_rng(4).standard_normal((4, 1000, 2))
    assert np.isnan(chain_quantiles(Averages(chains, mixed=False), PROBABILITIES).standard_error).all()
    surrogate = result.outcome.surrogate
    assert surrogate is not None
    outcome = replace(result.outcome, rhat=1.2, surrogate=surrogate.with_errors(known=False))
    apart = make_result(outcome, make_transform(["positive"] * 2, result.names), names=result.names, units=result.units)
    table = apart.summary()
    assert np.isnan(table[[name for name in table.columns if "_" in name]].to_numpy()).all()
    assert np.isfinite(table[["mean", "sd", "5%", "50%", "95%"]].to_numpy()).all()


def test_a_run_without_draws_has_a_table_of_nothing() -> None:
    found = rnshmc.sample(interrupted(gamma, after=6), np.ones(2), bounds=["positive"] * 2, progress_bar=False)
    assert found.summary().isna().all().all()
    assert found.summary().attrs["level"] == "bad"


def test_ones_that_are_no_probabilities_are_refused(result: rnshmc.Result) -> None:
    for wrong in (0.0, 1.0, [0.5, 95], [[0.5]]):
        with pytest.raises(rnshmc.ParameterError, match="probabilities: expected numbers between 0 and 1"):
            result.quantile(wrong)  # type: ignore[arg-type]
    with pytest.raises(rnshmc.ParameterError, match="function: expected a row for each"):
        result.quantile(0.5, lambda x: x[0])
