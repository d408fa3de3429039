"""Noise in the log density ends a run early or is reported; no error of linear algebra reaches a user."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.errors import ParameterError
from rnshmc.inference import modes
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.descent import descend, descend_on
from rnshmc.inference.stages.differences import FELT, difference_step, evaluate_with_gradients, noise_at, slope_noise
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from rnshmc.types import Array
from tests.inference.conftest import evaluations_of

BUDGET = 300
NOISY = "! The log density is noisy: it differs by "


def noisy_normal(sd: float, gradient: str, dim: int = 2) -> Callable[[Array], Any]:
    """Log density of N(0, I) with fresh noise at each call, also in a "noisy" gradient."""
    rng = np.random.default_rng(7)

    def density(x: Array) -> Any:
        noise = sd * rng.standard_normal(dim + 1)
        value = -0.5 * float(x @ x) + noise[0]
        return value if gradient == "none" else (value, -x + (noise[1:] if gradient == "noisy" else 0.0))

    return density


def archive_of(density: Callable[[Array], Any], dim: int) -> Archive:
    return Archive.of(evaluations_of(density, dim, use_gradients=False))


@pytest.mark.parametrize("gradient", ["exact", "noisy", "none"])
@pytest.mark.parametrize(("sd", "levels"), [(0.3, {"doubtful", "bad"}), (1.0, {"doubtful", "bad"}), (3.0, {"bad"})])
def test_noise_is_reported(sd: float, levels: set[str], gradient: str) -> None:
    """Noise of 0.3 and 1 is doubtful or bad, depending on the importance weights."""
    result = rnshmc.sample(noisy_normal(sd, gradient), [0.4, -0.6], draws=200, budget=BUDGET, progress_bar=False)
    assert result.spent.units <= BUDGET
    assert NOISY in str(result.verdict)
    assert result.verdict.level in levels


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("sd", [0.3, 1.0, 3.0])
@pytest.mark.parametrize("dim", [2, 5])
def test_a_descent_by_differences_of_noise_ends(sd: float, dim: int, seed: int) -> None:
    """Three descents of at most 10 + d steps, and twice eight batches of directions, each d + 1 values."""
    rng = np.random.default_rng(seed)
    archive = archive_of(lambda x: -0.5 * float(x @ x) + sd * rng.standard_normal(), dim)
    start = rng.uniform(-1, 1, dim)
    settle(archive, descend(archive, start, DEFAULT), stream(seed, "noise"), DEFAULT)
    assert archive.spent.units < (3 * (10 + dim) + 2 * 8 * max(2, dim // 2) + 4 * dim) * (dim + 1)
    # Mean square of four residuals: chi-square of four degrees of freedom, of which 1e-4 is below 0.028 and above 23.5.
    assert np.sqrt(0.028 / 4.0) * sd < archive.noise < np.sqrt(23.5 / 4.0) * sd


@pytest.mark.parametrize("dim", [2, 5])
def test_single_precision_of_a_large_number(dim: int) -> None:
    """At 1e6, single precision rounds to multiples of 1 / 16: too little to harm."""
    scales = np.geomspace(1, 3, dim)

    def rounded(x: Array) -> float:
        return float(np.float32(-1e6 - 0.5 * float((x / scales) @ (x / scales))))

    result = rnshmc.sample(rounded, np.full(dim, 0.5), draws=400, budget=BUDGET, progress_bar=False)
    assert np.all(np.abs(result.mean.value) < 6.0 * result.mean.standard_error + 0.1 * scales)
    assert np.all(np.abs(result.sd.value / scales - 1.0) < 0.1)


def test_a_gradient_that_single_precision_cannot_show_is_not_called_wrong() -> None:
    def rounded(x: Array) -> tuple[float, Array]:
        return float(np.float32(-1e6 - 0.5 * float(x @ x))), -x

    result = rnshmc.sample(rounded, np.full(2, 0.5), draws=400, budget=BUDGET, progress_bar=False)
    assert "! The gradient could not be checked" in str(result.verdict)
    assert result.verdict.level == "doubtful"
    assert np.all(np.abs(result.sd.value - 1.0) < 0.1)
    with pytest.raises(ParameterError, match="gradient: it is wrong"):
        rnshmc.sample(lambda x: (-2.0, -x), np.full(2, 0.5), progress_bar=False)


def test_an_error_of_linear_algebra_ends_a_run_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> Any:
        return Whitening(np.zeros(2), np.zeros((2, 2)))

    monkeypatch.setattr(modes, "settle", fails)
    result = rnshmc.sample(lambda x: -0.5 * float(x @ x), np.ones(2), progress_bar=False)
    assert result.verdict.level == "bad"
    assert "the curvature of the log density could not be determined" in str(result.verdict)
    assert "it may be noisy" in str(result.verdict)


@pytest.mark.parametrize("factor", [np.diag([1.0, 0.0]), np.diag([1.0, np.nan]), np.diag([1.0, np.inf])])
def test_a_singular_whitening_is_refused(factor: Array) -> None:
    with pytest.raises(np.linalg.LinAlgError, match="singular or not finite"):
        Whitening(np.zeros(2), factor)


def test_a_smooth_potential_is_not_called_noisy() -> None:
    """A scale of 1e-9, as long as the distance of neighbours of a start at zero, where the density is no parabola."""
    archive = archive_of(lambda x: -float(np.cosh(x * 1e9).sum()), 2)
    (first,) = archive.evaluate(np.zeros((1, 2)), "mode")
    noise_at(archive, first, np.ones(2), DEFAULT.noise, "mode")
    assert archive.noise == 0.0


def test_noise_of_vast_potentials_is_a_number() -> None:
    """A descent from another start may find them: squares would overflow."""
    rng = np.random.default_rng(8)
    archive = archive_of(lambda x: -1e200 * (1.0 + rng.random()), 2)
    [first] = archive.evaluate(np.zeros((1, 2)), "mode", gradient=False)
    assert 1e198 < noise_at(archive, first, np.ones(2), DEFAULT.noise, "mode") < 1e201


@pytest.mark.parametrize(("slope", "cautious"), [(1e160, False), (1e308, True)])
def test_a_descent_ends_where_no_step_follows_from_a_gradient(slope: float, cautious: bool) -> None:
    """Squares of 1e160 are infinite, and 1e308 is as soon as it is whitened."""
    archive = Archive.of(evaluations_of(lambda x: (-1.0, np.full(2, slope)), 2))
    start = np.ones(2)
    path = list(archive.evaluate(start[None], "test"))
    mode = descend_on(archive, path, Whitening(start, 0.1 * np.eye(2)), DEFAULT, cautious=cautious)
    np.testing.assert_array_equal(mode.whitening.centre, start)
    assert not mode.converged


def test_rounding_of_a_vast_potential_is_no_noise_once_lower_ones_are_known() -> None:
    """Single precision of 1e8, a multiple of 8, at a start 1e8 above the mode; noise of 0.3 at 1e3 stays."""
    rng = np.random.default_rng(9)
    archive = archive_of(lambda x: -float(np.float32(1e4 * x @ x)), 2)
    [first] = archive.evaluate(np.full((1, 2), 71.3), "mode", gradient=False)
    assert noise_at(archive, first, np.full(2, 7e6), DEFAULT.noise, "mode") > 0.5
    assert archive.noise > 0.5
    archive.evaluate(np.zeros((1, 2)), "mode")
    assert archive.noise == 0.0

    noisy = archive_of(lambda x: -float(10.0 * x @ x) - 0.3 * rng.standard_normal(), 2)
    [first] = noisy.evaluate(np.full((1, 2), 7.1), "mode", gradient=False)
    felt = noise_at(noisy, first, np.ones(2), DEFAULT.noise, "mode")
    noisy.evaluate(np.zeros((1, 2)), "mode")
    assert noisy.noise == felt > FELT


@pytest.mark.parametrize("noise", [0.0, 0.3, 3.0])
def test_differences_of_a_whitened_normal_density_are_its_gradient_over_steps_of_any_length(noise: float) -> None:
    """Rounding of values of about ten over steps of 0.1 or more leaves 1e-13."""
    archive = archive_of(lambda x: -0.5 * float(x @ x), 3)
    archive.journal.noise.append((noise, -np.inf))
    points = np.array([[1.0, -2.0, 3.0], [0.0, 0.5, 0.0]])
    found = evaluate_with_gradients(archive, points, Whitening(np.zeros(3), np.eye(3)), DEFAULT.differences, "mode")
    np.testing.assert_allclose(np.array([one.gradient for one in found]), points, atol=1e-12)
    assert DEFAULT.differences.step <= difference_step(noise, DEFAULT.differences) <= DEFAULT.differences.longest


@pytest.mark.parametrize("sd", [0.3, 1.0, 3.0])
def test_differences_have_the_noise_expected_of_them(sd: float) -> None:
    """Mean squares of 200 independent errors: a relative standard deviation of 0.1, and six of them."""
    archive = archive_of(noisy_normal(sd, "none"), 2)
    archive.journal.noise.append((sd, -np.inf))
    points = np.random.default_rng(3).standard_normal((200, 2))
    found = evaluate_with_gradients(archive, points, Whitening(np.zeros(2), np.eye(2)), DEFAULT.differences, "mode")
    errors = np.array([one.gradient for one in found]) - points
    expected = slope_noise(archive, DEFAULT.differences)
    assert np.all(np.abs((errors**2).mean(axis=0) / expected**2 - 1.0) < 0.6)
    assert expected < 0.8 * max(np.sqrt(sd), sd)
