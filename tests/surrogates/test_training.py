import numpy as np
import pytest

from rnshmc.errors import FitError
from rnshmc.random import stream
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array


def states(n: int = 10) -> tuple[Array, Array]:
    rng = stream(3, "tests", "training")
    return rng.standard_normal((n, 3)), rng.standard_normal(n)


def test_targets_are_potentials_above_the_smallest() -> None:
    q, u = states()
    same, targets = training_set(q, u)
    assert np.array_equal(same, q)
    assert np.array_equal(targets, u - u.min())


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused_by_name(bad: float) -> None:
    q, u = states()
    q[4, 1] = bad
    with pytest.raises(FitError, match=f"q must be finite, got {bad} in row 4, column"):
        training_set(q, u)
    q, u = states()
    u[6] = bad
    with pytest.raises(FitError, match=f"u must be finite, got {bad} in entry 6"):
        training_set(q, u)


def test_wrong_shapes_are_refused_by_name() -> None:
    q, u = states()
    with pytest.raises(FitError, match=r"u .* 10 states, got shape \(9,\)"):
        training_set(q, u[:9])
    for wrong in (q[:, 0], q[:0]):
        with pytest.raises(FitError, match="q must have one row per training state"):
            training_set(wrong, u)
