"""PyMC's models: sampled in their unconstrained coordinates, and returned as by ``pm.sample``."""

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import rnshmc
from tests.conftest import z_bound

pm = pytest.importorskip("pymc", reason="pymc is not installed")
pytestmark = pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS")

ROOT = Path(__file__).parents[2]
COUNTS = np.array([4, 6, 5])


@pytest.fixture(scope="module")
def model() -> Any:
    """Gamma posteriors: rates of Poisson counts with gamma priors, and a total of them."""
    with pm.Model(coords={"site": ["a", "b", "c"]}) as made:
        rates = pm.Gamma("rates", 2.0, 1.0, dims="site")
        pm.Deterministic("total", rates.sum())
        pm.Poisson("counts", rates, observed=COUNTS, dims="site")
    return made


@pytest.fixture(scope="module")
def data(model: Any) -> Any:
    import rnshmc.pymc as adapter

    return adapter.sample(model, draws=400, progress_bar=False)


def test_draws_are_of_the_posterior_in_the_models_own_parameters(data: Any) -> None:
    # Conjugate: gamma with shape 2 + count and rate 2.
    shape = 2 + COUNTS
    draws = data.posterior["rates"].to_numpy().reshape(-1, 3)
    assert (np.abs(draws.mean(axis=0) - shape / 2) < z_bound(6) * np.sqrt(shape) / 2 / np.sqrt(400)).all()
    # The variance of a sample variance of a gamma variable: kurtosis 3 + 6 / shape.
    error = shape / 4 * np.sqrt((2 + 6 / shape) / 400)
    assert (np.abs(draws.var(axis=0) - shape / 4) < z_bound(6) * error).all()


def test_it_is_laid_out_as_after_pm_sample(model: Any, data: Any) -> None:
    assert data.posterior["rates"].dims == ("chain", "draw", "site")
    assert data.posterior.sizes["chain"] == 4
    assert list(data.posterior["site"].to_numpy()) == ["a", "b", "c"]
    assert set(data.posterior.data_vars) == {"rates", "total"}
    np.testing.assert_allclose(data.posterior["total"], data.posterior["rates"].sum("site"), rtol=1e-12)
    np.testing.assert_array_equal(data.observed_data["counts"], COUNTS)
    assert data.posterior.attrs["level"] in ("good", "doubtful")
    assert data.posterior.attrs["gradients"] > 0
    assert float(data.posterior.attrs["r_hat"]) < 1.1


def test_arviz_and_predictive_checks_go_on(model: Any, data: Any) -> None:
    az = pytest.importorskip("arviz")
    assert (az.summary(data)["r_hat"] < 1.1).all()
    with model:
        # Without var_names, PyMC 5.28.5 adds the observed variables to the model a second time.
        predicted = pm.sample_posterior_predictive(data, var_names=["counts"], progressbar=False, random_seed=1)
    assert predicted.posterior_predictive["counts"].shape == (4, 100, 3)


def test_chosen_variables_alone_are_computed(model: Any) -> None:
    import rnshmc.pymc as adapter

    posterior = adapter.Posterior(model)
    result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, scale=posterior.scale, draws=40)
    assert result.names == ("rates_log__[0]", "rates_log__[1]", "rates_log__[2]")
    assert list(posterior.inference_data(result, var_names=["total"]).posterior.data_vars) == ["total"]
    with pytest.raises(rnshmc.ParameterError, match="var_names: 'rate' is not known; there are rates, total"):
        posterior.inference_data(result, var_names=["rate"])


def test_expectations_are_of_the_models_own_variables(model: Any) -> None:
    import rnshmc.pymc as adapter

    posterior = adapter.Posterior(model)
    settings: dict[str, Any] = {"names": posterior.names, "scale": posterior.scale, "draws": 400, "progress_bar": False}
    result = rnshmc.sample(posterior, posterior.x0, **settings)
    table = result.summary(variables=posterior.variables)
    assert list(table.index) == ["rates[0]", "rates[1]", "rates[2]", "total"]
    # Conjugate: gamma with shape 2 + count and rate 2; the total is gamma, too.
    exact = np.append(2 + COUNTS, (2 + COUNTS).sum()) / 2
    assert (np.abs(table["mean"] - exact) < z_bound(4) * table["mcse_mean"]).all()
    ratio = result.expectation(lambda x: posterior.variables(x, var_names=["total"])["total"])
    assert ratio.value == pytest.approx(table["mean"]["total"], rel=1e-12)
    assert {name: values.shape for name, values in posterior.variables(np.zeros((0, 3))).items()} == {
        "rates": (0, 3),
        "total": (0,),
    }


