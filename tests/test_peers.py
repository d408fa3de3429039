"""The comparison with peers: counts, effective draws from errors, and units until 1000 draws."""

import io
import math
import struct
from dataclasses import replace
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from peers.counted import BudgetError, Counted
from peers.growth import draw, growth
from peers.judge import Verdict, judge
from peers.known_laws import TwistedGaussian
from peers.laplace_peers import laplace
from peers.measures import Moments, chain_draws, equivalent_draws, units_to_goal, weighted_draws
from peers.our_peers import outcome_of
from peers.outcome import Outcome
from peers.problems import NAMES, Problem, UnconstrainedGarch, make_problem
from peers.reference import write
from peers.remote import serve
from peers.run import run
from peers.table import DESCRIPTIONS, page
from scipy.signal import lfilter

from rnshmc.errors import NumericalError
from rnshmc.inference.call import sample
from rnshmc.targets.garch import Garch
from rnshmc.types import Array, Potential
from tests.conftest import check_slope, z_bound
from tests.peers_cases import as_problem, linear_gaussian


class HalfLine:
    """The standard exponential, as a potential."""

    dim = 1

    def value(self, q: Array) -> float:
        if q[0] < 0:
            raise NumericalError("outside")
        return float(q[0])

    def gradient(self, q: Array) -> Array:
        return np.ones(1)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), self.gradient(q)


def half_line(_: object) -> Potential:
    return HalfLine()


STANDARD = Moments(np.zeros(3), np.ones(3), np.full(3, 3.0))
EXACT = (math.inf, math.inf)


def autoregression(phi: float, *, chains: int, n: int, dim: int, rng: np.random.Generator) -> Array:
    """x_t = phi x_{t-1} + sqrt(1 - phi^2) e_t in its stationary state, shape (chains, n, dim)."""
    first = rng.standard_normal((chains, 1, dim))
    noise = math.sqrt(1 - phi**2) * rng.standard_normal((chains, n - 1, dim))
    chain: Array = lfilter([1.0], [1.0, -phi], np.concatenate((first, noise), axis=1), axis=1)
    return chain


def test_every_call_is_counted_failed_ones_too() -> None:
    target = Counted(HalfLine(), max_units=100)
    assert target.log_density(np.array([2.0])) == -2.0
    value, gradient = target.log_density_and_gradient(np.array([3.0]))
    assert (value, gradient[0]) == (-3.0, -1.0)
    assert target.log_density(np.array([-1.0])) == -np.inf
    assert target.log_density_and_gradient(np.array([-1.0])) == (-np.inf, np.zeros(1))
    assert (target.values, target.gradients, target.failed, target.units) == (4, 2, 2, 6)
    assert target.seconds > 0


def test_no_call_goes_over_the_budget() -> None:
    target = Counted(HalfLine(), max_units=3)
    target.log_density_and_gradient(np.ones(1))
    with pytest.raises(BudgetError):
        target.log_density_and_gradient(np.ones(1))
    target.log_density(np.ones(1))
    with pytest.raises(BudgetError):
        target.log_density(np.ones(1))
    assert target.units == 3


def test_a_limit_of_seconds_that_passes_within_an_evaluation_ends_the_run() -> None:
    """It was taken for a failed evaluation, and never came again."""
    problem = as_problem(linear_gaussian())

    def slow(x: Array) -> float:
        end = process_time() + 0.1
        while process_time() < end:
            pass
        return float(-0.5 * x @ x)

    def peer(_: Counted, __: Problem, seed: int) -> Outcome:
        result = sample(slow, np.zeros(problem.dim), seed=seed, budget=60)
        assert "it was interrupted" in str(result.verdict)
        return outcome_of(result, problem)

    found = run(peer, problem, Counted(problem.potential, max_units=100), 1, max_seconds=1)
    assert found["ended"] == "stopped after 1 s"
    assert found["outcome"] is not None


