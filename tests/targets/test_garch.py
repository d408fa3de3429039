import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from rnshmc.datasets.synthetic import simulate_garch
from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.kernels.hmc import HMC
from rnshmc.random import stream
from rnshmc.targets.garch import Garch, from_file
from rnshmc.types import Array, Potential
from tests.conftest import FAILURE, z_bound

PRIOR_SD = 10.0
TRUTH = np.array([0.1, 0.2, 0.2, 0.5])
ORDERS = [(1, 1), (2, 1), (1, 2), (3, 2)]

pytestmark = pytest.mark.filterwarnings("error")


def series(n: int = 1000) -> Array:
    return simulate_garch(n, alpha=TRUTH[:3].tolist(), beta=TRUTH[3:].tolist(), rng=stream(6, "tests", "garch")).arrays[
        "y"
    ]


@pytest.fixture(scope="module")
def target() -> Garch:
    return Garch(series(), orders=(2, 1), prior_sd=PRIOR_SD)


def inside(*names: str, dim: int = 4) -> Array:
    """A position with density, well away from the boundary."""
    rng = stream(6, "tests", "garch position", *names)
    return np.concatenate(([rng.uniform(0.05, 0.5)], 0.9 * rng.dirichlet(np.ones(dim))[1:]))


def reference(y: Array, orders: tuple[int, int], q: Array) -> float:
    """U by equations (24) and (25), one observation at a time."""
    m, r = orders
    alpha, beta = q[: m + 1], q[m + 1 :]
    start = max(m, r)
    h = [float(np.mean(y**2))] * start
    terms = []
    for t in range(start, len(y)):
        past = math.fsum(alpha[j] * y[t - j] ** 2 for j in range(1, m + 1))
        h.append(alpha[0] + past + math.fsum(beta[j - 1] * h[t - j] for j in range(1, r + 1)))
        terms.append(math.log(h[t]) + y[t] ** 2 / h[t])
    return 0.5 * math.fsum(terms) + float(q @ q) / (2 * PRIOR_SD**2)


def test_it_is_a_potential(target: Garch) -> None:
    assert isinstance(target, Potential)
    assert target.dim == 4


@pytest.mark.parametrize("orders", ORDERS)
def test_value_follows_the_recursion_term_by_term(orders: tuple[int, int]) -> None:
    y, q = series(300), inside(str(orders), dim=1 + sum(orders))
    # 300 sums of terms of one sign, each with a few rounding errors that the recursion does not amplify.
    assert Garch(y, orders=orders, prior_sd=PRIOR_SD).value(q) == pytest.approx(reference(y, orders, q), rel=1e-13)


@pytest.mark.parametrize("orders", ORDERS)
def test_adjoint_gradient_is_the_slope_of_the_value(orders: tuple[int, int], assert_slope: Callable[..., None]) -> None:
    target = Garch(series(), orders=orders, prior_sd=PRIOR_SD)
    q = inside(str(orders), dim=target.dim)
    # Small enough that the largest step of the test stays inside.
    room = min(q.min(), 1 - q[1:].sum())
    for direction in room * np.vstack((np.eye(target.dim), stream(6, "direction").uniform(-1, 1, target.dim) / 4)):
        assert_slope(target.value, target.gradient(q) @ direction, q, direction)


def test_value_and_grad_is_value_and_gradient(target: Garch) -> None:
    q = inside("both")
    value, gradient = target.value_and_grad(q)
    assert value == target.value(q)
    np.testing.assert_array_equal(gradient, target.gradient(q))


def test_parameters_and_series_scale_together() -> None:
    """c y with alpha_0 c^2 has the variances of y times c^2, and the likelihood differs by a constant."""
    y, q, c = series(), inside("scale"), 3.0
    flat = 1e100
    scaled = q * [c**2, 1.0, 1.0, 1.0]
    difference = Garch(c * y, orders=(2, 1), prior_sd=flat).value(scaled) - Garch(
        y, orders=(2, 1), prior_sd=flat
    ).value(q)
    assert difference == pytest.approx((len(y) - 2) * math.log(c), rel=1e-11)


def test_signs_of_the_observations_do_not_matter(target: Garch) -> None:
    q = inside("signs")
    assert Garch(-series(), orders=(2, 1), prior_sd=PRIOR_SD).value(q) == target.value(q)


def test_the_score_has_mean_zero_at_the_truth() -> None:
    """Over series drawn from the model; the prior is wide enough to add nothing."""
    scores = []
    for k in range(100):
        y = simulate_garch(
            200, alpha=TRUTH[:3].tolist(), beta=TRUTH[3:].tolist(), rng=stream(6, "score", str(k))
        ).arrays["y"]
        scores.append(Garch(y, orders=(2, 1), prior_sd=1e100).gradient(TRUTH))
    z = np.mean(scores, axis=0) / (np.std(scores, axis=0, ddof=1) / np.sqrt(len(scores)))
    assert np.abs(z).max() < stats.t(len(scores) - 1).isf(FAILURE / 2 / len(z))


