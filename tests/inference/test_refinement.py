"""Emulators that are fitted to the runs that check them."""

import numpy as np
import pytest

import rnshmc
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.stages.decision import Decision, Tally, decide
from rnshmc.inference.surrogate.paths import Paths
from rnshmc.inference.surrogate.tails import Tails, doubt
from rnshmc.inference.surrogate.weights import measured_shift, smoothed
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.conftest import z_bound

AIM = 1000.0
GRID = np.linspace(-5.0, 5.0, 401)
SLOPES = np.array([[1.0, 0.5], [-0.5, 1.0], [0.7, 0.7]])


def forward(x: Array) -> Array:
    """Three outputs of two parameters, at one point or at rows."""
    first = x @ SLOPES.T
    return np.asarray(first + 0.1 * first**2)


def exact_moments(data: Array, sd: float) -> tuple[Array, Array]:
    """Of a standard normal prior and normal errors, by the trapezoidal rule."""
    points = np.stack(np.meshgrid(GRID, GRID), axis=-1).reshape(-1, 2)
    potential = 0.5 * ((forward(points) - data) ** 2).sum(axis=1) / sd**2 + 0.5 * (points**2).sum(axis=1)
    weights = np.exp(potential.min() - potential)
    weights /= weights.sum()
    mean = weights @ points
    return mean, weights @ (points - mean) ** 2


def test_moments_of_an_emulated_model_are_exact_within_their_errors() -> None:
    data, sd = forward(np.array([0.5, -0.3])), 0.3
    prior = rnshmc.Normal(np.zeros(2), np.ones(2))
    model = rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd=sd), prior=prior)
    result = rnshmc.sample(model, np.zeros(2), seed=1, progress_bar=False)
    assert result.verdict.level == "good"
    surrogate = result.outcome.surrogate
    assert isinstance(surrogate, Corrected)
    assert surrogate.base is not None
    # Runs that were learnt from are predicted without themselves: errors are small, and not rounding.
    assert 1e-12 < result.outcome.surrogate_error < 0.1
    mean, variance = exact_moments(data, sd)
    found = result.outcome
    assert (np.abs(found.mean.value - mean) < z_bound(4) * found.mean.standard_error).all()
    assert (np.abs(found.variance.value - variance) < z_bound(4) * found.variance.standard_error).all()
    # The precision that is aimed at, and room for what tails may lack.
    assert (found.mean.standard_error < 2.0 * np.sqrt(variance / AIM)).all()
    assert (found.variance.standard_error < 2.0 * variance * np.sqrt(2.0 / AIM)).all()


def crossed(
    draws: Array, checked: Array, differences: Array, base: Array | None, by_path: Array | None = None
) -> Corrected:
    """With paths that are even, or given, at 640 of the draws, and nothing missing in tails."""
    even = np.full(640, 1 / 640)
    paths = Paths(draws[:640], even, np.tile(even, (9, 1)) if by_path is None else by_path)
    nothing = Tails(checked, np.zeros(len(checked)))
    return Corrected(draws, checked, differences, smoothed(-differences), paths, 128, nothing, AIM, base)


def test_a_surrogate_that_predicts_all_left_out_runs_is_not_corrected() -> None:
    """Whatever the surrogate was that the checked draws are of."""
    rng = stream(1, "refinement")
    draws, checked = rng.standard_normal((6400, 3)), rng.standard_normal((50, 3))
    base = smoothed(checked[:, 0]).weights
    surrogate = crossed(draws, checked, np.zeros(50), base)
    np.testing.assert_allclose(surrogate.mean().value, draws.mean(axis=0), rtol=0, atol=1e-12)
    measured, noise = measured_shift(*surrogate.measuring_weights(), checked)
    np.testing.assert_allclose([measured, noise], 0.0, rtol=0, atol=1e-12)