def test_errors_of_independent_draws_are_those_of_as_many() -> None:
    # 1 / N of the measure is a mean of dim squared errors: each has mean 1 / n, and a standard deviation of about
    # sqrt(2) / n for means and, with the kurtosis of the sample variance, little more for variances.
    rng = np.random.default_rng(1)
    n, repeats = 400, 500
    inverse = np.empty((repeats, 2))
    for k in range(repeats):
        moments = Moments.of(rng.standard_normal((n, 3)))
        inverse[k] = 1.0 / np.array(equivalent_draws(moments.mean, moments.variance, STANDARD))
    error = inverse.std(axis=0, ddof=1) / math.sqrt(repeats)
    assert (np.abs(inverse.mean(axis=0) - 1.0 / n) < 1.1 * z_bound(2) * error).all()


def test_a_known_error_has_its_number_of_draws() -> None:
    mean, variance = equivalent_draws(np.array([0.1, 0.0, 0.0]), np.array([1.0, 1.2, 1.0]), STANDARD)
    assert mean == pytest.approx(3 / 0.1**2, rel=1e-12)
    assert variance == pytest.approx(3 * 2 / 0.2**2, rel=1e-12)


@pytest.mark.parametrize("phi", [0.5, 0.8])
def test_draws_of_an_autoregression_have_the_known_worth(phi: float) -> None:
    # ESS / n is (1 - phi) / (1 + phi) for means, and the same in phi^2 for squares. The relative variance of an
    # autocorrelation time summed over a window of w lags is 2 (2 w + 1) / n (Sokal 1997); w = 10 times sufficient here.
    chains, n = 2, 40000
    x = autoregression(phi, chains=chains, n=n, dim=1, rng=np.random.default_rng(2))
    of_mean, of_variance = chain_draws(x)
    window = 10 / (1 - phi)
    bound = z_bound(2) * math.sqrt(2 * (2 * window + 1) / (chains * n))
    assert of_mean / (chains * n) == pytest.approx((1 - phi) / (1 + phi), rel=bound)
    assert of_variance / (chains * n) == pytest.approx((1 - phi**2) / (1 + phi**2), rel=bound)


def test_units_of_a_chain_grow_with_its_autocorrelation_time() -> None:
    # 500 units of warm-up and 2 for each draw; phi = 0.5 makes three draws worth one.
    draws = 600
    assert units_to_goal(500 + 2 * draws, 500, draws / 3) == pytest.approx(500 + 2 * 3 * 1000, rel=1e-12)


def test_the_slowest_coordinates_count_in_proportion_to_their_errors() -> None:
    rng = np.random.default_rng(3)
    fast, slow = (autoregression(phi, chains=2, n=20000, dim=1, rng=rng) for phi in (0.0, 0.8))
    both = chain_draws(np.concatenate((fast, slow), axis=2))[0]
    alone = [chain_draws(x)[0] for x in (fast, slow)]
    assert both == pytest.approx(2.0 / (1.0 / alone[0] + 1.0 / alone[1]), rel=1e-10)


def test_equal_weights_are_worth_their_number_and_zeros_nothing() -> None:
    draws = np.random.default_rng(4).standard_normal((1000, 3))
    weights = np.where(np.arange(1000) < 500, 1 / 500, 0.0)
    np.testing.assert_allclose(weighted_draws(draws, np.full(1000, 1e-3)), 1000.0, rtol=1e-10)
    np.testing.assert_allclose(weighted_draws(draws, weights), 500.0, rtol=1e-10)


def test_the_gradient_of_the_garch_is_its_slope() -> None:
    potential = UnconstrainedGarch(Garch(np.random.default_rng(5).standard_normal(50), orders=(2, 1), prior_sd=10.0))
    q, direction = np.array([-2.0, -0.5, 0.3, 0.7]), np.random.default_rng(6).standard_normal(4)
    check_slope(potential.value, float(potential.gradient(q) @ direction), q, direction)


def test_the_garch_density_carries_its_jacobian() -> None:
    garch = Garch(np.random.default_rng(7).standard_normal(50), orders=(2, 1), prior_sd=10.0)
    potential = UnconstrainedGarch(garch)
    q = np.array([-2.0, -0.5, 0.3, 0.7])
    step = 1e-5
    columns = [(potential.natural(q + e)[0] - potential.natural(q - e)[0]) / (2 * step) for e in step * np.eye(4)]
    log_jacobian = np.linalg.slogdet(np.stack(columns))[1]
    # Central differences: an error of order step^2.
    assert garch.value(potential.natural(q)[0]) - potential.value(q) == pytest.approx(log_jacobian, abs=1e-8)


