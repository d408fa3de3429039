import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rnshmc.errors import FitError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates.random_network import RandomNetwork
from rnshmc.types import Array, Potential

EPS = float(np.finfo(np.float64).eps)
DIM, UNITS, RIDGE = 3, 40, 1e-3

pytestmark = pytest.mark.filterwarnings("error")


def training_set(n: int) -> tuple[Array, Array]:
    """States from a normal distribution, and a potential with a skewed part."""
    q = stream(3, "tests", "states").standard_normal((n, DIM))
    return q, 7.0 + 0.5 * (q**2).sum(axis=1) + np.exp(0.3 * q[:, 0])


def fit(q: Array, u: Array, *, hidden_units: int = UNITS, ridge: float = RIDGE) -> RandomNetwork:
    return RandomNetwork.fit(q, u, rng=stream(3, "tests", "fit"), hidden_units=hidden_units, ridge=ridge)


def hidden_layer(network: RandomNetwork, q: Array) -> Array:
    """H of Algorithm 2, by another formula for softplus."""
    return np.logaddexp(0.0, q @ network.weights + network.biases)


@pytest.fixture(scope="module")
def network() -> RandomNetwork:
    return fit(*training_set(600))


def test_it_is_a_potential(network: RandomNetwork) -> None:
    assert isinstance(network, Potential)
    assert network.dim == DIM


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_gradient_is_the_slope_of_the_value(
    network: RandomNetwork, scale: float, assert_slope: Callable[..., None]
) -> None:
    rng = stream(3, "tests", "slope")
    q, direction = scale * rng.standard_normal(DIM), rng.standard_normal(DIM)
    # Terms of size |v| |h| cancel in z, so its round-off is relative to them.
    terms = np.abs(network.output_weights) @ np.abs(hidden_layer(network, q))
    relative_error = float(10 * EPS * terms / abs(network.value(q)))
    assert_slope(network.value, network.gradient(q) @ direction, q, direction, relative_error=relative_error)


def test_report_is_what_the_network_says_of_itself(network: RandomNetwork) -> None:
    norm = float(np.sqrt((network.output_weights**2).sum()))
    assert network.report() == {
        "train_residual_sd": network.train_residual_sd,
        "solver": "cholesky",
        "output_weights_norm": pytest.approx(norm, rel=10 * EPS),
    }


def cancellation(network: RandomNetwork) -> float:
    """Size of the terms that cancel in a derivative: units have slopes, curvatures and twists below 1."""
    w, v = np.abs(network.weights), np.abs(network.output_weights)
    return float(max((w**order @ v).max() for order in (1, 2, 3)))


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0, 50.0])
def test_hessian_is_the_slope_of_the_gradient(
    network: RandomNetwork, scale: float, assert_slope: Callable[..., None]
) -> None:
    rng = stream(3, "tests", "hessian slope")
    q, direction = scale * rng.standard_normal(DIM), rng.standard_normal(DIM)
    relative_error = 10 * EPS * cancellation(network) / float(np.linalg.norm(network.gradient(q)))
    assert_slope(network.gradient, network.hessian(q) @ direction, q, direction, relative_error=relative_error)


@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0, 50.0])
def test_hessian_vjp_is_the_slope_of_the_contracted_hessian(
    network: RandomNetwork, scale: float, assert_slope: Callable[..., None]
) -> None:
    rng = stream(3, "tests", "third slope")
    q, direction = scale * rng.standard_normal(DIM), rng.standard_normal(DIM)
    m = rng.standard_normal((DIM, DIM))
    m = m + m.T

    def contracted(q: Array) -> float:
        return float(np.sum(m * network.hessian(q)))

    relative_error = 10 * EPS * DIM * np.abs(m).sum() * cancellation(network) / abs(contracted(q))
    assert_slope(contracted, network.hessian_vjp(q, m) @ direction, q, direction, relative_error=relative_error)


def test_hessian_is_symmetric_and_the_contractions_are_one_function(network: RandomNetwork) -> None:
    rng = stream(3, "tests", "contractions")
    q, factor, diagonal = rng.standard_normal(DIM), rng.standard_normal((DIM, 2)), rng.standard_normal(DIM)
    hessian = network.hessian(q)
    assert np.array_equal(hessian, hessian.T)
    rounding = 100 * EPS * cancellation(network)
    assert network.hessian_diagonal(q) == pytest.approx(np.diag(hessian), abs=rounding)
    for special, m in (
        (network.hessian_vjp_factored(q, factor), factor @ factor.T),
        (network.hessian_diagonal_vjp(q, diagonal), np.diag(diagonal)),
    ):
        assert special == pytest.approx(network.hessian_vjp(q, m), abs=rounding * np.abs(m).sum())


