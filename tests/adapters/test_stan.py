"""Stan programs are sampled in their unconstrained parameters and returned with all their quantities.

BridgeStan fetches Stan from the network when it is first used. Programs are compiled by httpstan, behind its interface.
"""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rnshmc
import rnshmc.stan
from rnshmc.types import Array
from tests.conftest import z_bound

ROOT = Path(__file__).parents[2]
SHAPES = """
parameters {
  simplex[3] p;
  matrix[2, 3] m;
  array[2] vector[3] a;
  real<lower=0> s;
}
transformed parameters {
  array[2] matrix[2, 3] twice = {m, 2 * m};
}
model {
  p ~ dirichlet([4, 5, 6]');
  to_vector(m) ~ normal([1, 2, 3, 4, 5, 6]', 1);
  for (i in 1:2) a[i] ~ normal(10 * i + [1, 2, 3]', 1);
  s ~ gamma(5, 2);
}
generated quantities {
  matrix[3, 2] turned = m';
  if (s > 1e6) reject("far out");
}
"""


class Normals:
    """BridgeStan's interface for three normal variables, whose generated quantity is random and fails above 1."""

    def param_unc_num(self) -> int:
        return 3

    def param_unc_names(self) -> list[str]:
        return ["a", "b.1", "b.2"]

    def param_names(self, *, include_tp: bool, include_gq: bool) -> list[str]:
        return [*self.param_unc_names(), *["sum"] * include_tp, *["noise"] * include_gq]

    def param_constrain(self, theta_unc: Array, *, include_tp: bool, include_gq: bool, rng: Any) -> Array:
        if include_gq and theta_unc[0] > 1.0:
            raise RuntimeError("normal_rng: scale")
        added = [theta_unc.sum()] * include_tp + ([rng.standard_normal()] if include_gq else [])
        return np.array([*theta_unc, *added])

    def log_density_gradient(self, theta_unc: Array, *, propto: bool, jacobian: bool) -> tuple[float, Array]:
        assert theta_unc.flags.c_contiguous
        assert (propto, jacobian) == (False, True)
        return float(stats.norm.logpdf(theta_unc).sum()), -theta_unc

    def new_rng(self, seed: int) -> Any:
        return np.random.default_rng(seed)


@pytest.fixture(scope="module")
def normals() -> Any:
    return rnshmc.stan.sample(Normals(), draws=400, seed=3, progress_bar=False)


def test_what_fails_alone_is_unknown_alone(normals: Any) -> None:
    found = normals.posterior
    assert set(found.data_vars) == {"a", "b", "sum", "noise"}
    assert found["b"].dims == ("chain", "draw", "b_dim_0")
    np.testing.assert_allclose(found["sum"], found["a"] + found["b"].sum("b_dim_0"), rtol=0, atol=1e-14)
    failed = found["a"].to_numpy() > 1.0
    assert 0.05 < failed.mean() < 0.3
    np.testing.assert_array_equal(np.isnan(found["noise"].to_numpy()), failed)
    assert found.attrs["level"] == "good"


def test_random_numbers_differ_from_draw_to_draw_and_follow_from_the_seed(normals: Any) -> None:
    noise = normals.posterior["noise"].to_numpy()
    known = noise[np.isfinite(noise)]
    assert abs(known.mean()) < z_bound() / np.sqrt(len(known))
    assert len(np.unique(known)) == len(known)
    again = rnshmc.stan.sample(Normals(), draws=400, seed=3, progress_bar=False)
    np.testing.assert_array_equal(again.posterior["noise"], noise)


def test_the_evidence_is_that_of_a_normalised_program() -> None:
    posterior = rnshmc.stan.Posterior(Normals())
    result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, progress_bar=False)
    assert result.names == ("a", "b[1]", "b[2]")
    assert abs(float(result.log_evidence.value)) < z_bound() * float(result.log_evidence.standard_error) + 1e-9


def test_expensive_quantities_are_left_out() -> None:
    posterior = rnshmc.stan.Posterior(Normals(), include_tp=False, include_gq=False)
    assert set(posterior.variables(np.zeros((2, 3)))) == {"a", "b"}
    assert posterior.variables(np.zeros((0, 3)))["b"].shape == (0, 2)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ({"groups": {"y": "predictions"}}, "groups: 'y' is not known; there are a, b, sum, noise"),
        ({"dims": {"y": ["k"]}}, "dims: 'y' is not known; there are a, b, sum, noise"),
        ({"dims": {"b": ["k"]}, "coords": {"k": [1, 2, 3]}}, "coords, dims: they do not fit .* length 2 on the data"),
    ],
)
def test_labels_that_do_not_fit_are_found_before_sampling(
    labels: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rnshmc.stan, "sample_density", lambda *_, **__: pytest.fail("it was sampled"))
    with pytest.raises(rnshmc.ParameterError, match=f"^{message}"):
        rnshmc.stan.sample(Normals(), **labels)