def test_laplace_is_exact_for_a_gaussian() -> None:
    potential = TwistedGaussian(bend=0.0)
    approximation = laplace(Counted(potential, 10**6), np.full(10, 0.3))
    np.testing.assert_allclose(approximation.mode, 0.0, atol=0.2)  # the gradient ends below 1e-3, on a width of 10
    precision = approximation.factor @ approximation.factor.T
    np.testing.assert_allclose(precision, np.diag([0.01] + [1.0] * 9), atol=1e-8)


def test_a_potential_answers_through_a_pipe() -> None:
    answers = io.BytesIO()
    requests = b"v" + np.array([2.0]).tobytes() + b"g" + np.array([3.0]).tobytes() + b"v" + np.array([-1.0]).tobytes()
    serve("tests.test_peers:half_line", None, io.BytesIO(requests), answers)  # type: ignore[arg-type]
    one, two = (struct.pack("q", count) for count in (1, 2))
    assert (
        answers.getvalue()
        == b"+" + one + np.array([2.0]).tobytes() + b"+" + two + np.array([3.0, 1.0]).tobytes() + b"-"
    )


def result(**entries: object) -> dict[str, object]:
    outcome = {
        "mean": [0.0, 0.0, 0.0],
        "variance": [1.0, 1.0, 1.0],
        "says": "fine",
        "says_good": True,
        "own_draws": [200.0, 400.0],
        "warmup_units": 100.0,
    }
    run = {"peer": "p", "problem": "q", "seed": 1, "units": 1100, "failed": 0, "overhead_s": 2.0, "target_s": 1.1}
    return {**run, "version": "1", "ended": "finished", "outcome": {**outcome, **entries}}


def test_a_chain_whose_errors_bear_it_out_is_extrapolated() -> None:
    verdict = judge(result(mean=[0.05, 0.0, 0.0], variance=[1.05, 1.0, 1.0]), STANDARD, EXACT)
    assert (verdict.units_mean, verdict.units_variance) == (100 + 1000 * 5, 100 + 1000 * 2.5)
    assert verdict.units_goal == 5100
    assert verdict.honest
    assert verdict.overhead_at_goal_s == pytest.approx(2.0 * 5100 / 1100)


def test_a_chain_whose_errors_do_not_is_neither_right_nor_extrapolated() -> None:
    verdict = judge(result(mean=[1.0, 0.0, 0.0]), STANDARD, EXACT)
    assert not verdict.honest
    assert verdict.units_mean == np.inf


def test_errors_of_the_reference_are_allowed_for() -> None:
    shifted = result(mean=[0.5, 0.0, 0.0])
    assert not judge(shifted, STANDARD, EXACT).honest
    assert judge(shifted, STANDARD, (50.0, math.inf)).honest


def test_a_result_without_a_number_counts_where_its_errors_are_small() -> None:
    none = {"own_draws": [math.nan, math.nan], "warmup_units": math.nan}
    near, far = (judge(result(mean=[shift, 0.0, 0.0], **none), STANDARD, EXACT) for shift in (0.01, 0.5))
    assert (near.units_mean, near.honest) == (1100, True)
    assert (far.units_mean, far.honest) == (np.inf, False)


def test_a_result_that_is_called_bad_is_no_lie() -> None:
    assert judge(result(mean=[1.0, 0.0, 0.0], says_good=False), STANDARD, EXACT).honest
    assert judge({**result(), "outcome": None}, STANDARD, EXACT).units_goal == np.inf


def test_the_page_ranks_peers_by_units(tmp_path) -> None:  # type: ignore[no-untyped-def]
    write(tmp_path / "garch.csv", STANDARD, (5000.0, 3000.0))
    slow = judge({**result(), "problem": "garch", "peer": "slow"}, STANDARD, EXACT)
    fast = judge({**result(own_draws=[900.0, 900.0]), "problem": "garch", "peer": "fast"}, STANDARD, EXACT)
    rows = [line for line in page([slow, fast], tmp_path).splitlines() if line.startswith(("| slow", "| fast"))]
    assert [row.split(" | ")[0] for row in rows] == ["| fast", "| slow"]


