import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets import logistic
from rnshmc.targets.logistic import LogisticRegression, from_file
from rnshmc.types import Array, RiemannianPotential

# A prime number of rows: no block size divides it, and there are several blocks.
N, DIM, PRIOR_SD = 6007, 50, 10.0

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def data() -> tuple[Array, Array]:
    rng = stream(2, "tests", "logistic")
    X = rng.standard_normal((N, DIM))
    return X, (rng.random(N) < 1 / (1 + np.exp(-X[:, 0]))).astype(np.float64)


@pytest.fixture(scope="module")
def target(data: tuple[Array, Array]) -> LogisticRegression:
    return LogisticRegression(*data, PRIOR_SD)


def point(scale: float, *names: str) -> Array:
    return scale * stream(2, "tests", "logistic point", *names).standard_normal(DIM)


def reference(X: Array, y: Array, q: Array, prior_sd: float) -> tuple[float, Array]:
    """U and its gradient in extended precision, one term at a time."""
    margins = (1 - 2 * y) * (X.astype(np.longdouble) @ q.astype(np.longdouble))
    tails = np.exp(-np.abs(margins))
    softplus = np.maximum(margins, 0) + np.log1p(tails)
    sigmoid = np.where(margins > 0, 1, tails) / (1 + tails)
    value = math.fsum(softplus) + float(q @ q) / (2 * prior_sd**2)
    return value, np.asarray(((1 - 2 * y) * sigmoid) @ X + q / prior_sd**2, dtype=np.float64)


def test_it_is_a_potential(target: LogisticRegression) -> None:
    assert isinstance(target, RiemannianPotential)
    assert target.dim == DIM


@pytest.mark.parametrize("scale", [0.0, 0.1, 3.0])
def test_gradient_is_the_slope_of_the_value(
    target: LogisticRegression, scale: float, assert_slope: Callable[..., None]
) -> None:
    q, direction = point(scale), point(0.1, "direction")
    assert_slope(target.value, target.gradient(q) @ direction, q, direction)


@pytest.mark.parametrize("scale", [0.0, 0.1, 1.0, 1e2, 1e4, 1e6])
def test_agrees_with_extended_precision_however_large_the_margins(
    data: tuple[Array, Array], target: LogisticRegression, scale: float
) -> None:
    q = point(scale)
    value, grad = reference(*data, q, PRIOR_SD)
    # A margin is a sum of DIM products: its error is DIM eps relative to sum |x_k q_k|, at most sqrt(DIM) times a
    # typical margin. Sigmoid is moved by no more than its margin, and the gradient by |x| times that, row by row.
    rounding = float(np.finfo(np.float64).eps) * DIM**1.5
    assert target.value(q) == pytest.approx(value, rel=rounding)
    assert target.gradient(q) == pytest.approx(grad, abs=rounding * N * max(scale, 1.0))


@pytest.mark.parametrize("margin", [-1e3, -700.0, -40.0, 0.0, 39.9, 40.1, 700.0, 1e3, 1e5])
def test_a_single_row_gives_softplus_and_sigmoid(margin: float) -> None:
    target = LogisticRegression([[1.0]], [0], prior_sd=1e100)
    value, grad = target.value_and_grad(np.array([margin]))
    eps = float(np.finfo(np.float64).eps)
    # NumPy's functions err by up to 4 eps each; two of them on either side.
    assert value == pytest.approx(np.logaddexp(0.0, margin), rel=20 * eps, abs=eps)
    assert grad == pytest.approx(math.exp(min(margin, 0.0)) / (1 + math.exp(-abs(margin))), rel=20 * eps)


