import numpy as np
import pytest

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.random import stream
from rnshmc.surrogates.matching import potential_matching
from rnshmc.types import Array

EPS = float(np.finfo(np.float64).eps)
N = 200


def potential(q: Array) -> Array:
    u: Array = 0.5 * (q**2).sum(axis=1)
    return u


@pytest.fixture
def states() -> Array:
    return stream(3, "tests", "matching").standard_normal((N, 3))


@pytest.mark.parametrize("factor", [0.0, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("shift", [0.0, -7.0])
def test_a_potential_of_the_wrong_size_misses_the_square_of_its_error(
    states: Array, factor: float, shift: float
) -> None:
    u = potential(states)
    match = potential_matching(factor * u + shift, u)
    variance = ((u - u.mean()) ** 2).mean()
    assert match.potential_variance == pytest.approx(variance, rel=N * EPS)
    assert match.variance == pytest.approx((factor - 1) ** 2 * variance, rel=N * EPS, abs=N * EPS * 100)
    assert match.states == N


def test_an_independent_error_adds_its_variance(states: Array) -> None:
    error = stream(3, "tests", "error").standard_normal(N)
    match = potential_matching(potential(states), potential(states) + error)
    assert match.variance == pytest.approx(float(np.var(error)), rel=1e-12)
    assert match.potential_variance == float(np.var(potential(states) + error))


def test_what_cannot_be_compared_is_refused_by_name(states: Array) -> None:
    u = potential(states)
    with pytest.raises(ParameterError, match=r"one potential for each value of v, got shapes \(199,\) and \(200,\)"):
        potential_matching(u, u[1:])
    for n in (0, 1):
        with pytest.raises(ParameterError, match=f"the {n} held-out states do not vary"):
            potential_matching(u[:n], u[:n])
    with pytest.raises(NumericalError, match="over 200 held-out states is nan"):
        potential_matching(np.nan * u, u)