@pytest.mark.parametrize(("ours", "wins"), [("fast", 1), ("slow", 0)])
def test_the_page_opens_with_the_number_of_wins(ours: str, wins: int, tmp_path: Path) -> None:
    write(tmp_path / "garch.csv", STANDARD, (5000.0, 3000.0))
    names = {"fast": "other", "slow": "other"} | {ours: "rnshmc_gradient"}
    slow = judge({**result(), "problem": "garch", "peer": names["slow"]}, STANDARD, EXACT)
    fast = judge({**result(own_draws=[900.0, 900.0]), "problem": "garch", "peer": names["fast"]}, STANDARD, EXACT)
    assert f"needs the fewest units on {wins} of 1 posteriors" in page([slow, fast], tmp_path)


def test_the_page_opens_with_factors_verdicts_and_rows_of_earlier_code(tmp_path: Path) -> None:
    write(tmp_path / "garch.csv", STANDARD, (5000.0, 3000.0))
    one = judge({**result(), "problem": "garch", "peer": "other"}, STANDARD, EXACT)
    ours = replace(one, peer="rnshmc_gradient", units_mean=one.units_mean / 4, units_variance=one.units_variance / 4)
    values = replace(one, peer="rnshmc_values", units_mean=math.inf, says="bad, ensemble", says_good=False)
    text = page([one, ours, values], tmp_path)
    assert (
        "On the 1 where another sampler with gradients reaches the accuracy of 1000 draws, the best one takes 4 to 4"
        in text
    )
    assert "it reaches that accuracy on 0 of 1. On 0 of the others, another sampler does." in text
    assert "**Verdicts**: 1 of its 1 results marked good are accurate." in text
    assert "were made by earlier code, which fell back to an ensemble sampler" in text
    assert "earlier code" not in page([one, ours, replace(values, says="bad, surrogate")], tmp_path)


def of_dimension(problem: str, seed: int, units: float) -> Verdict:
    """A run of ours whose errors are those of 1000 draws."""
    ours = {"peer": "rnshmc_gradient", "problem": problem, "seed": seed}
    verdict = judge({**result(), **ours}, STANDARD, EXACT)
    return replace(verdict, units_mean=units, units_variance=units, overhead_s=2.0)


def test_the_page_tells_how_units_grow_with_the_dimension(tmp_path: Path) -> None:
    runs = [of_dimension("lr_300", seed, units) for seed, units in ((1, 900), (2, 600), (3, 1500))]
    runs.append(of_dimension("bank", 1, 150))
    section = growth(runs, {"lr_300": 300, "bank": 25}, "growth.png", "snakemake")
    rows = [line for line in section.splitlines() if line.startswith(("| bank | 25", "| lr_300"))]
    assert rows[0].startswith("| bank | 25 | 1 | 150 | 6.0 | 2 s |")
    assert rows[1].startswith("| lr_300 | 300 | 3 | 900 (1500) | 3.0 | 2 s |")
    assert growth(runs[3:], {"bank": 25}, "growth.png", "snakemake") == ""


def test_the_figure_of_dimensions_has_each_seed_and_the_medians() -> None:
    runs = [of_dimension("lr_300", seed, units) for seed, units in ((1, 900), (2, 600), (3, math.inf))]
    [axes] = draw(runs, {"lr_300": 300}).axes
    seeds, medians, line = axes.get_lines()
    assert sorted(np.asarray(seeds.get_ydata()).tolist()) == [600.0, 900.0]
    assert np.asarray(medians.get_ydata()).tolist() == [900.0]
    assert line.get_label() == "6 d"
    assert axes.get_xlabel() == "number of parameters d"


def test_every_posterior_of_the_comparison_is_described() -> None:
    assert set(NAMES) == set(DESCRIPTIONS)


def test_starts_are_near_the_origin_and_their_own_for_each_seed(tmp_path) -> None:  # type: ignore[no-untyped-def]
    problem: Problem = make_problem("funnel", tmp_path)
    first, again = (problem.starts(np.random.default_rng(seed), 2) for seed in (1, 2))
    assert first.shape == (2, 6)
    assert not np.array_equal(first, again)
