from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream

dolfinx = pytest.importorskip("dolfinx")

from rnshmc.targets.elliptic import (  # noqa: E402
    EllipticForwardModel,
    EllipticInverseProblem,
    boundary_pressure,
    from_file,
)
from rnshmc.targets.elliptic_settings import EllipticSettings  # noqa: E402
from rnshmc.targets.forward_data import ForwardData  # noqa: E402
from rnshmc.types import Array, RiemannianPotential  # noqa: E402

CELL_TYPES = ("quadrilateral", "triangle")
DIM = 12
NOISE_SD, PRIOR_SD = 0.1, 0.5


def sensors() -> Array:
    side = np.linspace(0.0, 1.0, 6)
    points: Array = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    return points


def small(cell_type: str) -> EllipticSettings:
    return EllipticSettings(cells=10, cell_type=cell_type, modes=DIM)


def observations() -> Array:
    noise: Array = NOISE_SD * stream(1, "elliptic", "noise").standard_normal(36)
    return boundary_pressure(*sensors().T) + noise


def position(*purpose: str) -> Array:
    theta: Array = PRIOR_SD * stream(1, "elliptic", "position", *purpose).standard_normal(DIM)
    return theta


@pytest.fixture(params=CELL_TYPES)
def target(request: pytest.FixtureRequest) -> EllipticInverseProblem:
    return EllipticInverseProblem(
        sensors(), observations(), noise_sd=NOISE_SD, prior_sd=PRIOR_SD, settings=small(request.param)
    )


def test_it_is_a_potential_with_a_metric(target: EllipticInverseProblem) -> None:
    assert isinstance(target, RiemannianPotential)
    assert target.dim == DIM


@pytest.mark.parametrize("place", ["a", "b", "c"])
def test_gradient_is_the_slope_of_the_potential(
    target: EllipticInverseProblem, place: str, assert_slope: Callable[..., None]
) -> None:
    q, direction = position(place), position(place, "direction")
    # Each solve loses some digits to the condition of the stiffness matrix.
    assert_slope(target.value, target.gradient(q) @ direction, q, direction, relative_error=1e-12)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_metric_is_the_gram_matrix_of_the_jacobian_plus_the_prior_precision(cell_type: str) -> None:
    """The metric comes from tangent solves, the Jacobian here from adjoint ones."""
    target = EllipticInverseProblem(sensors(), observations(), noise_sd=0.2, prior_sd=0.7, settings=small(cell_type))
    q = position("gram")
    linearisation = EllipticForwardModel(sensors(), small(cell_type)).linearise(q)
    jacobian = np.array([linearisation.pullback(row) for row in np.eye(36)])
    expected = jacobian.T @ jacobian / 0.2**2 + np.eye(DIM) / 0.7**2
    np.testing.assert_allclose(target.metric(q), expected, rtol=0, atol=1e-12 * np.abs(expected).max())


def test_metric_is_symmetric_and_at_least_the_prior_precision(target: EllipticInverseProblem) -> None:
    metric = target.metric(position("positive"))
    np.testing.assert_array_equal(metric, metric.T)
    assert np.linalg.eigvalsh(metric)[0] > (1.0 - 1e-10) / PRIOR_SD**2


@pytest.mark.parametrize("rank", [1, 3, 20])
def test_metric_vjp_is_the_slope_of_the_contracted_metric(
    target: EllipticInverseProblem, rank: int, assert_slope: Callable[..., None]
) -> None:
    q, direction = position("curvature"), position("curvature", "direction")
    factor = stream(1, "elliptic", "factor", str(rank)).standard_normal((DIM, rank))
    slope = target.metric_vjp(q, factor) @ direction
    contracted = lambda x: np.sum(target.metric(x) * (factor @ factor.T))  # noqa: E731
    assert_slope(contracted, slope, q, direction, relative_error=1e-12)