@pytest.mark.parametrize("rows", [1, 15, 16, 17, 1000, N - 1, N])
def test_every_row_counts_once_whatever_the_block_size(
    data: tuple[Array, Array], rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = data[0][:rows], data[1][:rows]
    q = point(0.3)
    value, grad = reference(X, y, q, PRIOR_SD)
    for block_bytes in (0, 40_000, 1 << 21, 1 << 30):
        monkeypatch.setattr(logistic, "_BLOCK_BYTES", block_bytes)
        ours = LogisticRegression(X, y, PRIOR_SD)
        assert ours.value(q) == pytest.approx(value, rel=1e-13)
        assert ours.gradient(q) == pytest.approx(grad, abs=1e-13 * rows)


@pytest.fixture(scope="module")
def indicators() -> tuple[Array, Array]:
    """Rows of a few numbers, two attributes as indicators of their levels, and a column that is always zero."""
    rng = stream(2, "tests", "indicators")
    X = np.zeros((N, DIM))
    X[:, :5] = rng.standard_normal((N, 5))
    X[np.arange(N), 5 + rng.binomial(29, 0.3, N)] = 1.0
    X[np.arange(N), 35 + rng.integers(0, 14, N)] = 1.0
    return X, rng.integers(0, 2, N).astype(np.float64)


def test_a_block_has_only_the_columns_that_its_rows_use(
    data: tuple[Array, Array], indicators: tuple[Array, Array], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logistic, "_BLOCK_BYTES", 40_000)

    def stored(X: Array, y: Array) -> int:
        return sum(rows.size for _, rows in LogisticRegression(X, y, PRIOR_SD)._blocks)

    assert stored(*data) == N * DIM
    # Seven entries of a row are not zero.
    assert N * 7 <= stored(*indicators) < N * DIM / 2


@pytest.mark.parametrize("block_bytes", [0, 40_000, 1 << 30])
def test_columns_that_a_block_omits_count_as_zeros(
    indicators: tuple[Array, Array], block_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = indicators
    q, factor = point(0.3), stream(2, "tests", "factor").standard_normal((DIM, 2))
    value, grad = reference(X, y, q, PRIOR_SD)
    p = 1 / (1 + np.exp(-X @ q))
    metric = (X.T * (p * (1 - p))) @ X + np.eye(DIM) / PRIOR_SD**2
    vjp = X.T @ (p * (1 - p) * (1 - 2 * p) * ((X @ factor) ** 2).sum(axis=1))
    monkeypatch.setattr(logistic, "_BLOCK_BYTES", block_bytes)
    target = LogisticRegression(X, y, PRIOR_SD)
    assert target.value(q) == pytest.approx(value, rel=1e-13)
    assert target.gradient(q) == pytest.approx(grad, abs=1e-13 * N)
    np.testing.assert_allclose(target.metric(q), metric, atol=1e-13 * N)
    np.testing.assert_allclose(target.metric_vjp(q, factor), vjp, atol=1e-13 * N * np.sum(factor**2))


def test_the_three_evaluations_give_the_same_bytes(data: tuple[Array, Array], target: LogisticRegression) -> None:
    q = point(1.0)
    again = LogisticRegression(*data, PRIOR_SD)
    value, grad = target.value_and_grad(q)
    assert value == target.value(q) == again.value(q)
    assert grad.tobytes() == target.gradient(q).tobytes() == again.gradient(q).tobytes()


@pytest.mark.parametrize("scale", [0.0, 0.1, 3.0])
def test_the_metric_is_the_slope_of_the_gradient(
    target: LogisticRegression, scale: float, assert_slope: Callable[..., None]
) -> None:
    q, direction = point(scale), point(0.1, "direction")
    assert_slope(target.gradient, target.metric(q) @ direction, q, direction)


@pytest.mark.parametrize("rank", [1, 3, DIM])
def test_metric_vjp_is_the_slope_of_the_contracted_metric(
    target: LogisticRegression, rank: int, assert_slope: Callable[..., None]
) -> None:
    q, direction = point(0.1), point(0.1, "direction")
    factor = stream(2, "tests", "factor", str(rank)).standard_normal((DIM, rank))

    def contracted(q: Array) -> float:
        return float(np.sum(target.metric(q) * (factor @ factor.T)))

    assert_slope(contracted, target.metric_vjp(q, factor) @ direction, q, direction)


@pytest.mark.parametrize("scale", [0.1, 1e3, 1e6])
def test_the_metric_is_positive_definite_however_large_the_margins(target: LogisticRegression, scale: float) -> None:
    metric = target.metric(point(scale))
    np.testing.assert_array_equal(metric, metric.T)
    # No less than the prior precision, but for rounding of the largest eigenvalue.
    eigenvalues = np.linalg.eigvalsh(metric)
    assert eigenvalues[0] > 0.99 / PRIOR_SD**2 - 1e-13 * eigenvalues[-1]


def test_exchanging_the_labels_turns_the_coefficients_round(
    data: tuple[Array, Array], target: LogisticRegression
) -> None:
    X, y = data
    q = point(0.5)
    assert LogisticRegression(X, 1 - y, PRIOR_SD).value(-q) == target.value(q)


def test_convex(target: LogisticRegression) -> None:
    curvature = 1 / PRIOR_SD**2  # that of the prior; the likelihood only adds
    for k in range(20):
        a, b = point(1.0, f"a{k}"), point(1.0, f"b{k}")
        assert (target.gradient(a) - target.gradient(b)) @ (a - b) >= curvature * (a - b) @ (a - b)
        assert target.value((a + b) / 2) < (target.value(a) + target.value(b)) / 2


def test_the_prior_is_all_there_is_for_rows_of_zeros() -> None:
    target = LogisticRegression(np.zeros((3, 2)), [0, 1, 1], prior_sd=0.5)
    value, grad = target.value_and_grad(np.array([1.0, -2.0]))
    assert value == pytest.approx(3 * math.log(2) + 5 / (2 * 0.25), rel=1e-14)
    assert grad == pytest.approx([4.0, -8.0], rel=1e-14)


def test_arguments_are_neither_changed_nor_kept(data: tuple[Array, Array]) -> None:
    X, y = (array[:100].copy() for array in data)
    q = point(0.3)
    target = LogisticRegression(X, y, PRIOR_SD)
    before = target.value(q)
    assert np.array_equal(X, data[0][:100])
    assert np.array_equal(q, point(0.3))
    X[:], y[:] = 0, 0
    assert target.value(q) == before


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_position_that_is_not_finite_is_a_numerical_error(target: LogisticRegression, bad: float) -> None:
    q = point(0.1)
    q[7] = bad
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(NumericalError, match="logistic regression"):
            evaluate(q)


def test_a_potential_that_overflows_is_a_numerical_error(target: LogisticRegression) -> None:
    with pytest.raises(NumericalError, match="inf"):
        target.value(point(1e200))


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        ([[1.0, 2.0], [3.0, np.nan]], [0, 1], "X .* nan in row 1, column 1"),
        ([[1.0, np.inf]], [0], "X .* inf in row 0, column 1"),
        ([1.0, 2.0], [0, 1], r"X .* shape \(2,\)"),
        (np.empty((0, 3)), [], r"X .* shape \(0, 3\)"),
        ([[1.0], [2.0]], [0], r"y .* 2 rows of X, got shape \(1,\)"),
        ([[1.0], [2.0]], [[0], [1]], r"y .* shape \(2, 1\)"),
        ([[1.0], [2.0]], [0, 2], "y must be 0 or 1, got 2 in row 1"),
        ([[1.0], [2.0]], [-1, 1], "y must be 0 or 1, got -1 in row 0"),
        ([[1.0], [2.0]], [0, np.nan], "y must be 0 or 1, got nan in row 1"),
    ],
)
def test_bad_data_are_refused_by_name(X: object, y: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        LogisticRegression(X, y, 1.0)  # type: ignore[arg-type]


@pytest.mark.parametrize("prior_sd", [0.0, -1.0, np.nan, np.inf])
def test_a_prior_sd_that_is_not_positive_is_refused(prior_sd: float) -> None:
    with pytest.raises(ParameterError, match=f"prior_sd .* got {prior_sd}"):
        LogisticRegression([[1.0]], [1], prior_sd)


def test_from_file_is_the_target_of_the_stored_data(
    tmp_path: Path, data: tuple[Array, Array], target: LogisticRegression
) -> None:
    X, y = data
    np.savez(tmp_path / "data.npz", X=X, y=y.astype(np.uint8), origin="simulated")
    q = point(0.3)
    assert from_file(tmp_path / "data.npz", prior_sd=PRIOR_SD).value(q) == target.value(q)


@pytest.mark.parametrize("missing", ["X", "y", "origin"])
def test_a_missing_entry_is_named_with_its_file(tmp_path: Path, missing: str) -> None:
    entries: dict[str, npt.NDArray[Any]] = {"X": np.ones((1, 1)), "y": np.ones(1, np.uint8), "origin": np.array("real")}
    del entries[missing]
    np.savez(tmp_path / "data.npz", **entries)
    with pytest.raises(DataError, match=f"data.npz.*{missing}"):
        from_file(tmp_path / "data.npz", prior_sd=1.0)


def test_files_that_cannot_be_used_are_named(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"absent\.npz"):
        from_file(tmp_path / "absent.npz", prior_sd=1.0)
    np.savez(tmp_path / "bad.npz", X=[[np.nan]], y=[0], origin="real")
    with pytest.raises(DataError, match=r"bad\.npz: X must be finite"):
        from_file(tmp_path / "bad.npz", prior_sd=1.0)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "bad.npz").read_bytes()[:100])
    with pytest.raises(DataError, match=r"cut\.npz"):
        from_file(tmp_path / "cut.npz", prior_sd=1.0)


def test_from_file_blames_the_prior_on_the_parameter(tmp_path: Path) -> None:
    np.savez(tmp_path / "data.npz", X=[[1.0]], y=[0], origin="real")
    with pytest.raises(ParameterError, match="prior_sd"):
        from_file(tmp_path / "data.npz", prior_sd=-1.0)