def test_left_out_runs_do_not_halve_the_variance_that_the_process_leaves() -> None:
    """25 differences measure means to 0.032, as the process knows them; they are in it already.

    A mean of 200 squared errors below 1 / 2 or above 3 / 2 has a probability below 1e-5.
    """
    rng = stream(2, "refinement")
    squares = []
    for _ in range(200):
        draws, checked = rng.standard_normal((6400, 20)), rng.standard_normal((25, 20))
        shift = rng.standard_normal() / np.sqrt(AIM)
        differences = 0.16 * rng.standard_normal(25)
        found = crossed(draws, checked, differences, np.ones(25)).mean()
        squares.append(float((found.value[0] - shift) / found.standard_error[0]) ** 2)
    assert 0.5 < np.mean(squares) < 1.5


def test_left_out_runs_correct_what_the_process_knows_nothing_of() -> None:
    """U - V is 0.3 x: the mean of a normal surrogate is off by 0.3, and 400 left-out runs show it."""
    rng = stream(3, "refinement")
    squares = []
    for _ in range(100):
        draws, checked = rng.standard_normal((6400, 1)), rng.standard_normal((400, 1))
        found = crossed(draws, checked, 0.3 * checked[:, 0], np.ones(400)).mean()
        squares.append(float((found.value[0] + 0.3) / found.standard_error[0]) ** 2)
    assert 0.5 < np.mean(squares) < 2.0


def test_draws_of_an_earlier_surrogate_are_reweighted() -> None:
    """Checked draws of N(0, 1), a surrogate N(0.5, 1) and a posterior N(1, 1): means are 1 within their errors."""
    rng = stream(4, "refinement")
    errors, claims = [], []
    for _ in range(100):
        draws, checked = 0.5 + rng.standard_normal((6400, 1)), rng.standard_normal((400, 1))
        differences = -0.5 * checked[:, 0]
        corrected = crossed(draws, checked, differences, smoothed(0.5 * checked[:, 0]).weights)
        found = corrected.mean()
        assert corrected.exact_weights @ checked[:, 0] / 400 == pytest.approx(1.0, abs=0.5)
        errors.append(float(found.value[0]) - 1.0)
        claims.append(float(found.standard_error[0]))
    assert np.square(errors).mean() < 2.0 * np.square(claims).mean()


def test_open_moments_are_the_smaller_of_what_the_process_and_the_draws_leave_open() -> None:
    rng = stream(5, "refinement")
    draws, checked = rng.standard_normal((6400, 2)), rng.standard_normal((100, 2))
    differences = 0.3 * rng.standard_normal(100)
    assert crossed(draws, checked, differences, np.ones(100)).open_moments < 1e-30
    rough = np.exp(0.1 * rng.standard_normal((9, 1)) * draws[:640, 0])
    vague = crossed(draws, checked, differences, np.ones(100), rough / rough.sum(axis=1, keepdims=True))
    _, noise = measured_shift(*vague.measuring_weights(), np.column_stack((checked, (checked**2 - 1.0) / np.sqrt(2.0))))
    assert 1e-4 < vague.open_moments < 2.0 * noise.max()


def test_processes_that_expect_too_much_are_believed_less() -> None:
    """Eight surprises of mean square 1 / 4, all below the surrogate, and four that are counted as expected."""
    seen = [np.full(4, -0.5), np.full(4, -0.5)]
    assert doubt(seen) == 1.0
    assert doubt(seen, believed=4.0) == pytest.approx((8 * 0.5 + 4.0) / 12)
    assert doubt([], believed=4.0) == 1.0


@pytest.mark.parametrize(
    ("variance", "used", "expected"),
    [(0.2, 60, Decision.EXAMINE), (0.5, 60, Decision.BATCH), (0.2, 39, Decision.BATCH)],
)
def test_training_on_outputs_ends_as_soon_as_draws_can_be_reweighted(
    variance: float, used: int, expected: Decision
) -> None:
    tally = Tally(dim=20, informed=20, learnt="outputs", aim=AIM, most_rows=9000, rows=1, used=used, variance=variance)
    assert decide(tally, DEFAULT.training) is expected