def test_metric_and_its_slope_depend_on_the_position_alone(target: EllipticInverseProblem) -> None:
    """They do not depend on earlier evaluations or the cache."""
    q, elsewhere = position("function"), position("elsewhere")
    factor = stream(1, "elliptic", "factor").standard_normal((DIM, 2))
    metric, slope, gradient = target.metric(q), target.metric_vjp(q, factor), target.gradient(q)
    for other in (target.value, target.metric, lambda x: target.metric_vjp(x, factor)):
        other(elsewhere)
        np.testing.assert_array_equal(target.metric_vjp(q, factor), slope)
        other(elsewhere)
        np.testing.assert_array_equal(target.gradient(q), gradient)
        np.testing.assert_array_equal(target.metric(q), metric)


def test_a_position_overwritten_in_place_is_another(target: EllipticInverseProblem) -> None:
    q = position("in place")
    before = target.metric(q)
    q += 0.1
    assert np.abs(target.metric(q) - before).max() > 1e-3


def test_what_is_asked_of_one_position_shares_its_solves(
    target: EllipticInverseProblem, monkeypatch: pytest.MonkeyPatch
) -> None:
    solver, solves = target.model._solver, []
    solve = solver.solve

    def counted(load: Array) -> Array:
        solves.append(load)
        return solve(load)

    monkeypatch.setattr(solver, "solve", counted)
    q = position("shared")
    for evaluate, expected in (
        (target.metric, 1 + DIM),  # forward and tangents
        (lambda x: target.metric_vjp(x, np.eye(DIM)), DIM),  # adjoints
        (lambda x: target.metric_vjp(x, np.ones((DIM, 1))), 0),
        (target.gradient, 1),  # adjoint of the misfit
        (target.metric, 0),
    ):
        solves.clear()
        evaluate(q)
        assert len(solves) == expected


def test_value_and_gradient_alone_or_together_are_the_same_bytes(target: EllipticInverseProblem) -> None:
    q = position("together")
    value, gradient = target.value_and_grad(q)
    target.value(position("elsewhere"))
    assert target.value(q) == value
    np.testing.assert_array_equal(target.gradient(q), gradient)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_potential_is_the_sum_of_misfit_and_prior(cell_type: str) -> None:
    q = position("sum")
    prediction = EllipticForwardModel(sensors(), small(cell_type)).predict(q)
    target = EllipticInverseProblem(sensors(), prediction + 0.3, noise_sd=0.2, prior_sd=0.7, settings=small(cell_type))
    expected = 36 * 0.3**2 / (2 * 0.2**2) + q @ q / (2 * 0.7**2)
    assert target.value(q) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("cell_type", CELL_TYPES)
def test_constant_diffusion_gives_the_separated_solution(cell_type: str) -> None:
    """At theta = 0, u is a cosine series: x1 - 1/2 = -sum over odd k of 4 cos(k pi x1) / (k pi)^2."""
    x1, x2 = np.array([0.2, 0.5, 0.8, 0.4]), np.array([0.5, 0.7, 0.2, 0.3])
    k = np.pi * np.arange(1, 100, 2)[:, None]
    profile = np.sinh(k * (0.5 - x2)) / np.sinh(k / 2)
    exact = 0.5 - np.sum(4.0 * np.cos(k * x1) / k**2 * profile, axis=0)

    def error(cells: int) -> float:
        model = EllipticForwardModel(np.column_stack([x1, x2]), EllipticSettings(cells, cell_type, modes=1))
        return float(np.linalg.norm(model.predict(np.zeros(1)) - exact))

    assert np.log2(error(20) / error(40)) == pytest.approx(2.0, abs=0.25)


def test_cell_types_agree_on_the_pressure_of_one_field() -> None:
    """Between the first modes of the two meshes there is the quadrature error of the kernel only."""
    theta = np.array([0.7])
    one, other = (
        EllipticForwardModel(sensors(), EllipticSettings(30, kind, modes=1)).predict(theta) for kind in CELL_TYPES
    )
    assert np.abs(one - other).max() < 2e-3
    assert np.abs(one - EllipticForwardModel(sensors(), EllipticSettings(30, modes=1)).predict(-theta)).max() > 2e-2


def test_results_are_the_same_bytes_for_any_number_of_threads() -> None:
    def gradient(threads: int) -> bytes:
        with threadpool_limits(threads, user_api="blas"):
            target = EllipticInverseProblem(sensors(), observations())
            return target.gradient(np.resize(position("threads"), target.dim)).tobytes()

    assert gradient(1) == gradient(2)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e6])