def test_a_program_without_parameters_is_refused() -> None:
    empty = SimpleNamespace(param_unc_num=lambda: 0)
    with pytest.raises(rnshmc.ParameterError, match="model: the Stan program has no parameters"):
        rnshmc.stan.sample(empty)


@pytest.fixture(scope="module")
def compiled() -> Any:
    pytest.importorskip("httpstan", reason="httpstan is not installed")
    from tests.adapters.over_httpstan import StanModel

    return StanModel


def test_constrained_variables_have_their_shapes(compiled: Any, tmp_path: Path) -> None:
    (tmp_path / "shapes.stan").write_text(SHAPES)
    posterior = rnshmc.stan.Posterior(compiled(str(tmp_path / "shapes.stan"), data={}))
    result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, progress_bar=False)
    assert result.verdict.level == "good", result.verdict
    found = result.to_arviz(variables=posterior.variables).posterior
    draws = found.sizes["chain"] * found.sizes["draw"]
    exact = {
        "p": np.array([4, 5, 6]) / 15,
        # Column by column
        "m": np.array([[1, 3, 5], [2, 4, 6]]),
        "a": np.array([[11, 12, 13], [21, 22, 23]]),
        "s": np.array(2.5),
    }
    for name, mean in exact.items():
        values = found[name].to_numpy()
        assert values.shape[2:] == mean.shape
        error = values.std(axis=(0, 1)) / np.sqrt(0.5 * draws)
        assert (np.abs(values.mean(axis=(0, 1)) - mean) < z_bound(16) * error).all(), name
    np.testing.assert_allclose(found["p"].sum("p_dim_0"), 1.0, rtol=1e-12)
    m = found["m"].to_numpy()
    np.testing.assert_allclose(found["twice"], np.stack((m, 2 * m), axis=2), rtol=1e-14)
    np.testing.assert_array_equal(found["turned"], np.swapaxes(m, 2, 3))


def test_the_page_runs(compiled: Any, docs_output: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "bridgestan", SimpleNamespace(StanModel=compiled))
    names, _ = docs_output.run_page(ROOT / "docs/stan.md")
    data, minutes, warmed = names["data"], names["minutes"], names["warmed"]
    draws = data.posterior
    np.testing.assert_allclose(draws["half_time"], np.log(2) / draws["rate"], rtol=1e-14)
    assert draws["curve"].dims == ("chain", "draw", "minute")
    np.testing.assert_allclose(
        draws["curve"], draws["rise"] * (1 - np.exp(-draws["rate"] * draws["minute"])), rtol=1e-10
    )
    expected = stats.norm.logpdf(warmed, draws["curve"], draws["sigma"].to_numpy()[..., None])
    np.testing.assert_allclose(data.log_likelihood["log_lik"], expected, rtol=0, atol=1e-10)
    assert data.posterior_predictive["predicted"].shape == (*draws["rise"].shape, 24)
    # Expectations by quadrature.
    grid = np.meshgrid(
        np.linspace(7.4, 8.6, 61), np.linspace(0.29, 0.42, 61), np.linspace(0.1, 0.4, 61), indexing="ij", sparse=True
    )
    rise, rate, sigma = grid
    misfit = sum((y - rise * (1 - np.exp(-rate * t))) ** 2 for t, y in zip(minutes, warmed, strict=True))
    log_density = -24 * np.log(sigma) - misfit / (2 * sigma**2) - rise**2 / 800 - rate**2 / 2 - sigma**2 / 2
    weights = np.exp(log_density - log_density.max())
    weights /= weights.sum()
    table = names["table"]
    for name, values in (("rise", rise), ("rate", rate), ("sigma", sigma), ("half_time", np.log(2) / rate)):
        row = table.loc[name]
        mean = (weights * values).sum()
        sd = np.sqrt((weights * (values - mean) ** 2).sum())
        # The edges of the grid leave out less than a thousandth of a standard deviation.
        assert abs(row["mean"] - mean) < z_bound(8) * row["mcse_mean"] + 1e-3 * sd, name
        assert abs(row["sd"] - sd) < z_bound(8) * row["mcse_sd"] + 1e-3 * sd, name
        assert row["mcse_mean"] < 0.1 * sd
