"""Standard errors of chains, and what a verdict makes of their squares."""

from dataclasses import replace

import numpy as np
import pytest
from peers.known_laws import Contaminated, Funnel, Student
from scipy.stats import chi2

from rnshmc.inference.result.estimates import average
from rnshmc.inference.result.verdict import judge
from rnshmc.types import Array
from tests.conftest import FAILURE
from tests.inference.test_verdict import CHAINS, NAMES, outcome

CHAINS_OF, TRANSITIONS, SETS = 4, 500, 40


def judged(draws: Array) -> tuple[str, str]:
    """Level and text of the verdict on chains whose R-hat is 1."""
    verdict = judge(replace(outcome(**CHAINS), draws=draws, rhat=1.0), NAMES)
    return verdict.level, str(verdict)


def switching(
    rng: np.random.Generator, leaving: float, *, dim: int = 2, share: float = 0.2, width: float = 3.0
) -> Array:
    """Chains with independent signs whose scale is 1 or ``width``, and stays: draws of `Contaminated`."""
    wide = rng.uniform(size=CHAINS_OF) < share
    scales = np.empty((CHAINS_OF, TRANSITIONS))
    for k in range(TRANSITIONS):
        chance = rng.uniform(size=CHAINS_OF)
        wide = np.where(wide, chance >= leaving, chance < leaving * share / (1.0 - share))
        scales[:, k] = np.where(wide, width, 1.0)
    return np.asarray(rng.standard_normal((CHAINS_OF, TRANSITIONS, dim)) * scales[:, :, None])


def test_few_independent_squares_are_doubtful_however_many_independent_draws_there_are() -> None:
    """Visits of a wide component last a hundred draws; R-hat is given as 1, and coordinates are white."""
    rng = np.random.default_rng(1)
    draws = switching(rng, 0.01)
    level, text = judged(draws)
    assert level == "doubtful"
    assert "! The smallest effective sample size of a mean or variance is" in text
    assert judged(rng.standard_normal(draws.shape))[0] == "good"


def test_a_tail_that_decides_a_variance_is_doubtful() -> None:
    """Kurtosis 24300 in a funnel, and 9 of Student's t, whose variance 2000 draws do show."""
    rng = np.random.default_rng(2)
    funnel = Funnel(2).sample(rng, 2000).reshape(CHAINS_OF, TRANSITIONS, 2)
    level, text = judged(funnel)
    assert level == "doubtful"
    assert "! The squares of one coordinate have a heavy tail (shape" in text
    assert judged(Student(2).sample(rng, 2000).reshape(funnel.shape))[0] == "good"


@pytest.mark.parametrize("leaving", [0.5, 0.1])
def test_errors_of_variances_are_those_of_the_chains_squares(leaving: float) -> None:
    """Squared errors in units of standard errors average to one, of white coordinates with persistent squares.

    One coordinate, so that the sets are independent. Twice the upper bound, for errors are estimated, and no less than
    half the lower one.
    """
    exact, rng, squares = Contaminated(0.2, 3.0, 1).variance, np.random.default_rng(3), []
    for _ in range(SETS):
        found = average(switching(rng, leaving, dim=1) ** 2)
        squares.append(float(((found.value - exact) / found.standard_error)[0]) ** 2)
    low, high = (chi2.isf(p, SETS) / SETS for p in (1.0 - FAILURE / 2.0, FAILURE / 2.0))
    assert low / 2.0 < np.mean(squares) < 2.0 * high


def test_chains_in_different_places_have_larger_errors() -> None:
    """The means of four chains are 0.3 apart, of 500 draws each: their spread counts."""
    rng = np.random.default_rng(4)
    draws = rng.standard_normal((CHAINS_OF, TRANSITIONS, 1))
    apart = draws + 0.3 * np.arange(CHAINS_OF)[:, None, None]
    assert average(apart).standard_error > 2.0 * average(draws).standard_error
