import numpy as np
import pytest

from rnshmc.errors import FitError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates.ridge import check_settings, output_matrix, ridge_regression
from rnshmc.types import Array

EPS = float(np.finfo(np.float64).eps)
STATES, UNITS, RIDGE = 600, 40, 1e-3

pytestmark = pytest.mark.filterwarnings("error")


def problem(n: int = STATES, units: int = UNITS) -> tuple[Array, Array]:
    """A hidden layer with nearly collinear units, and targets that they follow in part."""
    rng = stream(3, "tests", "ridge")
    q, weights, biases = rng.standard_normal((n, 3)), rng.standard_normal((3, units)), rng.standard_normal(units)
    return np.logaddexp(0.0, q @ weights / np.sqrt(3) + biases), (q**2).sum(axis=1) + 0.1 * rng.standard_normal(n)


def condition(H: Array, ridge: float = RIDGE) -> float:
    return float(np.linalg.cond(H.T @ H + ridge * np.eye(H.shape[1])))


def test_the_weights_solve_the_normal_equations_and_the_stacked_least_squares_problem() -> None:
    H, t = problem()
    v, solver = ridge_regression(H, t, RIDGE)
    assert solver == "cholesky"
    gram = H.T @ H + RIDGE * np.eye(UNITS)
    # Cholesky is backward stable: the residual is of the size of rounding in the matrix, times |v|.
    assert np.linalg.norm(gram @ v - H.T @ t) <= 10 * UNITS * EPS * np.linalg.norm(gram, 2) * np.linalg.norm(v)
    stacked = np.vstack([H, np.sqrt(RIDGE) * np.eye(UNITS)])
    exact = np.linalg.lstsq(stacked, np.concatenate([t, np.zeros(UNITS)]), rcond=None)[0]
    assert np.linalg.norm(v - exact) <= 10 * EPS * condition(H) * np.linalg.norm(exact)


def test_a_repeated_state_counts_as_often() -> None:
    H, t = problem(100)
    v, _ = ridge_regression(np.vstack([H, H[:30]]), np.concatenate([t, t[:30]]), RIDGE)
    root_counts = np.sqrt(np.where(np.arange(100) < 30, 2.0, 1.0))
    weighted, targets = root_counts[:, np.newaxis] * H, root_counts * t
    expected = np.linalg.solve(weighted.T @ weighted + RIDGE * np.eye(UNITS), weighted.T @ targets)
    assert np.linalg.norm(v - expected) <= 10 * EPS * condition(weighted) * np.linalg.norm(expected)


@pytest.mark.parametrize("ridge", [0.0, 1e-30])
def test_singular_normal_equations_fall_back_on_the_smallest_least_squares_solution(ridge: float) -> None:
    H, t = problem(5, 400)
    # Repeats by the hundred leave rounding errors above eps in directions that the training set does not have.
    v, solver = ridge_regression(np.repeat(H, 200, axis=0), np.repeat(t, 200), ridge)
    assert solver == "least_squares"
    expected = np.linalg.pinv(H) @ t
    assert np.linalg.norm(v - expected) <= 100 * EPS * np.linalg.cond(H) * np.linalg.norm(expected)
    assert H @ v == pytest.approx(t, abs=100 * EPS * np.linalg.cond(H) * np.linalg.norm(t))


def test_the_two_solvers_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise np.linalg.LinAlgError

    H, t = problem()
    v, solver = ridge_regression(H, t, RIDGE)
    monkeypatch.setattr("scipy.linalg.cho_factor", refuse)
    other, other_solver = ridge_regression(H, t, RIDGE)
    assert (solver, other_solver) == ("cholesky", "least_squares")
    assert np.linalg.norm(v - other) <= 10 * EPS * condition(H) * np.linalg.norm(other)


def test_an_output_matrix_that_overflows_is_a_fit_error() -> None:
    H, t = problem(10)
    H[3, 4] = np.inf
    with pytest.raises(FitError, match=f"{UNITS} output weights and 10 training states"):
        ridge_regression(H, t, RIDGE)


def test_the_output_matrix_is_the_layer_at_every_state() -> None:
    states = stream(3, "tests", "blocks").standard_normal((600, 3))  # more than two blocks, the last one not full
    assert np.array_equal(output_matrix(lambda rows: np.abs(rows), states, 3), np.abs(states))


def test_settings_out_of_range_are_refused_by_name() -> None:
    check_settings(1, 0.0)
    with pytest.raises(ParameterError, match="hidden_units must be at least 1, got 0"):
        check_settings(0, RIDGE)
    for ridge in (-1e-9, np.nan, np.inf):
        with pytest.raises(ParameterError, match=f"ridge .* got {ridge}"):
            check_settings(UNITS, ridge)
