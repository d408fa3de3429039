"""NumPyro's models: sampled in their unconstrained coordinates, and returned with their sites."""

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from scipy import stats

import rnshmc
from rnshmc.types import Array
from tests.conftest import z_bound

numpyro = pytest.importorskip("numpyro", reason="numpyro is not installed")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpyro.distributions as dist  # noqa: E402

ROOT = Path(__file__).parents[2]
COUNTS = np.array([4, 6, 5])


def counting(counts: Any) -> None:
    """Gamma posteriors: rates of Poisson counts with gamma priors, and a total of them."""
    with numpyro.plate("site", 3):
        rates = numpyro.sample("rates", dist.Gamma(2.0, 1.0))
        numpyro.sample("counts", dist.Poisson(rates), obs=counts)
    numpyro.deterministic("total", rates.sum())
    numpyro.sample("another", dist.Normal(3.0, 0.5))


def log_gamma(z: Array) -> float:
    """Log density of the model in its unconstrained coordinates: another, then logarithms of rates."""
    rates = np.exp(z[1:])
    logs = stats.gamma(2).logpdf(rates) + stats.poisson(rates).logpmf(COUNTS) + z[1:]
    return float(logs.sum() + stats.norm(3.0, 0.5).logpdf(z[0]))


@pytest.fixture(scope="module")
def posterior() -> Any:
    import rnshmc.numpyro as adapter

    return adapter.Posterior(counting, (COUNTS,))


@pytest.fixture(scope="module")
def data() -> Any:
    import rnshmc.numpyro as adapter

    return adapter.sample(counting, (COUNTS,), draws=400, coords={"site": ["a", "b", "c"]}, progress_bar=False)


def test_the_density_is_the_models_in_doubles_with_all_its_constants(posterior: Any, assert_slope: Any) -> None:
    assert posterior.names == ("another", "rates[0]", "rates[1]", "rates[2]")
    x, direction = np.array([2.8, 1.5, 1.0, 0.3]), np.array([-0.2, 0.5, -1.0, 0.3])
    value, slope = posterior(x)
    # Single precision would be off by 1e-6.
    assert value == pytest.approx(log_gamma(x), rel=1e-12)
    assert_slope(lambda q: posterior(q)[0], slope @ direction, x, direction)


def test_draws_of_the_priors_are_the_scale(posterior: Any) -> None:
    sd = posterior.scale.std(axis=0)
    # The logarithm of a gamma variable of shape 2 has variance trigamma(2) and kurtosis below 5.
    exact = np.array([0.5, *[np.sqrt(np.pi**2 / 6 - 1)] * 3])
    assert (np.abs(sd / exact - 1) < z_bound(4) * np.sqrt(4 / 4 / 400)).all()
    assert np.isfinite(posterior.x0).all()


def test_sites_are_those_of_the_posterior(data: Any) -> None:
    shape = 2 + COUNTS
    draws = data.posterior["rates"].to_numpy().reshape(-1, 3)
    assert (np.abs(draws.mean(axis=0) - shape / 2) < z_bound(6) * np.sqrt(shape) / 2 / np.sqrt(400)).all()
    error = shape / 4 * np.sqrt((2 + 6 / shape) / 400)
    assert (np.abs(draws.var(axis=0) - shape / 4) < z_bound(6) * error).all()
    assert float(data.posterior.attrs["gradients"]) > 0


def test_it_is_laid_out_as_by_arviz(data: Any) -> None:
    assert set(data.posterior.data_vars) == {"rates", "total", "another"}
    assert data.posterior["rates"].dims == ("chain", "draw", "site")
    assert list(data.posterior["site"].to_numpy()) == ["a", "b", "c"]
    np.testing.assert_allclose(data.posterior["total"], data.posterior["rates"].sum("site"), rtol=1e-12)
    assert data.observed_data["counts"].dims == ("site",)
    np.testing.assert_array_equal(data.observed_data["counts"], COUNTS)


