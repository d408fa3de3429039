from collections.abc import Callable

import numpy as np
import pytest

from rnshmc.random import stream

dolfinx = pytest.importorskip("dolfinx")

from rnshmc.targets.elliptic import EllipticForwardModel  # noqa: E402
from rnshmc.targets.elliptic_settings import EllipticSettings  # noqa: E402
from rnshmc.types import Array  # noqa: E402

DIM, POINTS = 8, 15


@pytest.fixture(params=["quadrilateral", "triangle"])
def make_model(request: pytest.FixtureRequest) -> Callable[[], EllipticForwardModel]:
    points = stream(1, "linearisation", "points").random((POINTS, 2))
    return lambda: EllipticForwardModel(points, EllipticSettings(cells=8, cell_type=request.param, modes=DIM))


@pytest.fixture
def model(make_model: Callable[[], EllipticForwardModel]) -> EllipticForwardModel:
    return make_model()


def draw(*purpose: str) -> Array:
    theta: Array = 0.5 * stream(1, "linearisation", *purpose).standard_normal(DIM)
    return theta


def jacobian_by_pullbacks(model: EllipticForwardModel, theta: Array) -> Array:
    linearisation = model.linearise(theta)
    return np.array([linearisation.pullback(row) for row in np.eye(POINTS)])


def test_pullback_is_the_transposed_slope_of_the_prediction(
    model: EllipticForwardModel, assert_slope: Callable[..., None]
) -> None:
    theta, direction = draw("pullback"), draw("pullback", "direction")
    slope = jacobian_by_pullbacks(model, theta) @ direction
    # Each solve loses some digits to the condition of the stiffness matrix.
    assert_slope(model.predict, slope, theta, direction, relative_error=1e-12)


def test_jacobian_is_the_slope_of_the_prediction(
    model: EllipticForwardModel, assert_slope: Callable[..., None]
) -> None:
    theta, direction = draw("jacobian"), draw("jacobian", "direction")
    slope = model.linearise(theta).jacobian @ direction
    assert_slope(model.predict, slope, theta, direction, relative_error=1e-12)


def test_tangents_and_adjoints_give_one_jacobian(model: EllipticForwardModel) -> None:
    theta = draw("both")
    jacobian = model.linearise(theta).jacobian
    np.testing.assert_allclose(jacobian, jacobian_by_pullbacks(model, theta), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("mode", range(DIM))
def test_gram_vjp_is_the_slope_of_each_squared_column(
    model: EllipticForwardModel, mode: int, assert_slope: Callable[..., None]
) -> None:
    theta, direction = draw("column"), draw("column", "direction")
    slope = model.linearise(theta).gram_vjp(np.eye(DIM)[:, [mode]]) @ direction

    def squared_column(x: Array) -> float:
        return float(np.sum(model.linearise(x).jacobian[:, mode] ** 2))

    assert_slope(squared_column, slope, theta, direction, relative_error=1e-12)


def test_gram_vjp_depends_on_the_product_of_the_factor_alone(model: EllipticForwardModel) -> None:
    rng = stream(1, "linearisation", "factor")
    factor, rotation = rng.standard_normal((DIM, 3)), np.linalg.qr(rng.standard_normal((3, 3)))[0]
    linearisation = model.linearise(draw("factor"))
    whole = linearisation.gram_vjp(factor)
    np.testing.assert_allclose(linearisation.gram_vjp(factor @ rotation), whole, rtol=1e-11, atol=1e-12)
    by_column = sum(linearisation.gram_vjp(column[:, None]) for column in factor.T)
    np.testing.assert_allclose(by_column, whole, rtol=1e-11, atol=1e-12)


def test_a_linearisation_outlives_the_next(make_model: Callable[[], EllipticForwardModel]) -> None:
    model, fresh = make_model(), make_model()
    theta, w, factor = draw("first"), np.ones(POINTS), np.eye(DIM)
    first = model.linearise(theta)
    model.linearise(draw("second"))
    np.testing.assert_array_equal(first.pullback(w), fresh.linearise(theta).pullback(w))
    model.linearise(draw("third"))
    np.testing.assert_array_equal(first.gram_vjp(factor), fresh.linearise(theta).gram_vjp(factor))


def test_the_last_linearisation_is_kept(model: EllipticForwardModel) -> None:
    theta = draw("kept")
    first = model.linearise(theta)
    assert model.linearise(theta.copy()) is first
    assert model.linearise(draw("other")) is not first
