"""Errors of published numbers, estimated from our chains."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.signal import lfilter

from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.random import stream
from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.measured import Measured
from rnshmc.scorecard.noise import BETWEEN_RUNS, ONE_CHAIN, errors
from rnshmc.scorecard.rules import Rule

NEAR = Rule("near", 0.15, 0.35)


def ess(value: float, error: float, chains: int = 5) -> Measured:
    return Measured(Estimate(value, error), chains, "chain", effective=value)


@pytest.mark.parametrize("estimator", [geyer_ess, truncated_ess])
@pytest.mark.parametrize(("n", "phi"), [(9000, 0.98), (9000, 0.95), (5000, 0.8)])
def test_the_relative_variance_of_an_effective_sample_size_falls_as_its_inverse(
    estimator: object, n: int, phi: float
) -> None:
    """V, the relative variance times the size, is `ONE_CHAIN` up to a factor of three, whatever the correlation.

    Of 300 chains the logarithm of a variance has a standard error of 0.08 for a normal law; V is between 4 and 14, more
    than five of them inside.
    """
    chains = 300
    shocks = stream(3, "noise", str(phi)).standard_normal((n + 1000, chains)) * math.sqrt(1 - phi**2)
    sizes = estimator(lfilter([1], [1, -phi], shocks, axis=0)[1000:])  # type: ignore[operator]
    v = sizes.var() / sizes.mean()
    assert ONE_CHAIN / 3 < v < 3 * ONE_CHAIN


def test_a_mean_over_chains_spreads_as_ours() -> None:
    # Four chains of ours have the error 100, one has 200; so has one of the paper, and five have 89.
    ours = Measured(Estimate(600.0, 100.0), 4, "chain")
    assert errors(600.0, 1, NEAR, ours) == (ours.estimate, 200.0)
    assert_allclose(errors(600.0, 5, NEAR, ours)[1], 200.0 / math.sqrt(5))
    assert math.isnan(errors(600.0, math.nan, NEAR, ours)[1])


def test_a_larger_published_size_is_the_better_known_one() -> None:
    few, many = (errors(printed, 1, NEAR, ess(100.0, 10.0))[1] / printed for printed in (100.0, 400.0))
    assert_allclose(few / many, 2.0)


def test_one_chain_of_ours_has_the_error_of_the_law() -> None:
    ours, printed = errors(200.0, 1, NEAR, ess(50.0, math.nan, chains=1))
    assert_allclose(ours.error, 50.0 * math.sqrt(ONE_CHAIN / 50))
    assert_allclose(printed, 200.0 * math.sqrt(ONE_CHAIN / 200))


def test_scaling_to_more_draws_makes_a_size_no_better_known() -> None:
    scaled = Measured(Estimate(500.0, math.nan), 1, "chain", effective=50.0)
    assert_allclose(errors(500.0, 1, NEAR, scaled)[0].error / 500.0, math.sqrt(ONE_CHAIN / 50))


@pytest.mark.parametrize(
    ("value", "error", "printed"), [(54.6, 10.37, 116.0), (80.4, 13.63, 176.0), (149.3, 21.06, 303.0)]
)
def test_twice_as_many_effective_draws_are_not_reproduced(value: float, error: float, printed: float) -> None:
    ours, printed_error = errors(printed, 1, NEAR, ess(value, error))
    relative = np.hypot(ours.error / value, printed_error / printed)
    assert 2.2 < math.log(printed / value) / relative < 3.2
    assert NEAR.verdict(printed, ours, printed_error) == "differs"


@pytest.mark.parametrize(("value", "printed"), [(119.5, 116.0), (142.7, 99.0), (169.0, 130.0)])
def test_what_single_chains_cannot_tell_apart_is_reproduced(value: float, printed: float) -> None:
    ours, printed_error = errors(printed, 1, NEAR, ess(value, 0.13 * value))
    assert NEAR.verdict(printed, ours, printed_error) == "reproduced"


def test_errors_of_seconds_include_their_spread_between_runs() -> None:
    seconds = Measured(Estimate(3.0, 0.1), 10, "block")
    ours, _ = errors(1.5, 5, Rule("cost", 2.0), seconds)
    assert_allclose(ours, (3.0, math.hypot(0.1, 3.0 * BETWEEN_RUNS)))
    alone, _ = errors(1.5, 5, Rule("gain", 2.0), Measured(Estimate(3.0, math.nan), 1, "block"))
    assert_allclose(alone, (3.0, 3.0 * BETWEEN_RUNS))
