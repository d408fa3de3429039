from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.targets.priors import (
    LaplacePrior,
    NormalPrior,
    Prior,
    SwappedPrior,
    SwappedPriorDriver,
)
from rnshmc.types import Array, Driver, Potential

N, DIM = 200, 5
OLD, NEW = NormalPrior(np.sqrt(10.0)), NormalPrior(np.sqrt(0.1))

pytestmark = pytest.mark.filterwarnings("error")


def data() -> tuple[Array, Array]:
    rng = stream(7, "tests", "priors")
    return rng.standard_normal((N, DIM)), rng.integers(0, 2, N).astype(np.float64)


def point(*names: str) -> Array:
    return stream(7, "tests", "priors point", *names).standard_normal(DIM)


def logistic(prior_sd: float) -> LogisticRegression:
    return LogisticRegression(*data(), prior_sd)


@pytest.mark.parametrize(
    ("prior", "law"),
    [(NormalPrior(0.7), stats.norm(0.0, 0.7)), (LaplacePrior(0.7), stats.laplace(0.0, 0.7))],
)
def test_a_prior_is_the_negative_log_density_up_to_a_constant(prior: Prior, law: stats.rv_continuous) -> None:
    constant = prior.value(np.zeros(DIM)) + law.logpdf(np.zeros(DIM)).sum()
    for k in range(5):
        assert prior.value(point(str(k))) + law.logpdf(point(str(k))).sum() == pytest.approx(constant, rel=1e-12)


@pytest.mark.parametrize("prior", [NormalPrior(0.7), LaplacePrior(0.7)])
def test_its_gradient_is_the_slope_of_its_value(prior: Prior, assert_slope: Callable[..., None]) -> None:
    # No coefficient changes its sign along the way: there the Laplace density has a kink.
    q, direction = np.sign(point("q")) * (1.0 + np.abs(point("q"))), point("direction") / 4
    assert_slope(prior.value, prior.gradient(q) @ direction, q, direction)


def test_the_gradient_of_the_laplace_prior_is_zero_in_the_middle_of_its_kink() -> None:
    assert LaplacePrior(2.0).gradient(np.array([0.0, 3.0, -4.0])).tolist() == [0.0, 0.5, -0.5]


def test_a_swapped_potential_is_the_potential_under_the_other_prior() -> None:
    swapped = SwappedPrior(logistic(OLD.sd), old=OLD, new=NEW)
    direct = logistic(NEW.sd)
    q = point("q")
    assert isinstance(swapped, Potential)
    # Three sums of one sign in place of two: a few rounding errors of the largest term.
    assert swapped.value(q) == pytest.approx(direct.value(q), rel=1e-14)
    assert swapped.gradient(q) == pytest.approx(direct.gradient(q), rel=1e-12)
    value, gradient = swapped.value_and_grad(q)
    assert value == swapped.value(q)
    np.testing.assert_array_equal(gradient, swapped.gradient(q))


def test_swapping_to_and_fro_changes_nothing() -> None:
    there = SwappedPrior(logistic(OLD.sd), old=OLD, new=LaplacePrior(1.0))
    back = SwappedPrior(there, old=LaplacePrior(1.0), new=OLD)
    q = point("q")
    assert back.value(q) == pytest.approx(logistic(OLD.sd).value(q), rel=1e-14)
    assert back.gradient(q) == pytest.approx(logistic(OLD.sd).gradient(q), rel=1e-12)


def test_a_swapped_driver_moves_by_the_error_of_the_driver_alone() -> None:
    """Whatever the driver is wrong by under the old prior, it is wrong by under the new one."""

    class Wrong:
        dim = DIM

        def gradient(self, q: Array) -> Array:
            wrong: Array = logistic(OLD.sd).gradient(q) + np.sin(q)
            return wrong

    swapped = SwappedPriorDriver(Wrong(), old=OLD, new=NEW)
    q = point("q")
    assert isinstance(swapped, Driver)
    assert not isinstance(swapped, Potential)
    assert swapped.dim == DIM
    assert swapped.gradient(q) - logistic(NEW.sd).gradient(q) == pytest.approx(np.sin(q), rel=1e-10)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e200])
def test_a_position_that_cannot_be_evaluated_is_a_numerical_error(bad: float) -> None:
    swapped = SwappedPrior(logistic(OLD.sd), old=OLD, new=NEW)
    q = point("q")
    q[2] = bad
    for evaluate in (swapped.value, swapped.value_and_grad):
        with pytest.raises(NumericalError):
            evaluate(q)


def test_a_new_prior_that_overflows_is_a_numerical_error() -> None:
    swapped = SwappedPrior(logistic(1e150), old=NormalPrior(1e150), new=NormalPrior(1e-3))
    with pytest.raises(NumericalError, match="new prior is inf"):
        swapped.value(np.full(DIM, 1e152))
    with pytest.raises(NumericalError, match="gradient under the new prior"):
        swapped.gradient(np.full(DIM, 1e303))


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
def test_a_width_that_is_not_positive_is_refused(bad: float) -> None:
    with pytest.raises(ParameterError, match=f"sd must be a positive number, got {bad}"):
        NormalPrior(bad)
    with pytest.raises(ParameterError, match=f"scale must be a positive number, got {bad}"):
        LaplacePrior(bad)