@pytest.mark.parametrize(
    "outside",
    [
        [0.0, 0.2, 0.2, 0.5],
        [-0.1, 0.2, 0.2, 0.5],
        [0.1, -1e-9, 0.2, 0.5],
        [0.1, 0.2, 0.2, -0.1],
        [0.1, 0.3, 0.2, 0.5],
        [0.1, 0.2, 0.2, np.nan],
        [np.nan, 0.2, 0.2, 0.5],
        [np.inf, 0.2, 0.2, 0.5],
        [1e-320, 0.0, 0.0, 0.0],
    ],
)
def test_outside_the_prior_or_where_it_overflows_there_is_no_potential(target: Garch, outside: list[float]) -> None:
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(NumericalError, match="GARCH"):
            evaluate(np.array(outside))


def test_the_boundary_of_the_prior_has_the_values_of_its_limit(target: Garch) -> None:
    edge, near = np.array([[0.1, 0.0, 0.2, 0.5], [0.1, 1e-12, 0.2, 0.5]])
    assert target.value(edge) == pytest.approx(target.value(near), rel=1e-10)


def test_a_kernel_rejects_and_flags_a_trajectory_that_leaves() -> None:
    target = Garch(series(30), orders=(2, 1), prior_sd=PRIOR_SD)
    kernel = HMC(target, target, step_size=10.0, n_steps=(1, 1))
    state = kernel.init(TRUTH)
    after, info = kernel.step(stream(6, "leaves"), state)
    assert after is state
    assert info.solver_failed


def test_hmc_leaves_the_truncated_posterior_invariant() -> None:
    """Few observations, so that the truncation matters. The starts are exact draws, by importance resampling."""
    target = Garch(series(12), orders=(2, 1), prior_sd=0.5)
    rng = stream(6, "importance")
    proposals = np.abs(0.5 * rng.standard_normal((40000, 4)))
    proposals = proposals[proposals[:, 1:].sum(axis=1) < 1]
    # The truncated prior proposes, so that the likelihood alone weighs.
    logs = np.array([q @ q / (2 * 0.5**2) - target.value(q) for q in proposals])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    kernel = HMC(target, target, step_size=0.06, n_steps=(1, 4))
    starts = proposals[rng.choice(len(proposals), 4000, p=weights)]
    ends = np.array([kernel.step(rng, kernel.init(q))[0].q for q in starts])
    features = np.hstack((ends, ends**2)) - np.hstack((starts, starts**2))
    # Paired differences: one transition changes no moment.
    z = features.mean(axis=0) / (features.std(axis=0) / np.sqrt(len(features)))
    assert np.abs(z).max() < z_bound(len(z))
    assert (ends != starts).any(axis=1).mean() > 0.3


def test_arguments_are_neither_changed_nor_kept() -> None:
    y, q = series(), inside("kept")
    target = Garch(y, orders=(2, 1), prior_sd=PRIOR_SD)
    before = target.value_and_grad(q)
    assert np.array_equal(y, series())
    assert np.array_equal(q, inside("kept"))
    y[:] = 1.0
    assert target.value(q) == before[0]


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, 2.0], r"more than 2 entries, got shape \(2,\)"),
        ([[1.0], [2.0], [3.0]], r"shape \(3, 1\)"),
        ([1.0, np.nan, 1.0], "nan in entry 1"),
        ([0.0, 0.0, 0.0], "must not all be zero"),
    ],
)
def test_bad_series_are_refused(y: list[float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Garch(y, orders=(2, 1), prior_sd=PRIOR_SD)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"orders": (0, 1)}, r"orders must be integers of at least 1, got \(0, 1\)"),
        ({"orders": (2, 0)}, "orders must be integers of at least 1"),
        ({"orders": (2, 1.0)}, "orders must be integers of at least 1"),
        ({"prior_sd": 0.0}, "prior_sd .* got 0.0"),
        ({"prior_sd": np.inf}, "prior_sd .* got inf"),
    ],
)
def test_settings_out_of_range_are_named(settings: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Garch(series(10), **{"orders": (2, 1), "prior_sd": 1.0, **settings})  # type: ignore[arg-type]


def test_from_file_is_the_target_of_the_stored_series(tmp_path: Path, target: Garch) -> None:
    np.savez(tmp_path / "garch.npz", y=series(), origin="simulated")
    q = inside("file")
    # A config holds the orders as a list.
    stored = from_file(tmp_path / "garch.npz", orders=[2, 1], prior_sd=PRIOR_SD)  # type: ignore[arg-type]
    assert stored.value(q) == target.value(q)


def test_a_file_with_a_bad_series_is_named(tmp_path: Path) -> None:
    np.savez(tmp_path / "garch.npz", y=[np.nan] * 5, origin="simulated")
    with pytest.raises(DataError, match=r"garch\.npz: observations must be finite"):
        from_file(tmp_path / "garch.npz", orders=(2, 1), prior_sd=1.0)


@pytest.mark.parametrize("size", [3, 5])
def test_a_position_of_another_size_is_refused(target: Garch, size: int) -> None:
    q = np.full(size, 0.1)
    for evaluate in (target.value, target.gradient, target.value_and_grad):
        with pytest.raises(ParameterError, match=rf"q must have shape \(4,\), got \({size},\)"):
            evaluate(q)