def test_derivatives_of_a_unit_are_precise_in_its_tails() -> None:
    unit = RandomNetwork(np.ones((1, 1)), np.zeros(1), np.ones(1), 0.0, "cholesky")
    for z in (-700.0, -50.0, -1.0, 0.0, 1.0, 50.0, 700.0):
        curvature = np.exp(-abs(z)) / (1 + np.exp(-abs(z))) ** 2
        q = np.array([z])
        assert unit.hessian(q)[0, 0] == pytest.approx(curvature, rel=10 * EPS)
        # The third derivative is the second times 1 - 2 sigmoid(z).
        expected = curvature * (1 - 2 / (1 + np.exp(-z)))
        assert unit.hessian_vjp(q, np.ones((1, 1)))[0] == pytest.approx(expected, rel=100 * EPS)
    for z in (-1e4, 1e300):
        assert unit.hessian(np.array([z]))[0, 0] == 0.0
        assert unit.hessian_vjp_factored(np.array([z]), np.ones((1, 1)))[0] == 0.0


def test_value_is_equation_10_and_gradient_equation_12(network: RandomNetwork) -> None:
    q = stream(3, "tests", "equations").standard_normal(DIM)
    value, gradient = 0.0, np.zeros(DIM)
    for w, d, v in zip(network.weights.T, network.biases, network.output_weights, strict=True):
        value += v * np.log(1 + np.exp(w @ q + d))
        gradient += v / (1 + np.exp(-(w @ q + d))) * w
    rounding = 10 * EPS * UNITS * np.abs(network.output_weights).sum()
    assert network.value(q) == pytest.approx(value, abs=rounding)
    assert network.gradient(q) == pytest.approx(gradient, abs=rounding)


def test_value_and_grad_and_predict_are_the_same_function(network: RandomNetwork) -> None:
    states, _ = training_set(600)  # more than two blocks, the last one not full
    for q in states[:5]:
        value, gradient = network.value_and_grad(q)
        assert value == network.value(q)
        assert gradient.tobytes() == network.gradient(q).tobytes()
    rounding = 10 * EPS * UNITS * np.abs(network.output_weights).sum()
    assert network.predict(states) == pytest.approx([network.value(q) for q in states], abs=rounding)
    assert network.predict(states[:0]).shape == (0,)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e300])
def test_far_out_it_is_linear_and_does_not_overflow(network: RandomNetwork, scale: float) -> None:
    q = scale * stream(3, "tests", "far").standard_normal(DIM)
    active = q @ network.weights + network.biases > 0
    slope = network.weights @ (network.output_weights * active)
    size = np.abs(network.output_weights).sum()
    # A unit within 40 of its kink is neither off nor on: up to log(2) of value, up to 1/2 of slope.
    near = np.abs(q @ network.weights + network.biases) < 40
    allowed = np.abs(network.output_weights[near]).sum() + 100 * EPS * size
    assert network.gradient(q) == pytest.approx(slope, abs=allowed * np.abs(network.weights).max())
    assert abs(network.value(q) - (slope @ q + (network.output_weights * active) @ network.biases)) <= (
        allowed + 100 * EPS * size * scale
    )


def test_the_hidden_layer_has_the_stated_law() -> None:
    dim = 30
    network = fit(np.zeros((1, dim)), np.zeros(1), hidden_units=1000)
    share = 1e-6 / 8  # of the probability that a right network fails: four tails for each of two samples
    for sample in (network.weights.ravel() * np.sqrt(dim), network.biases):
        # The sum and the sum of squares of a standard normal sample have known laws, and so has its distribution.
        squares = stats.chi2(sample.size)
        assert abs(sample.sum()) < stats.norm.isf(share / 2) * np.sqrt(sample.size)
        assert squares.ppf(share) < sample @ sample < squares.isf(share)
        assert stats.kstest(sample, "norm").pvalue > share


