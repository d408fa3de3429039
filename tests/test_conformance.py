"""What every registered target, surrogate and sampler has to satisfy. A new one without a case here fails."""

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.run.recipes import RECIPES
from rnshmc.run.registry import (
    FITTED_TO_GRADIENTS,
    KERNELS,
    SURROGATES,
    TARGETS,
    VIEWS,
    load,
    load_driver,
    load_surrogate,
    load_target,
)
from rnshmc.run.sample import Chain, sample
from rnshmc.types import Array, Driver, FittedDriver, Potential, RiemannianPotential, Surrogate


def classes(folder: Path) -> Path:
    rng = stream(1, "conformance", "logistic")
    X = rng.normal(size=(40, 3))
    y = (rng.random(40) < 0.4).astype(np.uint8)
    np.savez(folder / "logistic.npz", X=X, y=y, origin="simulated")
    return folder / "logistic.npz"


def logistic(folder: Path) -> Potential:
    return load_target({"kind": "logistic", "prior_sd": 2.0}, classes(folder))


def logistic_laplace(folder: Path) -> Potential:
    return load_target({"kind": "logistic_laplace", "scale": 0.5}, classes(folder))


def garch(folder: Path) -> Potential:
    np.savez(folder / "series.npz", y=stream(1, "conformance", "garch").normal(size=60), origin="simulated")
    return load_target({"kind": "garch", "orders": [2, 1], "prior_sd": 10.0}, folder / "series.npz")


def gp_regression(folder: Path) -> Potential:
    rng = stream(1, "conformance", "gp_regression")
    X = rng.normal(size=(25, 2))
    np.savez(folder / "curve.npz", X=X, y=np.sin(X[:, 0]) + 0.3 * rng.normal(size=25), origin="simulated")
    return load_target({"kind": "gp_regression", "prior_sd": 2.0}, folder / "curve.npz")


def elliptic(folder: Path) -> Potential:
    pytest.importorskip("dolfinx")
    from rnshmc.targets.forward_data import ForwardData

    rng = stream(1, "conformance", "elliptic")
    points = np.array([[0.2, 0.3], [0.5, 0.5], [0.9, 0.4], [0.4, 0.8]])
    nothing = np.full((1, 4), np.nan)
    ForwardData(
        points=points,
        observations=points[:, 0] + 0.1 * rng.normal(size=4),
        observations_clean=nothing[0],
        theta_true=nothing[0, :3],
        prior_theta=nothing[:, :3],
        prior_predictive=nothing,
        noise_sd=0.1,
        prior_sd=0.5,
        origin="user",
    ).save(folder / "elliptic.npz")
    return load_target({"kind": "elliptic", "cells": 6, "modes": 3}, folder / "elliptic.npz")


TARGET_CASES: dict[str, Callable[[Path], Potential]] = {
    "logistic": logistic,
    "elliptic": elliptic,
    "garch": garch,
    "gp_regression": gp_regression,
    "logistic_laplace": logistic_laplace,
}
WITHOUT_METRIC = {"garch", "gp_regression", "logistic_laplace"}
CENTRES = {"garch": np.array([0.3, 0.2, 0.2, 0.3])}
SPREADS = {"garch": 0.02}
"""Where a target is evaluated, if not at standard normal positions: a GARCH model has no density at most of them."""


def positions(name: str, rng: np.random.Generator, dim: int) -> Array:
    """Two positions of a target."""
    return np.asarray(CENTRES.get(name, 0.0) + SPREADS.get(name, 1.0) * rng.normal(size=(2, dim)))


def position_and_direction(name: str, rng: np.random.Generator, dim: int) -> Array:
    """A position, and a direction in which the target has density up to twice its length."""
    position, direction = 0.5 * SPREADS.get(name, 1.0) * rng.normal(size=(2, dim))
    return np.stack((CENTRES.get(name, 0.0) + position, direction))


