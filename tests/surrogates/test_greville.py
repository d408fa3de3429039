"""The recursion's weights are those of the pseudo-inverse of all rows so far, below, at and beyond full rank."""

import tracemalloc

import numpy as np
import pytest

from rnshmc.errors import FitError
from rnshmc.random import stream
from rnshmc.surrogates.greville import DEPENDENCE_TOLERANCE, GrevilleRecursion
from rnshmc.surrogates.normal_equations import NormalEquations
from rnshmc.types import Array

EPS = np.finfo(np.float64).eps
UNITS = 12

pytestmark = pytest.mark.filterwarnings("error")


def rows(n: int, units: int = UNITS) -> tuple[Array, Array]:
    """A well-conditioned output matrix and targets that it cannot fit once n > units."""
    rng = stream(31, "greville", str(n))
    return rng.standard_normal((n, units)), rng.standard_normal(n)


def rows_with_repeats() -> tuple[Array, Array]:
    """Rejected proposals repeat a state, with its target; the 7th row is a combination of rows before it."""
    H, t = rows(30)
    H[[2, 6, 20]] = H[1], H[0] - 2 * H[3], H[19]
    t[[2, 6, 20]] = t[1], 0.3, t[19]
    return H, t


def theta_of(recursion: GrevilleRecursion) -> Array:
    return np.column_stack([recursion.apply_theta(e) for e in np.eye(len(recursion.output_weights))])


def stacked(H: Array, ridge: float) -> Array:
    s = H.shape[1]
    return np.vstack([H, np.sqrt(ridge) * np.eye(s)[: s if ridge else 0]])


def singular_values(matrix: Array) -> Array:
    sigma = np.asarray(np.linalg.svd(matrix, compute_uv=False))
    return np.asarray(sigma[sigma > 1e-10 * sigma[0]])


def assert_is_the_batch_solution(
    recursion: GrevilleRecursion, H: Array, t: Array, ridge: float = 0.0, *, first: int | None = None
) -> None:
    """Against the pseudo-inverse of the stacked matrix; ``first`` rows were there at the start.

    Rounding errors enter at every update in proportion to the condition of H'H at that time, and stay.
    """
    first = len(t) if first is None else first
    conditions = [np.ptp(np.log(singular_values(stacked(H[:n], ridge)))) for n in range(first, len(t) + 1)]
    rounding = 20 * len(t) * EPS * np.exp(2 * max(conditions))
    inverse = np.linalg.pinv(stacked(H, ridge), rcond=1e-10)
    v, theta = inverse[:, : len(t)] @ t, inverse @ inverse.T
    assert recursion.rank == len(singular_values(stacked(H, ridge)))
    assert np.linalg.norm(recursion.output_weights - v) <= rounding * np.linalg.norm(v)
    assert np.linalg.norm(theta_of(recursion) - theta) <= rounding * np.linalg.norm(theta)


@pytest.mark.parametrize("first", [1, 5, 11, 12, 20])
def test_every_update_equals_the_batch_pseudo_inverse(first: int) -> None:
    H, t = rows(30)
    recursion = GrevilleRecursion.from_hidden_layer(H[:first], t[:first], 0.0)
    for n in range(first, len(t)):
        assert_is_the_batch_solution(recursion, H[:n], t[:n], first=first)
        assert recursion.rank == min(n, UNITS)
        recursion.update(H[n], t[n])
    assert_is_the_batch_solution(recursion, H, t)


def test_dependent_rows_take_the_first_branch_and_leave_the_rank() -> None:
    H, t = rows_with_repeats()
    recursion = GrevilleRecursion.from_hidden_layer(H[:1], t[:1], 0.0)
    ranks = []
    for n in range(1, len(t)):
        recursion.update(H[n], t[n])
        ranks.append(recursion.rank)
        assert_is_the_batch_solution(recursion, H[: n + 1], t[: n + 1], first=1)
    assert ranks[:7] == [2, 2, 3, 4, 5, 5, 6]
    assert ranks[12:] == [UNITS] * len(ranks[12:])


@pytest.mark.parametrize("first", [1, 20])
@pytest.mark.parametrize("ridge", [1e-4, 1.0])
def test_with_a_penalty_every_update_equals_the_batch_ridge_solution(first: int, ridge: float) -> None:
    H, t = rows_with_repeats()
    equations = NormalEquations.of(H[:first], t[:first], ridge)
    recursion = GrevilleRecursion.from_normal_equations(equations.matrix, equations.right_side)
    for n in range(first, len(t)):
        assert_is_the_batch_solution(recursion, H[:n], t[:n], ridge, first=first)
        recursion.update(H[n], t[n])
    assert_is_the_batch_solution(recursion, H, t, ridge, first=first)


@pytest.mark.parametrize("n", [5, 30])
def test_both_ways_to_start_agree(n: int) -> None:
    H, t = rows(n)
    recursion = GrevilleRecursion.from_hidden_layer(H, t, 1e-3)
    assert_is_the_batch_solution(recursion, H, t, 1e-3)


@pytest.mark.parametrize(("distance", "gained"), [(0.5, 0), (2.0, 1)])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_what_c_equal_to_zero_means(distance: float, gained: int, scale: float) -> None:
    """A row counts as dependent up to a distance of DEPENDENCE_TOLERANCE |h| from the span of the rows before it."""
    H = np.eye(5)[:3]
    recursion = GrevilleRecursion.from_hidden_layer(H, np.ones(3), 0.0)
    h = np.array([1.0, 1.0, 0.0, distance * DEPENDENCE_TOLERANCE * np.sqrt(2), 0.0])
    recursion.update(scale * h, 2.0)
    assert recursion.rank == 3 + gained


def test_phi_is_let_go_at_full_rank() -> None:
    units = 200
    H, t = rows(units, units)
    tracemalloc.start()
    recursion = GrevilleRecursion.from_hidden_layer(H[:-1], t[:-1], 0.0)
    before, _ = tracemalloc.get_traced_memory()
    recursion.update(H[-1], t[-1])
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert recursion.rank == units
    assert before - after > 0.9 * 8 * units**2


def test_an_update_makes_nothing_of_the_size_of_theta() -> None:
    units = 300
    H, t = rows(40, units)
    recursion = GrevilleRecursion.from_hidden_layer(H[:20], t[:20], 0.0)
    for _ in ("new row", "repeated row"):
        tracemalloc.start()
        recursion.update(H[20], t[20])
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert recursion.rank == 21
        assert peak < 20 * 8 * units


def test_what_is_learnt_from_is_left_alone() -> None:
    H, t = rows(30)
    equations = NormalEquations.of(H[:20], t[:20], 0.1)
    matrix, kept = equations.matrix.copy(), H.copy()
    recursion = GrevilleRecursion.from_normal_equations(equations.matrix, equations.right_side)
    before = recursion.output_weights
    values = before.copy()
    recursion.update(H[20], t[20])
    assert np.array_equal(equations.matrix, matrix)
    assert np.array_equal(H, kept)
    assert np.array_equal(before, values)


def test_a_hidden_layer_that_is_not_finite_is_a_fit_error() -> None:
    with pytest.raises(FitError, match="singular value decomposition"):
        GrevilleRecursion.from_hidden_layer(np.full((3, UNITS), np.inf), np.ones(3), 0.0)