def test_field_that_overflows_is_a_numerical_error(target: EllipticInverseProblem, bad: float) -> None:
    q = position("overflow")
    before = target.value(q)
    rough = q.copy()
    rough[0] = bad
    metric_vjp = lambda x: target.metric_vjp(x, np.eye(DIM))  # noqa: E731
    for evaluate in (target.value, target.gradient, target.value_and_grad, target.metric, metric_vjp):
        with pytest.raises(NumericalError):
            evaluate(rough)
    assert target.value(q) == before


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_slope_of_the_metric_that_overflows_is_a_numerical_error(target: EllipticInverseProblem, bad: float) -> None:
    with pytest.raises(NumericalError, match="derivative of the elliptic problem's metric"):
        target.metric_vjp(position("factor"), np.full((DIM, 1), bad))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"modes": 0}, "modes must be an integer of at least 1, got 0"),
        ({"modes": 101, "cells": 10}, "modes must be at most 100, got 101"),
        ({"cells": 2.5}, "cells must be an integer of at least 1, got 2.5"),
        ({"length_scale": 0.0}, "length_scale must be a positive number, got 0.0"),
        ({"variance": "big"}, "variance must be a positive number, got 'big'"),
        ({"cell_type": "hexagon"}, "cell_type must be one of quadrilateral, triangle, got 'hexagon'"),
        ({"solver": "lu"}, "solver must be one of direct, multigrid, got 'lu'"),
        ({"cell": 30}, "cell: no such setting; there are cells, cell_type"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], message: str, forward_file: Path) -> None:
    with pytest.raises(ParameterError, match=message):
        from_file(forward_file, **settings)


@pytest.mark.parametrize("key", ["noise_sd", "prior_sd"])
def test_standard_deviations_are_positive(key: str) -> None:
    with pytest.raises(ParameterError, match=f"{key} must be a positive number, got -1"):
        EllipticInverseProblem(sensors(), observations(), **{key: -1.0})  # type: ignore[arg-type]


def test_sensor_outside_the_domain_is_an_error() -> None:
    points = sensors()
    points[4] = [1.5, 0.5]
    with pytest.raises(ParameterError, match=r"points\[4\] = \(1\.5, 0\.5\)"):
        EllipticInverseProblem(points, observations())


def forward_data(**changes: object) -> ForwardData:
    entries = {
        "points": sensors(),
        "observations": observations(),
        "observations_clean": boundary_pressure(*sensors().T),
        "theta_true": np.zeros(DIM),
        "prior_theta": np.zeros((1, DIM)),
        "prior_predictive": np.zeros((1, 36)),
        "noise_sd": NOISE_SD,
        "prior_sd": PRIOR_SD,
        "origin": "simulated",
    }
    return ForwardData(**{**entries, **changes})  # type: ignore[arg-type]


@pytest.fixture
def forward_file(tmp_path: Path) -> Path:
    path = tmp_path / "pde.npz"
    forward_data().save(path)
    return path


def test_from_file_is_the_posterior_of_the_stored_observations(forward_file: Path) -> None:
    q = position("file")
    target = EllipticInverseProblem(
        sensors(), observations(), noise_sd=NOISE_SD, prior_sd=PRIOR_SD, settings=small("triangle")
    )
    assert from_file(forward_file, cells=10, cell_type="triangle", modes=DIM).value(q) == target.value(q)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"observations": np.zeros(35)}, r"observations of shape \(35,\) do not fit points of shape \(36, 2\)"),
        (
            {"observations": np.where(np.arange(36) == 7, np.nan, 0.0)},
            r"observations must be finite, got nan in entry 7",
        ),
        ({"points": np.zeros((36, 3))}, r"points of shape \(36, 3\)"),
    ],
)
def test_a_file_that_does_not_fit_together_is_named(changes: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.npz"
    forward_data(**changes).save(path)
    with pytest.raises(DataError, match=f"odd.npz: .*{message}"):
        from_file(path)