SURROGATE_CASES: dict[str, dict[str, Any]] = {
    "random_network": {"hidden_units": 30, "ridge": 1e-8},
    "online_network": {"hidden_units": 30, "ridge": 1e-8},
    "rbf_network": {"hidden_units": 60, "ridge": 1e-8},
    "gaussian_process": {},
    "fitc": {"inducing_points": 50},
}
"""Settings that fit a smooth function of two variables well from 200 points."""
GRADIENT_CASES: dict[str, dict[str, Any]] = {"gradient_network": {"hidden_units": 50, "epochs": 200}}
"""The same for those that are fitted to its gradient."""
ROUNDING = {"gaussian_process": 1e-8}
"""Relative rounding errors of a surrogate, where they are not 1e-11: its terms cancel to a small part of their size. A
Gaussian process has a term for each training point, almost without noise here."""
NETWORK = {"hidden_units": 30, "ridge": 1e-6}
SAMPLER_CASES: dict[str, dict[str, Any]] = {
    "hmc": {},
    "rmhmc": {},
    "rns_hmc": {"surrogate": NETWORK},
    "rns_rmhmc": {"surrogate": NETWORK, "options": {"metric": {"shape": "diagonal", "softness": 1.0}}},
    "arns_hmc": {"surrogate": NETWORK, "options": {"offset": 100.0, "exponent": 1.0}},
    "rns_hmc_rbf": {"surrogate": {"hidden_units": 60, "ridge": 1e-6}},
    "gp_hmc": {"surrogate": {"max_evaluations": 30}},
    "fitc_hmc": {"surrogate": {"inducing_points": 40, "max_evaluations": 30}},
    "nng_hmc": {"surrogate": {"hidden_units": 30, "epochs": 10}},
    "sghmc": {"options": {"batch_size": 4, "friction": 1.0}},
    "sghmc_mh": {"options": {"batch_size": 4}},
}
"""Settings of the surrogate's fit and of the kernel, for a target in two dimensions."""


def test_nothing_registered_is_left_out() -> None:
    assert set(TARGET_CASES) == set(TARGETS)
    assert set(SURROGATE_CASES) == set(SURROGATES) - FITTED_TO_GRADIENTS
    assert set(GRADIENT_CASES) == FITTED_TO_GRADIENTS
    assert set(SAMPLER_CASES) == set(RECIPES)
    assert {recipe.kernel for recipe in RECIPES.values()} == set(KERNELS)
    assert {recipe.view for recipe in RECIPES.values()} - {None} == set(VIEWS)


@pytest.mark.parametrize("name", TARGET_CASES)
class TestTarget:
    @pytest.fixture
    def target(self, name: str, tmp_path: Path) -> Potential:
        return TARGET_CASES[name](tmp_path)

    def test_is_a_potential(self, target: Potential) -> None:
        assert isinstance(target, Potential)

    def test_gradient_is_that_of_the_value(
        self, target: Potential, name: str, assert_slope: Callable[..., None]
    ) -> None:
        q, direction = position_and_direction(name, stream(2, name), target.dim)
        assert_slope(target.value, target.gradient(q) @ direction, q, direction)

    def test_value_and_grad_are_value_and_gradient(self, target: Potential, name: str) -> None:
        q = positions(name, stream(3, name), target.dim)[0]
        value, gradient = target.value_and_grad(q)
        assert value == pytest.approx(target.value(q), rel=1e-13)
        np.testing.assert_allclose(gradient, target.gradient(q), rtol=1e-12)

    def test_is_a_function(self, target: Potential, name: str) -> None:
        """An evaluation depends on q alone, and leaves q as it was."""
        q, other = positions(name, stream(4, name), target.dim)
        before = q.copy()
        first = target.value_and_grad(q)
        target.value_and_grad(other)
        second = target.value_and_grad(q)
        assert first[0] == second[0]
        np.testing.assert_array_equal(first[1], second[1])
        np.testing.assert_array_equal(q, before)

    @pytest.mark.parametrize("rank", [1, 3])
    def test_metric_vjp_is_that_of_the_metric(
        self, target: Potential, name: str, rank: int, assert_slope: Callable[..., None]
    ) -> None:
        if name in WITHOUT_METRIC:
            assert not isinstance(target, RiemannianPotential)
            pytest.skip(f"{name} has no metric")
        assert isinstance(target, RiemannianPotential)
        rng = stream(5, name)
        q, direction = position_and_direction(name, rng, target.dim)
        factor = rng.normal(size=(target.dim, rank))

        def contracted(q: Array) -> float:
            return float(np.sum(target.metric(q) * (factor @ factor.T)))

        np.linalg.cholesky(target.metric(q))
        assert_slope(contracted, target.metric_vjp(q, factor) @ direction, q, direction, relative_error=1e-12)

    @pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
    def test_a_position_that_is_not_finite_is_a_numerical_error(self, target: Potential, bad: float) -> None:
        q = np.zeros(target.dim)
        q[-1] = bad
        for evaluate in (target.value, target.gradient, target.value_and_grad):
            with pytest.raises(NumericalError):
                evaluate(q)


