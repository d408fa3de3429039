"""A gradient network equals scikit-learn's, as two products; it is a driver without a value."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor

from rnshmc.errors import FitError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates.gradient_network import BATCH_SIZE, GradientNetwork
from rnshmc.types import Array, Driver, FittedDriver, Potential

DIM, UNITS, EPOCHS = 4, 12, 5
MATRIX = np.array([[2.0, 0.5, 0.0, 0.0], [0.5, 1.0, 0.0, 0.3], [0.0, 0.0, 30.0, 0.0], [0.0, 0.3, 0.0, 0.2]])

pytestmark = pytest.mark.filterwarnings("error")


def pairs(n: int = 300) -> tuple[Array, Array]:
    """Positions off the origin on unequal scales, and a gradient that is not linear."""
    rng = stream(4, "tests", "gradient pairs")
    q = np.array([5.0, 0.0, -1.0, 100.0]) + np.array([0.1, 1.0, 3.0, 10.0]) * rng.standard_normal((n, DIM))
    return q, q @ MATRIX + 50.0 * np.sinh(0.3 * q[:, 2:3])


def linear_pairs(n: int, *names: str) -> tuple[Array, Array]:
    """Pairs of a Gaussian potential, whose gradient is linear."""
    q = stream(4, "tests", "linear pairs", *names).standard_normal((n, DIM))
    return q, q @ MATRIX


def fit(q: Array, gradients: Array, **settings: Any) -> GradientNetwork:
    settings = {"hidden_units": UNITS, "epochs": EPOCHS, **settings}
    return GradientNetwork.fit(q, gradients, rng=stream(4, "tests", "fit"), **settings)


def reference(
    q: Array, gradients: Array, at: Array, *, blocks: int, batch_size: int, standardised: bool
) -> tuple[Array, Array]:
    """Gradients by scikit-learn's own predictions from standardised positions, and its training losses."""
    rng = stream(4, "tests", "fit")
    x, z = (q - q.mean(axis=0)) / q.std(axis=0), (at - q.mean(axis=0)) / q.std(axis=0)
    mean, sd = (gradients.mean(axis=0), gradients.std(axis=0)) if standardised else (0.0, 1.0)
    y = (gradients - mean) / sd
    predictions, losses = [], []
    for part in np.split(y, blocks, axis=1):
        network = MLPRegressor(
            hidden_layer_sizes=(UNITS,),
            alpha=0.0,
            batch_size=batch_size,
            max_iter=EPOCHS,
            n_iter_no_change=EPOCHS + 1,
            random_state=int(rng.integers(2**32)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            network.fit(x, part.squeeze())
        predictions.append(network.predict(z).reshape(len(z), -1))
        losses.append(network.loss_curve_)
    return np.hstack(predictions) * sd + mean, np.mean(losses, axis=0)


@pytest.fixture(scope="module")
def network() -> GradientNetwork:
    return fit(*pairs())


def test_it_is_a_driver_and_no_potential(network: GradientNetwork) -> None:
    assert isinstance(network, Driver)
    assert isinstance(network, FittedDriver)
    assert not isinstance(network, Potential)
    assert network.dim == DIM


@pytest.mark.parametrize("blocks", [1, 2, 4])
@pytest.mark.parametrize("batch_size", [BATCH_SIZE, 100])
@pytest.mark.parametrize("standardised", [False, True])
def test_it_is_what_scikit_learn_predicts(blocks: int, batch_size: int, standardised: bool) -> None:
    """With blocks, that of separate networks beside each other."""
    q, gradients = pairs()
    network = fit(q, gradients, blocks=blocks, batch_size=batch_size, standardised_targets=standardised)
    at = q[:20] + 0.5 * q.std(axis=0)
    expected, losses = reference(q, gradients, at, blocks=blocks, batch_size=batch_size, standardised=standardised)
    # The mean of the last component is ten of its standard deviations, and rounding is relative to it.
    scale = np.abs(gradients).max(axis=0)
    np.testing.assert_allclose(network.gradients(at) / scale, expected / scale, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(network.losses, losses)
    assert network.output_weights.shape == (blocks, UNITS, DIM // blocks)


@pytest.mark.parametrize("blocks", [1, 2])
def test_one_position_is_a_row_of_many(blocks: int) -> None:
    q, gradients = pairs()
    network = fit(q, gradients, blocks=blocks)
    before = q.copy()
    rows = network.gradients(q[:10])
    single = np.stack([network.gradient(x) for x in q[:10]])
    np.testing.assert_allclose(single, rows, rtol=1e-12, atol=1e-12 * np.abs(gradients).max())
    np.testing.assert_array_equal(q, before)


def test_each_gradient_is_an_array_of_its_own(network: GradientNetwork) -> None:
    q = pairs()[0]
    first = network.gradient(q[0])
    kept = first.copy()
    network.gradient(q[1])
    np.testing.assert_array_equal(first, kept)


def test_gradients_are_learnt_as_they_are_unless_one_asks() -> None:
    """As the published implementation learns them: paper B's default."""
    q, gradients = pairs()
    plain = fit(q, gradients)
    np.testing.assert_array_equal(plain.output_weights, fit(q, gradients, standardised_targets=False).output_weights)
    assert plain.losses[0] > 10 * fit(q, gradients, standardised_targets=True).losses[0]


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_linear_gradient_is_learnt(blocks: int) -> None:
    """To a hundredth part of its variance on positions that it has not seen: 4000 steps of Adam."""
    q, gradients = linear_pairs(1280, "train")
    network = fit(q, gradients, hidden_units=50, epochs=100, blocks=blocks, standardised_targets=True)
    unseen, exact = linear_pairs(500, "test")
    errors = (network.gradients(unseen) - exact) / exact.std(axis=0)
    assert np.mean(errors**2) < 0.01
    assert network.train_error < 0.1
    assert network.losses[-1] < 0.02 * network.losses[0]


def test_training_error_is_relative_to_each_component(network: GradientNetwork) -> None:
    q, gradients = pairs()
    errors = (network.gradients(q) - gradients) / gradients.std(axis=0)
    assert network.train_error == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-12)


def test_report_is_what_the_network_says_of_itself() -> None:
    network = fit(*pairs(), blocks=2)
    assert network.report() == {
        "train_error": network.train_error,
        "training_states": 300,
        "epochs": EPOCHS,
        "blocks": 2,
        "final_loss": network.losses[-1],
    }


def test_every_epoch_is_run_even_if_nothing_is_left_to_learn() -> None:
    q, _ = linear_pairs(50)
    assert len(fit(q, np.zeros_like(q), epochs=40).losses) == 40


def test_a_component_that_does_not_vary_keeps_its_scale() -> None:
    """Its standard deviation is rounding of its mean; dividing by it would amplify errors."""
    q, gradients = linear_pairs(200)
    q[:, 1], gradients[:, 3] = 0.1, 1e5 / 3.0
    assert q.std(axis=0)[1] > 0
    network = fit(q, gradients, standardised_targets=True)
    assert np.abs(network.weights).max() < 10
    # What the network adds to the mean is a few units of a scale of 1.
    assert np.abs(network.gradients(q)[:, 3] - 1e5 / 3.0).max() < 30


def test_the_same_stream_gives_the_same_network() -> None:
    first, second = fit(*pairs()), fit(*pairs())
    assert first.weights.tobytes() == second.weights.tobytes()
    assert first.output_weights.tobytes() == second.output_weights.tobytes()


@pytest.mark.parametrize("blocks", [1, 4])
def test_what_was_saved_drives_to_the_same_bytes(blocks: int, tmp_path: Path) -> None:
    q, gradients = pairs()
    network = fit(q, gradients, blocks=blocks)
    network.save(tmp_path / "network.npz")
    back = GradientNetwork.load(tmp_path / "network.npz")
    assert network.gradient(q[0]).tobytes() == back.gradient(q[0]).tobytes()
    assert network.report() == back.report()
    back.save(tmp_path / "again.npz")
    assert (tmp_path / "network.npz").read_bytes() == (tmp_path / "again.npz").read_bytes()


@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e308])
def test_a_gradient_that_is_not_finite_is_a_numerical_error(blocks: int, bad: float) -> None:
    network = fit(*pairs(), blocks=blocks)
    q = np.zeros(DIM)
    q[0] = bad
    # As kernels call it: from numpy 2 on, `dot` warns of an overflow.
    with np.errstate(over="ignore", invalid="ignore"), pytest.raises(NumericalError, match="not finite"):
        network.gradient(q)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hidden_units": 0}, "hidden_units must be at least 1, got 0"),
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"blocks": -1}, "blocks must be at least 1, got -1"),
        ({"batch_size": 0}, "batch_size must be at least 1, got 0"),
        ({"blocks": 3}, "blocks must divide the dimension 4, got 3"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        fit(*pairs(), **settings)


@pytest.mark.parametrize(
    ("q", "gradients", "message"),
    [
        (np.ones(3), np.ones(3), r"q must have shape \(n, dim\) with n at least 2, got \(3,\)"),
        (np.ones((1, 3)), np.ones((1, 3)), r"n at least 2, got \(1, 3\)"),
        (np.ones((5, 3)), np.ones((5, 2)), r"gradients must have the shape \(5, 3\) of q, got \(5, 2\)"),
        (np.array([[1.0], [np.nan]]), np.ones((2, 1)), r"q must be finite, got nan in row 1, column 0"),
        (np.ones((2, 1)), np.array([[1.0], [np.inf]]), r"gradients must be finite, got inf in row 1, column 0"),
        (np.array([[0.0], [1.0]]), np.array([[-1e200], [1e200]]), "gradients cannot be standardised: component 0"),
    ],
)
def test_pairs_that_cannot_be_learnt_are_named(q: Array, gradients: Array, message: str) -> None:
    with pytest.raises(FitError, match=message):
        fit(q, gradients)


def test_fewer_pairs_than_a_batch_are_one_batch() -> None:
    assert np.isfinite(fit(*pairs(10)).train_error)