def test_plates_are_dims_from_left_to_right() -> None:
    import rnshmc.numpyro as adapter

    def crossed() -> None:
        with numpyro.plate("z", 2, dim=-2), numpyro.plate("a", 3, dim=-1):
            numpyro.sample("effects", dist.Normal())

    posterior = adapter.Posterior(crossed)
    assert posterior.names[1] == "effects[0, 1]"
    result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, draws=40, progress_bar=False)
    assert posterior.inference_data(result).posterior["effects"].dims == ("chain", "draw", "z", "a")


def test_the_table_is_corrected_and_the_evidence_is_the_models(posterior: Any) -> None:
    result = rnshmc.sample(posterior, posterior.x0, names=posterior.names, scale=posterior.scale, progress_bar=False)
    table = result.summary(variables=posterior.variables)
    assert set(table.index) == {"another", "rates[0]", "rates[1]", "rates[2]", "total"}
    total = table.loc["total"]
    assert abs(total["mean"] - (2 + COUNTS).sum() / 2) < z_bound(2) * total["mcse_mean"]
    # Counts under a gamma prior are negative binomial.
    exact = stats.nbinom(2, 0.5).logpmf(COUNTS).sum()
    assert abs(float(result.log_evidence.value) - exact) < z_bound(2) * float(result.log_evidence.standard_error)
    assert posterior.variables(np.zeros((0, 4)))["rates"].shape == (0, 3)


def test_a_flat_prior_has_no_scale() -> None:
    import rnshmc.numpyro as adapter

    def flat() -> None:
        level = numpyro.sample("level", dist.ImproperUniform(dist.constraints.real, (), ()))
        numpyro.sample("y", dist.Normal(level, 1.0), obs=1.0)

    assert adapter.Posterior(flat).scale is None


def test_only_missing_data_behind_a_mask_are_parameters() -> None:
    import rnshmc.numpyro as adapter

    observed = np.array([1.0, 2.0, 0.0, 0.5])

    def model(mask: Any) -> None:
        mu = numpyro.sample("mu", dist.Normal())
        with numpyro.plate("n", 4):
            numpyro.sample("y", dist.Normal(mu, 0.5), obs=observed, obs_mask=mask)

    present = np.array([True, True, False, True])
    posterior = adapter.Posterior(model, (present,))
    assert posterior.names == ("mu", "y_unobserved[2]")
    x = np.array([0.3, -0.4])
    complete = np.where(present, observed, x[1])
    exact = stats.norm.logpdf(x[0]) + stats.norm(x[0], 0.5).logpdf(complete).sum()
    value, slope = posterior(x)
    assert value == pytest.approx(exact, rel=1e-12)
    np.testing.assert_allclose(slope, [-x[0] + 4 * (complete - x[0]).sum(), -4 * (x[1] - x[0])], rtol=1e-10)
    # Of a normal prior at mu = 0, in both coordinates: its sample variance has a relative error of sqrt(2 / n).
    error = z_bound(2) * np.sqrt(2 / 400)
    assert posterior.scale is not None
    assert (np.abs(posterior.scale.var(axis=0) / [1.0, 0.25] - 1) < error).all()
    np.testing.assert_array_equal(posterior.variables(x[None])["y"][0], complete)
    assert adapter.Posterior(model, (np.ones(4, dtype=bool),)).names == ("mu",)


def test_a_mask_of_events_is_one_of_all_their_entries() -> None:
    import rnshmc.numpyro as adapter

    def model() -> None:
        with numpyro.plate("b", 2, dim=-2), numpyro.plate("a", 2, dim=-1):
            weights = dist.Dirichlet(jnp.ones(3))
            numpyro.sample("y", weights, obs=jnp.full((2, 2, 3), 1 / 3), obs_mask=jnp.array([True, False]))

    names = ("y_unobserved[0, 1, 0]", "y_unobserved[0, 1, 1]", "y_unobserved[1, 1, 0]", "y_unobserved[1, 1, 1]")
    assert adapter.Posterior(model).names == names