@pytest.mark.parametrize("name", SURROGATE_CASES)
class TestSurrogate:
    @pytest.fixture
    def training(self, name: str) -> tuple[Array, Array]:
        q = stream(5, name).normal(size=(200, 2))
        return q, np.sum(np.cosh(0.5 * q), axis=1) + 0.3 * q[:, 0] * q[:, 1] + 7.0

    @pytest.fixture
    def surrogate(self, name: str, training: tuple[Array, Array]) -> Any:
        return load(SURROGATES, name).fit(*training, rng=stream(6, name), **SURROGATE_CASES[name])

    def test_is_a_surrogate(self, surrogate: Any) -> None:
        assert isinstance(surrogate, Surrogate)

    def test_predicts_what_it_was_fitted_to_up_to_a_constant(
        self, surrogate: Any, training: tuple[Array, Array]
    ) -> None:
        q, u = training
        residual = surrogate.predict(q) - u
        assert np.std(residual) < 0.05 * np.std(u)
        assert np.std(residual) == pytest.approx(surrogate.train_residual_sd, rel=1e-6)

    def test_prediction_is_the_value(self, surrogate: Any, name: str, training: tuple[Array, Array]) -> None:
        q = training[0][:5]
        rounding = 100 * ROUNDING.get(name, 1e-11)
        np.testing.assert_allclose(surrogate.predict(q), [surrogate.value(x) for x in q], rtol=rounding)

    def test_gradient_is_that_of_the_value(self, surrogate: Any, name: str, assert_slope: Callable[..., None]) -> None:
        q, direction = np.array([0.3, -0.4]), np.array([0.6, 0.8])
        rounding = ROUNDING.get(name, 1e-11)
        assert_slope(surrogate.value, surrogate.gradient(q) @ direction, q, direction, relative_error=rounding)

    def test_reports_its_fit_ready_for_json(self, surrogate: Any) -> None:
        report = json.loads(json.dumps(surrogate.report(), allow_nan=False))
        assert report["train_residual_sd"] == surrogate.train_residual_sd

    def test_value_and_grad_are_value_and_gradient(self, surrogate: Any) -> None:
        q = np.array([0.3, -0.4])
        value, gradient = surrogate.value_and_grad(q)
        assert value == pytest.approx(surrogate.value(q), rel=1e-13)
        np.testing.assert_allclose(gradient, surrogate.gradient(q), rtol=1e-12)

    def test_comes_back_from_disk_as_it_was(self, surrogate: Any, name: str, tmp_path: Path) -> None:
        surrogate.save(tmp_path / "surrogate.npz")
        back: Driver = load_surrogate({"type": name}, tmp_path / "surrogate.npz")
        q = np.array([0.3, -0.4])
        np.testing.assert_array_equal(back.gradient(q), surrogate.gradient(q))


@pytest.mark.parametrize("name", GRADIENT_CASES)
class TestSurrogateOfGradients:
    @pytest.fixture
    def training(self, name: str) -> tuple[Array, Array]:
        q = stream(5, name).normal(size=(500, 2))
        return q, 0.5 * np.sinh(0.5 * q) + 0.3 * q[:, ::-1]

    @pytest.fixture
    def driver(self, name: str, training: tuple[Array, Array]) -> Any:
        return load(SURROGATES, name).fit(*training, rng=stream(6, name), **GRADIENT_CASES[name])

    def test_is_a_driver_and_no_potential(self, driver: Any) -> None:
        assert isinstance(driver, FittedDriver)
        assert not isinstance(driver, Potential)

    def test_gives_the_gradients_that_it_was_fitted_to(self, driver: Any, training: tuple[Array, Array]) -> None:
        q, gradients = training
        found = np.stack([driver.gradient(x) for x in q])
        assert np.all(np.std(found - gradients, axis=0) < 0.05 * np.std(gradients, axis=0))

    def test_reports_its_fit_ready_for_json(self, driver: Any) -> None:
        assert json.loads(json.dumps(driver.report(), allow_nan=False)) == driver.report()

    def test_comes_back_from_disk_as_it_was(self, driver: Any, name: str, tmp_path: Path) -> None:
        driver.save(tmp_path / "driver.npz")
        back = load_driver({"type": name}, tmp_path / "driver.npz")
        q = np.array([0.3, -0.4])
        np.testing.assert_array_equal(back.gradient(q), driver.gradient(q))

    def test_is_refused_where_a_value_is_needed(self, driver: Any, name: str, tmp_path: Path) -> None:
        driver.save(tmp_path / "driver.npz")
        with pytest.raises(ParameterError, match=f"'{name}' is a driver and no potential"):
            load_surrogate({"type": name}, tmp_path / "driver.npz")


