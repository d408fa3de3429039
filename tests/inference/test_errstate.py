"""With ``np.seterr(all="raise")`` of the user's, results are the same, and a function of the user raises."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import rnshmc
from rnshmc.types import Array

X0 = np.array([0.5, 0.2, 1.0])
BOUNDS = ["positive", "unit", None]


def posterior(x: Array) -> tuple[float, Array]:
    """Gamma(2, 1), Beta(2, 2) and a normal variable."""
    value = np.log(x[0]) - x[0] + np.log(x[1]) + np.log1p(-x[1]) - 0.5 * x[2] ** 2
    return float(value), np.array([1 / x[0] - 1, 1 / x[1] - 1 / (1 - x[1]), -x[2]])


def run() -> rnshmc.Result:
    return rnshmc.sample(posterior, X0, bounds=BOUNDS, draws=200, progress_bar=False)


@pytest.fixture
def _raising() -> Iterator[None]:
    with np.errstate(all="raise"):
        yield


@pytest.fixture(scope="module")
def expected() -> rnshmc.Result:
    return run()


@pytest.mark.usefixtures("_raising")
def test_all_that_a_result_offers_is_the_same(expected: rnshmc.Result, tmp_path: Path) -> None:
    found = run()
    assert np.geterr() == dict.fromkeys(("divide", "over", "under", "invalid"), "raise")
    assert found.chains.tobytes() == expected.chains.tobytes()
    assert str(found) == str(expected)
    assert found.summary(variables=lambda x: {"far": np.exp(-1e3 * x[:, :1])}).shape[0] == 1
    found.save(tmp_path / "result.nc")
    again = rnshmc.load(tmp_path / "result.nc")
    assert again.summary().equals(found.summary())
    assert found.to_arviz().posterior.sizes["chain"] == 4
    assert found.quantile(0.5).value.shape == (3,)
    assert found.resample(10).shape == (10, 3)
    assert np.geterr()["under"] == "raise"


@pytest.mark.usefixtures("_raising")
def test_functions_of_the_user_raise_as_the_user_wants(expected: rnshmc.Result) -> None:
    with pytest.raises(FloatingPointError, match="divide by zero"):
        expected.expectation(lambda x: 1.0 / (0.0 * x))
    with pytest.raises(rnshmc.ParameterError, match="FloatingPointError: overflow"):
        rnshmc.sample(lambda x: -float(np.exp(1e3 * x[0])), [1.0])


def test_warnings_that_are_off_stay_off_in_the_target(recwarn: pytest.WarningsRecorder) -> None:
    def overflowing(x: Array) -> float:
        return -0.5 * float(x @ x) + 0.0 / float(1.0 + np.exp(1e4 + 0.0 * x[0]))

    with np.errstate(all="ignore"):
        rnshmc.sample(overflowing, [1.0], budget=20, progress_bar=False)
    assert [str(one.message) for one in recwarn if "overflow" in str(one.message)] == []