def test_missing_counts_are_refused() -> None:
    import rnshmc.numpyro as adapter

    def model() -> None:
        rate = numpyro.sample("rate", dist.Gamma(1.0, 1.0))
        numpyro.sample("y", dist.Poisson(rate), obs=jnp.array([1, 0]), obs_mask=jnp.array([True, False]))

    with pytest.raises(rnshmc.ParameterError, match=r"model: it has discrete sites .* leave missing counts out"):
        adapter.Posterior(model)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            {"coords": {"site": ["a", "b"]}},
            "coords, dims: they do not fit .* 'site': length 3 on the data but length 2",
        ),
        ({"coords": 5}, "coords, dims: they do not fit the variables: "),
        ({"dims": {"rates": ["a", "b"]}}, r"dims: expected at most 1 names in a list for 'rates', got \['a', 'b'\]"),
        ({"dims": {"rates": "site"}}, "dims: expected at most 1 names in a list for 'rates', got 'site'"),
        ({"dims": {"rate": ["site"]}}, "dims: 'rate' is not known; there are another, rates, total, counts"),
    ],
)
def test_labels_that_do_not_fit_are_found_before_sampling(
    labels: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    import rnshmc.numpyro as adapter

    monkeypatch.setattr(adapter, "sample_density", lambda *_, **__: pytest.fail("it was sampled"))
    with pytest.raises(rnshmc.ParameterError, match=f"^{message}"):
        adapter.sample(counting, (COUNTS,), **labels)


@pytest.mark.parametrize("trouble", [OSError("disk full"), KeyboardInterrupt()])
def test_a_conversion_that_fails_has_the_result(trouble: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    import rnshmc.numpyro as adapter

    def fail(*_: Any, **__: Any) -> None:
        raise trouble

    monkeypatch.setattr(adapter.Posterior, "inference_data", fail)
    with pytest.raises(
        rnshmc.ConversionError, match=f"the draws could not be converted: {type(trouble).__name__}"
    ) as one:
        adapter.sample(counting, (COUNTS,), draws=40, progress_bar=False)
    assert one.value.result.draws.shape == (40, 4)


def test_a_model_without_latent_sites_is_refused() -> None:
    import rnshmc.numpyro as adapter

    with pytest.raises(rnshmc.ParameterError, match="model: it has no continuous latent site"):
        adapter.Posterior(lambda: numpyro.sample("y", dist.Normal(0.0, 1.0), obs=1.0))


def test_callbacks_in_single_precision_are_refused() -> None:
    import rnshmc.numpyro as adapter

    def model() -> None:
        level = numpyro.sample("level", dist.Normal())
        square = jax.pure_callback(np.square, jax.ShapeDtypeStruct((), level.dtype), level)
        numpyro.sample("y", dist.Normal(square), obs=jnp.ones(()))

    with pytest.raises(rnshmc.ParameterError, match="model: its callbacks are in single precision; call numpyro"):
        adapter.Posterior(model)


@pytest.fixture
def doubles_restored() -> Iterator[None]:
    yield
    numpyro.enable_x64(False)


@pytest.mark.usefixtures("doubles_restored")
def test_the_page_runs_with_a_black_box(docs_output: ModuleType) -> None:
    names, _ = docs_output.run_page(ROOT / "docs/numpyro.md")
    data = names["data"]
    assert data.posterior.attrs["gradients"] == 0
    assert data.posterior.attrs["level"] == "good"
    assert list(data.posterior["parameter"].to_numpy()) == ["rise", "rate"]
    assert data.observed_data["warmed"].dims == ("minute",)
    rate = data.posterior["x"].sel(parameter="rate")
    np.testing.assert_allclose(data.posterior["half_time"], np.log(2) / rate, rtol=1e-12)
    # The data were made with log(2) / 0.35 = 1.98 minutes; the posterior is 0.05 wide.
    assert abs(float(data.posterior["half_time"].mean()) - np.log(2) / 0.35) < 5 * 0.05
    assert names["predicted"].shape == (2000, 24)