class Shifted:
    """A gradient with an error that is the same everywhere."""

    dim = 2

    def __init__(self, driver: Driver, error: Array) -> None:
        self.driver = driver
        self.error = error

    def gradient(self, q: Array) -> Array:
        return self.driver.gradient(q) + self.error


class LogGamma:
    """Skewed and correlated: q = (z_1, z_2 + z_1 / 2), z_i = log of a Gamma(3, 1) variable."""

    dim = 2
    shape = 3.0
    unshear = np.array([[1.0, 0.0], [-0.5, 1.0]])

    def value(self, q: Array) -> float:
        z = self._log_gammas(q)
        return float(np.sum(np.exp(z) - self.shape * z))

    def gradient(self, q: Array) -> Array:
        return np.asarray(self.unshear.T @ (np.exp(self._log_gammas(q)) - self.shape))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)

    def minibatch(self, rng: np.random.Generator, size: int) -> Driver:
        return Shifted(self, rng.normal(size=2) / math.sqrt(size))

    def metric(self, q: Array) -> Array:
        weights = 1.0 + np.exp(self._log_gammas(q))
        return np.asarray(self.unshear.T @ np.diag(weights) @ self.unshear)

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        weights = np.exp(self._log_gammas(q)) * ((self.unshear @ factor) ** 2).sum(axis=1)
        return np.asarray(self.unshear.T @ weights)

    def _log_gammas(self, q: Array) -> Array:
        return np.asarray(self.unshear @ q)


MEAN = 0.9227843350984671
"""digamma(3)."""
VARIANCE = 0.39493406684822646
"""trigamma(3)."""


@pytest.mark.parametrize("name", SAMPLER_CASES)
class TestSampler:
    def run(self, name: str, chain: int = 1, iterations: int = 3000) -> Chain:
        return sample(
            LogGamma(),
            sampler=name,
            start=np.zeros(2),
            step_size=0.35,
            n_steps=(1, 6),
            iterations=iterations,
            explore_iterations=600,
            discard=100,
            seed=8,
            chain=chain,
            **SAMPLER_CASES[name],
        )

    def test_samples_the_posterior(self, name: str) -> None:
        if not RECIPES[name].exact:
            pytest.skip(f"{name} samples an approximation: tests/kernels/test_sghmc.py compares it with its own law")
        chains = np.stack([self.run(name, chain).sampling.draws for chain in (1, 2)])
        z = np.stack([chains[..., 0], chains[..., 1] - 0.5 * chains[..., 0]], axis=-1)
        features = np.concatenate([z, (z - MEAN) ** 2], axis=-1)
        error = summarise(features).mcse_mean
        exact = np.array([MEAN, MEAN, VARIANCE, VARIANCE])
        assert np.all(np.abs(features.mean(axis=(0, 1)) - exact) < 4 * error)
        assert np.all(error < 0.05 * math.sqrt(VARIANCE)), "too few draws for the test to fail"

    def test_the_same_seed_gives_the_same_bytes(self, name: str) -> None:
        first, second, other = self.run(name, iterations=50), self.run(name, iterations=50), self.run(name, 2, 50)
        assert first.sampling.draws.tobytes() == second.sampling.draws.tobytes()
        assert first.sampling.draws.tobytes() != other.sampling.draws.tobytes()

    def test_samplers_share_an_exploration(self, name: str) -> None:
        mine, hmcs = self.run(name, iterations=1).exploration, self.run("hmc", iterations=1).exploration
        assert mine.draws.tobytes() == hmcs.draws.tobytes()

    def test_the_exact_potential_decides_once_and_the_driver_drives(self, name: str) -> None:
        stats = self.run(name, iterations=50).sampling.stats
        recipe = RECIPES[name]
        assert np.all(stats["values"] == (~stats["solver_failed"] if recipe.exact else 0))
        counts = {"gradients", "surrogate_gradients", "minibatch_gradients"}
        mine = (
            "surrogate_gradients" if recipe.surrogate else "minibatch_gradients" if recipe.minibatches else "gradients"
        )
        assert np.all((stats[mine] >= stats["n_steps"]) | stats["solver_failed"])
        for others in counts - {mine}:
            np.testing.assert_array_equal(stats[others], 0)