@pytest.mark.parametrize("where", ["deterministic", "data"])
def test_dims_that_do_not_fit_are_found_before_sampling(where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import rnshmc.pymc as adapter

    with pm.Model(coords={"site": ["a", "b"]}) as misfit:
        rates = pm.Gamma("rates", 2.0, 1.0, shape=3)
        pm.Deterministic("double", 2 * rates, dims="site" if where == "deterministic" else None)
        pm.Poisson("counts", rates, observed=COUNTS, dims="site" if where == "data" else None)
    monkeypatch.setattr(adapter, "sample_density", lambda *_, **__: pytest.fail("it was sampled"))
    with pytest.raises(rnshmc.ParameterError, match=r"^model: its dims and coords do not fit .* 'site': length 3 on"):
        adapter.sample(misfit)


def test_a_conversion_that_fails_has_the_result(model: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import rnshmc.pymc as adapter

    def fail(*_: Any, **__: Any) -> None:
        raise MemoryError

    monkeypatch.setattr(adapter.Posterior, "inference_data", fail)
    with pytest.raises(rnshmc.ConversionError, match="the draws could not be converted: MemoryError") as caught:
        adapter.sample(model, draws=40, progress_bar=False)
    assert caught.value.result.draws.shape == (40, 3)


def test_a_variable_that_cannot_be_computed_at_the_start_stops_no_run(caplog: pytest.LogCaptureFixture) -> None:
    from pytensor.compile.ops import as_op
    from pytensor.tensor import dscalar

    import rnshmc.pymc as adapter

    def fail(_: Any) -> Any:
        raise ValueError("unphysical")

    with pm.Model() as failing:
        pm.Deterministic("odd", as_op(itypes=[dscalar], otypes=[dscalar])(fail)(pm.Normal("level")))
    adapter.Posterior(failing).check()
    assert "The model's variables cannot be computed at x0 (ValueError: unphysical" in caplog.text
    adapter.Posterior(failing).check(["level"])


def test_the_density_and_its_gradient_are_the_models(model: Any, assert_slope: Any) -> None:
    import rnshmc.pymc as adapter

    posterior = adapter.Posterior(model)
    x, direction = np.array([0.1, 0.5, -0.3]), np.array([0.5, -1.0, 0.3])
    value, slope = posterior(x)
    # Up to a constant, with the Jacobian of the logarithm.
    elsewhere = posterior(x + 1.0)[0] - value
    expected = ((2 + COUNTS) * 1.0 - 2 * (np.exp(x + 1.0) - np.exp(x))).sum()
    assert elsewhere == pytest.approx(expected, rel=1e-10)
    assert_slope(lambda q: posterior(q)[0], slope @ direction, x, direction)


def test_models_that_cannot_be_sampled_are_refused() -> None:
    import rnshmc.pymc as adapter

    with pm.Model() as discrete:
        pm.Poisson("n", 3.0)
    with pytest.raises(rnshmc.ParameterError, match="model: n are discrete"):
        adapter.Posterior(discrete)
    with pytest.raises(rnshmc.ParameterError, match="model: it has no free variable"):
        adapter.Posterior(pm.Model())


def test_a_flat_prior_and_a_given_start_are_used_as_they_are() -> None:
    import rnshmc.pymc as adapter

    with pm.Model() as flat:
        level = pm.Flat("level")
        pm.Normal("y", level, 1.0, observed=[1.0, 2.0])
    assert adapter.Posterior(flat).scale is None
    with pm.Model() as given:
        pm.Normal("level", 0.0, 1.0, initval=3.0)
    assert adapter.Posterior(given).x0.tolist() == [3.0]


def test_missing_data_behind_a_black_box_do_not_run_it() -> None:
    from pytensor.compile.ops import as_op
    from pytensor.tensor import dscalar, dvector

    import rnshmc.pymc as adapter

    calls: list[float] = []

    def run(rate: Any) -> Any:
        calls.append(float(rate))
        return np.full(3, float(rate))

    masked_array: Any = np.ma.masked_array
    solver = as_op(itypes=[dscalar], otypes=[dvector])(run)
    with pm.Model() as missing, pytest.warns(Warning, match="missing values"):
        pm.Normal("y", solver(pm.Normal("rate")), 1.0, observed=masked_array([0.1, 0.2, 0.0], [0, 0, 1]))
    posterior = adapter.Posterior(missing)
    assert posterior.scale is None
    # The model's initial point and its own checks; draws of the prior would be hundreds.
    assert len(calls) < 20


def test_the_page_runs_with_a_black_box(docs_output: ModuleType) -> None:
    names, _ = docs_output.run_page(ROOT / "docs/pymc.md")
    data, half_time = names["data"], names["half_time"]
    assert data.posterior.attrs["gradients"] == 0
    assert names["predicted"].posterior_predictive["warmed"].dims == ("chain", "draw", "minute")
    assert list(data.posterior["parameter"].to_numpy()) == ["rise", "rate"]
    # The data were made with log(2) / 0.35 = 1.98 minutes; the posterior is 0.05 wide.
    assert abs(float(half_time.value) - np.log(2) / 0.35) < 5 * 0.05
    assert half_time.standard_error < 0.02
