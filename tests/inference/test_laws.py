"""`rnshmc.sample` on laws with exact moments: errors are those that it states, for as few evaluations as today.

z is an error over its standard error. For normal errors the mean of z^2 over all runs spreads no more than chi^2 over
its degrees of freedom with one for each run, which it has if all moments of a run have the same error.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from peers.hierarchies import NormalGamma
from peers.known_laws import (
    Banana,
    Funnels,
    GammaBeta,
    KnownMoments,
    LogGamma,
    Logistic,
    NormalMixture,
    SkewNormal,
    Student,
    TwistedGaussian,
)
from scipy import stats

import rnshmc
from rnshmc.types import Array
from tests.conftest import FAILURE, z_bound
from tests.inference.model_cases import DATA, TIMES, decay
from tests.inference.problems import Correlated

SEEDS, DRAWS = 3, 1000
NOISE_SD = 0.1
MATRIX = np.array([[1.0, 0.5, 0.0], [0.0, 1.0, -0.5], [0.3, 0.0, 1.0], [1.0, 1.0, 1.0]])


@dataclass(frozen=True)
class Exact:
    """Means, standard deviations (d,), and log of the integral."""

    mean: Array
    sd: Array
    log_evidence: float

    @classmethod
    def of(cls, law: KnownMoments) -> "Exact":
        mean, variance = np.zeros(law.dim) + law.mean, np.zeros(law.dim) + law.variance
        return cls(mean, np.sqrt(variance), law.log_evidence)


def linear() -> Exact:
    """The posterior of three standard normal parameters of a linear model."""
    covariance = np.linalg.inv(MATRIX.T @ MATRIX / NOISE_SD**2 + np.eye(3))
    of_data = MATRIX @ MATRIX.T + NOISE_SD**2 * np.eye(4)
    mean = covariance @ MATRIX.T @ np.ones(4) / NOISE_SD**2
    evidence = float(stats.multivariate_normal.logpdf(np.ones(4), np.zeros(4), of_data))
    return Exact(mean, np.sqrt(covariance.diagonal()), evidence)


def decaying() -> Exact:
    """The posterior of the logarithms of an amplitude and a rate, standard normal a priori, by quadrature."""
    axes = np.linspace(-0.5, 1.5, 401), np.linspace(-1.0, 1.0, 401)
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
    outputs = np.exp(points[:, :1] - np.exp(points[:, 1:]) * TIMES)
    logs = stats.norm.logpdf(DATA, outputs, NOISE_SD).sum(axis=1) + stats.norm.logpdf(points).sum(axis=1)
    densities = np.exp(logs - logs.max())
    weights = densities / densities.sum()
    mean = weights @ points
    evidence = float(logs.max() + np.log(densities.sum()) - 2.0 * np.log(200.0))
    return Exact(mean, np.sqrt(weights @ (points - mean) ** 2), evidence)


def model(forward: Callable[[Array], Array], data: Array) -> rnshmc.Model:
    return rnshmc.Model(forward, data, likelihood=rnshmc.Gaussian(sd=NOISE_SD), prior=rnshmc.Normal(0.0, 1.0))


@dataclass(frozen=True)
class Case:
    """A target, its exact moments, half as many units again as seeds took when it was written, and its verdict.

    The path of a run depends on rounding: of 30 runs of a law, at most one took more units.
    """

    target: Any
    exact: Exact
    most: int
    start: Callable[[np.random.Generator], Array]
    settings: dict[str, Any] = field(default_factory=dict)
    level: str = "good"


def of_law(law: KnownMoments, most: int, **settings: Any) -> Case:
    """A law, from a standard normal start."""
    return Case(law, Exact.of(law), most, lambda rng: rng.standard_normal(law.dim), settings)


TWO = NormalMixture(np.array([2.0, 1.0]) / 3.0, np.array([[-4.0, 0.0], [4.0, 0.0]]), np.ones(2))
BOUNDED = of_law(GammaBeta(), 190, bounds=["positive", "unit"])
CASES = {
    "normal": of_law(Correlated(), 150),
    "skew": of_law(SkewNormal(4), 330),
    "logistic": of_law(Logistic(4), 240),
    "student": of_law(Student(3), 480),
    "banana": of_law(Banana(), 240),
    "twisted": of_law(TwistedGaussian(4), 300),
    "funnel": of_law(Funnels(1.0, (2,)), 320),
    "log gamma": replace(of_law(LogGamma(3), 300), start=lambda rng: 4.0 + rng.standard_normal(3)),
    "hierarchy": of_law(NormalGamma(3), 240),
    "bounded": replace(BOUNDED, start=lambda rng: rng.uniform(0.2, 0.8, 2)),
    # Twelve starts do not show that there is no third.
    "two modes": Case(TWO, Exact.of(TWO), 330, lambda rng: 4.0 * rng.standard_normal((12, 2)), level="doubtful"),
    "without gradients": of_law(SkewNormal(2), 200, gradient=False),
    "linear model": Case(model(lambda x: MATRIX @ x, np.ones(4)), linear(), 100, lambda rng: rng.standard_normal(3)),
    "decay model": Case(model(decay, DATA), decaying(), 110, lambda rng: 0.5 * rng.standard_normal(2)),
}
KINDS = ("mean", "sd", "draws' mean", "draws' variance")


@dataclass(frozen=True)
class Errors:
    """Errors of a run, and their standard errors; (4, d), relative to standard deviations; and of the log evidence."""

    moments: Array
    stated: Array
    evidence: float

    @property
    def z(self) -> Array:
        return self.moments / self.stated


@cache
def results(name: str) -> tuple[rnshmc.Result, ...]:
    case = CASES[name]
    starts = [case.start(np.random.default_rng(seed)) for seed in range(SEEDS)]
    return tuple(
        rnshmc.sample(case.target, start, seed=seed, draws=DRAWS, progress_bar=False, **case.settings)
        for seed, start in enumerate(starts)
    )


def errors_of(result: rnshmc.Result, exact: Exact) -> Errors:
    """Errors of the moments in `KINDS`; those of draws have the errors of so many independent ones, too."""
    draws = (result.draws - exact.mean) / exact.sd
    mean, sd = (result.mean.value - exact.mean) / exact.sd, result.sd.value / exact.sd - 1.0
    stated = np.stack((result.mean.standard_error, result.sd.standard_error)) / exact.sd
    of_draws = np.stack((draws.std(axis=0), (draws**2).std(axis=0))) / np.sqrt(len(draws))
    moments = np.stack((mean, sd, draws.mean(axis=0), (draws**2).mean(axis=0) - 1.0))
    both = np.hypot(of_draws, stated * np.array([[1.0], [2.0]]))
    evidence = result.log_evidence
    of_evidence = (float(evidence.value) - exact.log_evidence) / float(evidence.standard_error)
    return Errors(moments, np.concatenate((stated, both)), of_evidence)


@cache
def all_errors() -> tuple[Errors, ...]:
    return tuple(errors_of(result, CASES[name].exact) for name in CASES for result in results(name))


def check(runs: Sequence[Errors]) -> None:
    """Assert that errors over all runs are those stated, of each kind of moment, and of the log evidence."""
    low, high = (stats.chi2.isf(p, len(runs)) / len(runs) for p in (1.0 - FAILURE / 2.0, FAILURE / 2.0))
    squares = np.array([(run.z**2).mean(axis=1) for run in runs]).mean(axis=0)
    evidence = np.mean([run.evidence**2 for run in runs])
    assert (squares < high).all(), dict(zip(KINDS, squares, strict=True))
    assert (squares > low).all(), dict(zip(KINDS, squares, strict=True))
    assert low < evidence < high
    # A bias that all runs have: standard deviations average to the exact ones.
    bias = np.sum([run.moments.mean(axis=1) for run in runs], axis=0)
    spread = np.sqrt(np.sum([run.stated.mean(axis=1) ** 2 for run in runs], axis=0))
    assert (np.abs(bias) < z_bound(len(KINDS)) * spread).all(), dict(zip(KINDS, bias / spread, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_moments_are_right_for_few_units(name: str) -> None:
    case = CASES[name]
    runs = results(name)
    assert sum(run.spent.units <= case.most for run in runs) >= SEEDS - 1
    assert sum(run.verdict.level == case.level for run in runs) >= SEEDS - 1
    assert all(run.verdict.level != "bad" for run in runs)
    for run in runs:
        errors = errors_of(run, case.exact)
        assert np.abs(errors.z).max() < z_bound(SEEDS * len(CASES) * errors.z.size)
        assert np.abs(errors.evidence) < z_bound(SEEDS * len(CASES))
        assert run.draws.shape == (DRAWS, len(case.exact.mean))
        if isinstance(case.target, KnownMoments):
            exact = [-case.target.value(x) for x in run.chains[0, :5]]
            np.testing.assert_allclose(run.log_densities[0, :5], exact, rtol=0, atol=1e-8)
        # The errors of a hundred independent draws: larger standard errors would excuse any error. A run with them
        # is below the level of the case, and the verdict reports it.
        marked = run.verdict.level != case.level and "only as precise as" in str(run.verdict)
        assert errors.stated[:2].max() < 0.1 or marked


def test_few_runs_take_more_units() -> None:
    dear = [run.spent.units > case.most for name, case in CASES.items() for run in results(name)]
    assert sum(dear) <= stats.binom.isf(FAILURE, len(dear), 1 / 30)


def test_errors_over_all_laws_are_those_stated() -> None:
    check(all_errors())


def test_laws_wrong_by_little_are_refused() -> None:
    """Standard errors half as large, or twice; variances a twentieth too large; draws too narrow by a tenth.

    The mean of 42 squares varies by 0.22: in some roundings twice the deviations of the log evidence would pass.
    """
    runs = all_errors()
    wider = np.array([0.0, 0.025, 0.0, 0.05])[:, None]
    narrower = np.array([0.0, 0.0, 0.0, -0.1])[:, None]
    for wrong in (
        [replace(run, stated=run.stated / 2.0) for run in runs],
        [replace(run, stated=run.stated * 2.0) for run in runs],
        [replace(run, evidence=run.evidence * 3.0) for run in runs],
        [replace(run, moments=run.moments + wider) for run in runs],
        [replace(run, moments=run.moments + narrower) for run in runs],
    ):
        with pytest.raises(AssertionError):
            check(wrong)
