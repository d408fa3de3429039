"""Variables with shapes of their own, computed from the parameters of a result: in its table and in arviz's data."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.result.estimates import spread
from rnshmc.types import Array
from tests.conftest import z_bound


def gamma(x: Array) -> tuple[float, Array]:
    """Two independent gamma variables of shape 3."""
    return float((2 * np.log(x) - x).sum()), 2 / x - 1


def variables(x: Array) -> Mapping[str, Array]:
    product = x[:, :, None] * x[:, None, :]
    return {"total": x.sum(axis=1), "product": product, "one": np.ones(len(x)), "unknown": np.full(len(x), np.nan)}


@pytest.fixture(scope="module")
def result() -> rnshmc.Result:
    return rnshmc.sample(gamma, np.ones(2), bounds=["positive"] * 2, draws=400, progress_bar=False)


def test_the_table_has_a_row_for_each_element_corrected(result: rnshmc.Result) -> None:
    table = result.summary(variables=variables)
    product = [f"product[{i}, {j}]" for i in range(2) for j in range(2)]
    assert list(table.index) == ["total", *product, "one", "unknown"]
    # Of shape 6; E x_i x_j is 9, and 12 for i = j.
    exact = np.array([6.0, 12.0, 9.0, 9.0, 12.0])
    rows = table.loc[["total", *product]]
    assert (np.abs(rows["mean"] - exact) < z_bound(5) * rows["mcse_mean"]).all()
    assert (rows["mcse_mean"] < 0.2 * exact).all()
    assert abs(rows["sd"].iloc[0] - np.sqrt(6)) < z_bound() * rows["mcse_sd"].iloc[0]
    assert rows["50%"].iloc[0] == result.quantile(0.5, lambda x: x.sum(axis=1)).value


def test_what_does_not_vary_has_no_error_and_what_is_not_known_is_nan(result: rnshmc.Result) -> None:
    table = result.summary(variables=variables)
    values = table.loc["one", ["mean", "sd", "5%", "95%"]].to_numpy(dtype=float)
    np.testing.assert_allclose(values, [1.0, 0.0, 1.0, 1.0], rtol=0, atol=1e-14)
    assert table.loc["unknown"].isna().all()


def test_the_scale_of_a_constant_is_that_of_its_rounding() -> None:
    scale = spread(np.column_stack((np.full(9, -4.0), np.zeros(9), np.arange(9.0))))
    assert scale[0] == 4.0 * np.finfo(float).eps
    assert 0 < scale[1] < 1e-300
    assert scale[2] == np.arange(9.0).std()


def test_arviz_has_them_in_their_shapes_groups_and_dims(result: rnshmc.Result) -> None:
    data = result.to_arviz(
        variables=variables, groups={"one": "log_likelihood"}, coords={"i": ["a", "b"]}, dims={"product": ["i", "j"]}
    )
    assert set(data.posterior.data_vars) == {"total", "product", "unknown"}
    assert data.posterior["product"].dims == ("chain", "draw", "i", "j")
    assert list(data.posterior["i"].to_numpy()) == ["a", "b"]
    assert list(data.log_likelihood.data_vars) == ["one"]
    draws = result.to_arviz().posterior
    np.testing.assert_array_equal(data.posterior["total"], draws["x0"] + draws["x1"])
    np.testing.assert_array_equal(data.exact["total"], result.chains.sum(axis=-1))
    assert data.posterior.attrs["level"] == result.verdict.level
    assert "mean" not in data.posterior.attrs
    with pytest.raises(rnshmc.ParameterError, match="groups: 'log_lik' is not known; there are total, product"):
        result.to_arviz(variables=variables, groups={"log_lik": "log_likelihood"})


def test_without_a_surrogate_they_are_along_the_exact_chains(result: rnshmc.Result) -> None:
    exact = replace(result, outcome=replace(result.outcome, surrogate=None))
    data = exact.to_arviz(variables=variables)
    assert not hasattr(data, "exact")
    np.testing.assert_array_equal(data.posterior["total"], result.chains.sum(axis=-1))
    np.testing.assert_array_equal(data.sample_stats["lp"], result.log_densities)
    mean = exact.summary(variables=variables)["mean"].iloc[0]
    assert mean == pytest.approx(result.chains.sum(axis=-1).mean(), rel=1e-12)


def test_functions_that_change_their_argument_change_no_result(result: rnshmc.Result) -> None:
    exact = replace(result, outcome=replace(result.outcome, surrogate=None))
    before = exact.chains.copy()

    def changing(x: Array) -> Array:
        x[:, 0] = np.exp(x[:, 0])
        return x[:, 0]

    exact.expectation(changing)
    exact.to_arviz(variables=lambda x: {"changed": changing(x)})
    np.testing.assert_array_equal(exact.chains, before)


def test_other_numbers_of_rows_are_refused(result: rnshmc.Result) -> None:
    with pytest.raises(rnshmc.ParameterError, match=r"variables: total: expected a row for each of \d+ draws"):
        result.summary(variables=lambda x: {"total": x.sum()})
    with pytest.raises(rnshmc.ParameterError, match="variables: total: expected a row"):
        result.to_arviz(variables=lambda x: {"total": x.T.sum(axis=1)})


@pytest.mark.parametrize("name", ["chain", "draw"])
def test_a_variable_that_arviz_would_leave_out_is_refused(result: rnshmc.Result, name: str) -> None:
    with pytest.raises(rnshmc.ParameterError, match=f"variables: '{name}' is the name of a dimension in arviz"):
        result.to_arviz(variables=lambda x: {name: x[:, 0]})
