"""arviz 1.0 and later, with xarray trees and separate packages for statistics."""

from pathlib import Path

import numpy as np
import pytest
import xarray as xr

import rnshmc
from rnshmc.diagnostics.importance import pareto_smoothed
from rnshmc.diagnostics.summary import since_one, summarise
from rnshmc.types import Array
from tests.conftest import z_bound

pytestmark = pytest.mark.skipif(not since_one(), reason="arviz is older than 1.0")


def gamma(x: Array) -> tuple[float, Array]:
    """Two independent gamma variables of shape 3."""
    return float((2 * np.log(x) - x).sum()), 2 / x - 1


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    settings = {"names": ["a", "b"], "units": {"a": "m"}, "progress_bar": False}
    return rnshmc.sample(gamma, np.ones(2), bounds=["positive"] * 2, draws=400, **settings)  # type: ignore[arg-type]


def test_draws_are_a_tree_that_arviz_summarises(result: rnshmc.Result) -> None:
    import arviz as az

    data = result.to_arviz()
    assert isinstance(data, xr.DataTree)
    assert set(data.children) == {"posterior", "exact"}
    assert data.posterior["a"].attrs["units"] == "m"
    assert data.posterior.attrs["level"] == result.verdict.level
    table = az.summary(data, round_to="none")
    assert (table["r_hat"] < 1.1).all()
    np.testing.assert_allclose(table["mean"], data.posterior.to_dataset().mean().to_array(), rtol=1e-12)


def test_variables_go_to_their_groups(result: rnshmc.Result) -> None:
    data = result.to_arviz(
        variables=lambda x: {"both": x, "log_lik": np.log(x)},
        groups={"log_lik": "log_likelihood"},
        coords={"site": ["u", "v"]},
        dims={"both": ["site"], "log_lik": ["site"], "seen": ["site"]},
        observed={"seen": np.array([1.0, 2.0])},
    )
    assert set(data.children) == {"posterior", "log_likelihood", "observed_data", "exact"}
    assert data.posterior["both"].dims == data.log_likelihood["log_lik"].dims == ("chain", "draw", "site")
    assert data.observed_data["seen"].dims == ("site",)


def test_a_saved_result_is_loaded_and_opened(result: rnshmc.Result, tmp_path: Path) -> None:
    result.save(tmp_path / "result.nc")
    again = rnshmc.load(tmp_path / "result.nc")
    assert repr(again) == repr(result)
    with xr.open_datatree(tmp_path / "result.nc", engine="h5netcdf") as tree:
        np.testing.assert_array_equal(tree.posterior["a"], result.to_arviz().posterior["a"])


def test_diagnostics_are_those_of_independent_draws() -> None:
    found = summarise(np.random.default_rng(1).standard_normal((4, 1000, 2)))
    assert (np.abs(found.rhat - 1) < 0.01).all()
    # arviz estimates autocorrelations over up to the square root of the draws.
    assert (np.abs(found.ess_bulk / 4000 - 1) < 0.2).all()
    assert (np.abs(found.mcse_mean * np.sqrt(4000) - 1) < 0.2).all()


def test_weights_are_smoothed_in_the_tail_alone() -> None:
    log_weights = 0.4 * np.random.default_rng(2).standard_exponential(5000)
    smoothed, k = pareto_smoothed(log_weights)
    # A Pareto variable with shape 0.4; the estimate is over 3 sqrt(5000) weights.
    assert abs(k - 0.4) < z_bound() * 1.4 / np.sqrt(212)
    order = np.argsort(log_weights)
    np.testing.assert_allclose(smoothed[order[:-213]], log_weights[order[:-213]], rtol=0, atol=1e-12)
    assert np.ptp(smoothed[order[-212:]] - log_weights[order[-212:]]) > 1e-3
    same, unknown = pareto_smoothed(np.zeros(100))
    assert np.isnan(unknown)
    np.testing.assert_array_equal(same, np.zeros(100))
