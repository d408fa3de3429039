import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.targets.gaussian import Gaussian, spread_gaussian
from rnshmc.types import Array
from tests.conftest import z_bound


def paper(seed: int = 1) -> Gaussian:
    return spread_gaussian(stream(seed, "tests", "spread"), dim=30, smallest=0.1, largest=1000.0, between=(1.0, 100.0))


def variances(target: Gaussian) -> Array:
    precision = target.metric(np.zeros(target.dim))
    np.testing.assert_array_equal(precision, np.diag(np.diagonal(precision)))
    found: Array = 1 / np.diagonal(precision)
    return found


def test_the_extreme_variances_are_at_the_ends_and_the_others_in_between() -> None:
    found = variances(paper())
    assert len(found) == 30
    assert found[[0, -1]] == pytest.approx([0.1, 1000.0], rel=1e-14)
    assert (found[1:-1] >= 1).all()
    assert (found[1:-1] <= 100).all()
    # 28 uniform draws: the standard error of their mean follows from that of one.
    assert found[1:-1].mean() == pytest.approx(50.5, abs=z_bound() * 99 / np.sqrt(12 * 28))


def test_equal_streams_give_equal_targets_and_other_streams_do_not() -> None:
    np.testing.assert_array_equal(variances(paper(1)), variances(paper(1)))
    assert (variances(paper(1))[1:-1] != variances(paper(2))[1:-1]).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"dim": 1}, "dim must be at least 2, got 1"),
        ({"smallest": 0.0}, "smallest = 0.0"),
        ({"smallest": 2.0}, "smallest = 2.0"),
        ({"largest": 50.0}, "largest = 50.0"),
        ({"between": (100.0, 1.0)}, r"between = \(100.0, 1.0\)"),
        ({"largest": np.inf}, "largest = inf"),
    ],
)
def test_settings_out_of_order_are_named(settings: dict[str, object], message: str) -> None:
    good = {"dim": 30, "smallest": 0.1, "largest": 1000.0, "between": (1.0, 100.0)}
    with pytest.raises(ParameterError, match=message):
        spread_gaussian(stream(1), **{**good, **settings})  # type: ignore[arg-type]
