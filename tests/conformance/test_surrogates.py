"""Requirements on every registered surrogate. A new one without a case here fails."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.registry import (
    FITTED_TO_GRADIENTS,
    SURROGATES,
    load,
    load_driver,
    load_surrogate,
)
from rnshmc.types import Array, Driver, FittedDriver, Potential, Surrogate

EPS = float(np.finfo(np.float64).eps)

SURROGATE_CASES: dict[str, dict[str, Any]] = {
    "random_network": {"hidden_units": 30, "ridge": 1e-4},
    "online_network": {"hidden_units": 30, "ridge": 1e-4},
    "rbf_network": {"hidden_units": 60, "ridge": 1e-4},
    "gaussian_process": {},
    "fitc": {"inducing_points": 50},
}
"""Settings that fit a smooth function of two variables well from 200 points."""
GRADIENT_CASES: dict[str, dict[str, Any]] = {"gradient_network": {"hidden_units": 50, "epochs": 200}}
"""The same for those that are fitted to its gradient."""


def terms_of_softplus(surrogate: Any) -> float:
    """A unit is at most 1 + |w| |q| + |d|, and no state here is longer than 4."""
    return float(np.abs(surrogate.output_weights) @ (1 + 4 * norms(surrogate.weights) + np.abs(surrogate.biases)))


def terms_of_bumps(surrogate: Any) -> float:
    """A unit is at most 1, and its exponent a difference of squares."""
    exponents = norms(surrogate.centres) ** 2 / surrogate.squared_widths
    return float(np.abs(surrogate.output_weights) @ (1 + exponents))


def terms_of_covariances(surrogate: Any) -> float:
    return float(np.abs(surrogate.weights).sum() * surrogate.amplitude**2)


def norms(columns: Array) -> Array:
    return np.asarray(np.linalg.norm(columns, axis=0))


TERMS: dict[str, Callable[[Any], float]] = {
    "random_network": terms_of_softplus,
    "online_network": lambda surrogate: terms_of_softplus(surrogate.network()),
    "rbf_network": terms_of_bumps,
    "gaussian_process": terms_of_covariances,
    "fitc": terms_of_covariances,
}
"""Sum of the terms of a surrogate without their signs. They cancel; rounding errors of its value are eps times this."""


def test_no_surrogate_is_left_out() -> None:
    assert set(SURROGATE_CASES) == set(TERMS) == set(SURROGATES) - FITTED_TO_GRADIENTS
    assert set(GRADIENT_CASES) == FITTED_TO_GRADIENTS


@pytest.mark.parametrize("name", SURROGATE_CASES)
class TestSurrogate:
    @pytest.fixture
    def training(self, name: str) -> tuple[Array, Array]:
        """With a little noise: without any, the terms of a Gaussian process are 1e8 times their sum."""
        rng = stream(5, name)
        q = rng.normal(size=(200, 2))
        return q, np.sum(np.cosh(0.5 * q), axis=1) + 0.3 * q[:, 0] * q[:, 1] + 7.0 + 0.01 * rng.normal(size=200)

    @pytest.fixture
    def rounding(self, surrogate: Any, name: str) -> float:
        """Rounding errors of a value."""
        return 10 * EPS * TERMS[name](surrogate)

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

    def test_prediction_is_the_value(self, surrogate: Any, rounding: float, training: tuple[Array, Array]) -> None:
        q = training[0][:20]
        np.testing.assert_allclose(surrogate.predict(q), [surrogate.value(x) for x in q], rtol=0, atol=rounding)

    def test_gradient_is_that_of_the_value(
        self, surrogate: Any, rounding: float, assert_slope: Callable[..., None]
    ) -> None:
        q, direction = np.array([0.3, -0.4]), np.array([0.6, 0.8])
        relative_error = rounding / abs(surrogate.value(q))
        assert_slope(surrogate.value, surrogate.gradient(q) @ direction, q, direction, relative_error=relative_error)

    def test_reports_its_fit_ready_for_json(self, surrogate: Any) -> None:
        report = json.loads(json.dumps(surrogate.report(), allow_nan=False))
        assert report["train_residual_sd"] == surrogate.train_residual_sd

    def test_value_and_grad_are_value_and_gradient(self, surrogate: Any, rounding: float) -> None:
        q = np.array([0.3, -0.4])
        value, gradient = surrogate.value_and_grad(q)
        assert value == pytest.approx(surrogate.value(q), rel=0, abs=rounding)
        # No term is steeper than it is large.
        np.testing.assert_allclose(gradient, surrogate.gradient(q), rtol=0, atol=rounding)

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
        with pytest.raises(ParameterError, match=f"'{name}' is a driver without a value, not a potential"):
            load_surrogate({"type": name}, tmp_path / "driver.npz")