def test_targets_are_potentials_above_the_smallest() -> None:
    q, u = training_set(300)
    network = fit(q, u)
    # 2^10 rounds the targets off by 1024 EPS. An error r in the normal equations moves predictions by at most
    # |r| / (2 sqrt(RIDGE)).
    H, v = hidden_layer(network, q), network.output_weights
    moved = np.linalg.norm(H) ** 2 * np.linalg.norm(v) + 1024.0 * np.linalg.norm(H) * np.sqrt(len(q))
    allowed = 10 * EPS * moved / (2 * np.sqrt(RIDGE))
    assert allowed < 1e-6
    assert fit(q, u + 1024.0).predict(q) == pytest.approx(network.predict(q), rel=0, abs=allowed)


def test_a_function_in_the_span_of_the_units_is_reproduced() -> None:
    q, _ = training_set(200)
    q[0] = 0.0
    units = 8
    drawn = fit(q, np.arange(200.0), hidden_units=units)
    H = hidden_layer(drawn, q)
    # A combination of units that is a bowl with its smallest value, exactly 0, at the first state.
    bowl = np.linalg.lstsq(H, (q**2).sum(axis=1), rcond=None)[0]
    true = bowl - (H[0] @ bowl) / (H[0] @ H[0]) * H[0]
    u = H @ true
    u[0] = 0.0
    assert u.min() == 0.0
    network = fit(q, u, hidden_units=units, ridge=0.0)
    assert network.output_weights == pytest.approx(true, rel=0, abs=10 * EPS * np.linalg.cond(H) * np.linalg.norm(true))
    assert network.train_residual_sd <= 10 * EPS * np.linalg.norm(u)


def test_the_same_stream_gives_the_same_bytes_and_another_does_not(network: RandomNetwork) -> None:
    q, u = training_set(600)
    again = fit(q, u)
    other = RandomNetwork.fit(q, u, rng=stream(4, "tests", "fit"), hidden_units=UNITS, ridge=RIDGE)
    for name in ("weights", "biases", "output_weights"):
        assert getattr(again, name).tobytes() == getattr(network, name).tobytes()
        assert getattr(other, name).tobytes() != getattr(network, name).tobytes()


def test_fitting_leaves_its_arguments_alone() -> None:
    q, u = training_set(50)
    fit(q, u)
    assert np.array_equal(q, training_set(50)[0])
    assert np.array_equal(u, training_set(50)[1])


def test_fitted_networks_do_not_change(network: RandomNetwork) -> None:
    weights = np.array(network.weights)
    copy = dataclasses.replace(network, weights=weights)
    weights[:] = 0.0
    assert np.array_equal(copy.weights, network.weights)
    for array in (network.weights, network.biases, network.output_weights):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        network.solver = "guess"  # type: ignore[misc]


def test_save_and_load_keep_every_byte(network: RandomNetwork, tmp_path: Path) -> None:
    network.save(tmp_path / "network.npz")
    loaded = RandomNetwork.load(tmp_path / "network.npz")
    loaded.save(tmp_path / "again.npz")
    assert (tmp_path / "network.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()
    assert (loaded.solver, loaded.train_residual_sd) == (network.solver, network.train_residual_sd)
    q = stream(3, "tests", "load").standard_normal(DIM)
    assert loaded.gradient(q).tobytes() == network.gradient(q).tobytes()


def test_a_hidden_layer_that_overflows_is_a_fit_error() -> None:
    q, u = training_set(10)
    with pytest.raises(FitError, match=f"{UNITS} output weights and 10 training states"):
        fit(1.7e308 * np.sign(q), u)


def test_settings_out_of_range_are_refused_by_name() -> None:
    q, u = training_set(10)
    with pytest.raises(ParameterError, match="hidden_units must be at least 1, got 0"):
        fit(q, u, hidden_units=0)
    for ridge in (-1e-9, np.nan, np.inf):
        with pytest.raises(ParameterError, match=f"ridge .* got {ridge}"):
            fit(q, u, ridge=ridge)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_position_that_is_not_finite_is_a_numerical_error(network: RandomNetwork, bad: float) -> None:
    q = np.full(DIM, bad)
    for evaluate in (
        network.value,
        network.gradient,
        network.value_and_grad,
        network.hessian,
        network.hessian_diagonal,
        lambda q: network.hessian_vjp(q, np.eye(DIM)),
        lambda q: network.hessian_vjp_factored(q, np.eye(DIM)),
        lambda q: network.hessian_diagonal_vjp(q, np.ones(DIM)),
    ):
        with pytest.raises(NumericalError, match="random network"):
            evaluate(q)
