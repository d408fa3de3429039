"""Requirements on every registered target. A new one without a case here fails."""

import math
import threading
from collections.abc import Callable
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import NumericalError
from rnshmc.random import stream
from rnshmc.run.registry import (
    TARGETS,
    load_target,
)
from rnshmc.types import Array, Potential, RiemannianPotential
from tests.inference.test_umbridge import Server


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


def elliptic(folder: Path, kind: str = "elliptic") -> Potential:
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
    return load_target({"kind": kind, "cells": 6, "modes": 3}, folder / "elliptic.npz")


def python(folder: Path) -> Potential:
    model = "import numpy as np\nfrom rnshmc.targets.gaussian import Gaussian\n"
    model += "def posterior():\n    return Gaussian(np.zeros(2), np.array([[1.0, 0.3], [0.3, 2.0]]))\n"
    (folder / "conforming.py").write_text(model)
    entry = {"kind": "python", "path": str(folder / "conforming.py"), "make": "posterior", "digest": ""}
    return load_target(entry, folder)


def umbridge(folder: Path) -> Potential:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}"
    prior = {"mean": 0.0, "sd": 2.0}
    entry = {"kind": "umbridge", "url": url, "model": "forward", "data": [1.0, 0.5, -0.5], "noise_sd": 0.5}
    return load_target({**entry, "prior": prior}, folder)


TARGET_CASES: dict[str, Callable[[Path], Potential]] = {
    "logistic": logistic,
    "elliptic": elliptic,
    "elliptic_full_jacobian": partial(elliptic, kind="elliptic_full_jacobian"),
    "garch": garch,
    "gp_regression": gp_regression,
    "logistic_laplace": logistic_laplace,
    "python": python,
    "umbridge": umbridge,
}
WITHOUT_METRIC = {"garch", "gp_regression", "logistic_laplace", "umbridge"}
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


def test_no_target_is_left_out() -> None:
    assert set(TARGET_CASES) == set(TARGETS)


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
        """An evaluation depends only on q, and does not change q."""
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
