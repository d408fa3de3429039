"""Likelihoods with their densities by scipy, for the tests."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from rnshmc.inference.exact.likelihoods.base import Likelihood, Observed
from rnshmc.inference.exact.likelihoods.groups import make_likelihood
from rnshmc.inference.exact.likelihoods.named import (
    Binomial,
    Gaussian,
    LogNormal,
    NegativeBinomial,
    Poisson,
    Relative,
    StudentT,
)
from rnshmc.types import Array

DATA = np.array([[1.4, 2.1], [0.3, 0.8], [2.9, 3.0]])
COUNTS = np.array([[1.0, 0.0], [12.0, 3.0], [5.0, 7.0]])
TRIALS = np.array([4.0, 20.0])
SUCCESSES = np.array([[1.0, 0.0], [4.0, 13.0], [2.0, 20.0]])
SD = np.array([[0.2], [0.5], [1.5]])
ROOT = np.random.default_rng(1).normal(size=(6, 6))
COVARIANCE = ROOT @ ROOT.T + np.eye(6)
LIMITS = np.array([["left", 0], ["right", 0], [0, "left"]], dtype=object)
MIXED = {"counts": COUNTS, "size": DATA}


@dataclass(frozen=True, eq=False)
class Case:
    """A likelihood with data.

    ``exact(outputs, own)`` is the log likelihood of all data at one position, by scipy; outputs have the shape of the
    data, and are one vector for mappings.
    """

    likelihood: Likelihood
    data: Array | Mapping[str, Array]
    exact: Callable[[Array, Array], float]
    outputs: tuple[float, float] = (0.5, 3.0)
    fisher: bool = field(default=True)

    @property
    def arrays(self) -> dict[str, Array]:
        return dict(self.data) if isinstance(self.data, Mapping) else {"": self.data}

    @property
    def observed(self) -> Observed:
        return self.likelihood.observing(self.arrays)

    def rows(self, k: int, seed: int = 0) -> tuple[Array, Array]:
        """Outputs and own parameters at k positions."""
        rng = np.random.default_rng(seed)
        count = sum(array.size for array in self.arrays.values())
        return rng.uniform(*self.outputs, (k, count)), rng.uniform(0.5, 2.0, (k, len(self.likelihood.names)))


def limited(law: Any, y: Array, centre: Array, scale: Array) -> float:
    """Log likelihood of data of which `LIMITS` says which are limits."""
    z = (y - centre) / scale
    logs = np.where(LIMITS == "left", law.logcdf(z), np.where(LIMITS == "right", law.logsf(z), 0.0))
    return float(np.where(LIMITS == 0, law.logpdf(z) - np.log(scale), logs).sum())


def summed(terms: npt.ArrayLike) -> float:
    return float(np.sum(terms))


CASES = {
    "Gaussian": Case(Gaussian(0.7), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, 0.7))),
    "Gaussian array": Case(Gaussian(SD), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, SD))),
    "Gaussian name": Case(Gaussian("s"), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, own[0]))),
    "Gaussian names": Case(Gaussian(["a", "b"]), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, own))),
    "Gaussian same name": Case(Gaussian(["a", "a"]), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, own[0]))),
    "Gaussian scale": Case(
        Gaussian(SD, scale="s"), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, SD * own[0]))
    ),
    "Gaussian covariance": Case(
        Gaussian(covariance=COVARIANCE),
        DATA,
        lambda f, own: float(stats.multivariate_normal.logpdf(DATA.ravel(), f.ravel(), COVARIANCE)),
    ),
    "Gaussian covariance scale": Case(
        Gaussian(covariance=COVARIANCE, scale="s"),
        DATA,
        lambda f, own: float(stats.multivariate_normal.logpdf(DATA.ravel(), f.ravel(), COVARIANCE * own[0] ** 2)),
    ),
    "Gaussian censored": Case(
        Gaussian("s", censored=LIMITS),
        DATA,
        lambda f, own: limited(stats.norm, DATA, f, own[0] * np.ones((3, 2))),
        fisher=False,
    ),
    "LogNormal": Case(LogNormal("s"), DATA, lambda f, own: summed(stats.lognorm.logpdf(DATA, own[0], scale=f))),
    "LogNormal censored": Case(
        LogNormal(SD, censored=np.where(LIMITS == "left", -1, np.where(LIMITS == "right", 1, 0))),
        DATA,
        lambda f, own: (
            limited(stats.norm, np.log(DATA), np.log(f), np.broadcast_to(SD, (3, 2)))
            - summed(np.log(DATA[LIMITS == 0]))
        ),
        fisher=False,
    ),
    "Relative": Case(Relative("s"), DATA, lambda f, own: summed(stats.norm.logpdf(DATA, f, own[0] * f))),
    "Relative negative": Case(
        Relative(0.2), -DATA, lambda f, own: summed(stats.norm.logpdf(-DATA, f, -0.2 * f)), outputs=(-3.0, -0.5)
    ),
    "StudentT": Case(StudentT("df", "s"), DATA, lambda f, own: summed(stats.t.logpdf(DATA, own[0], f, own[1]))),
    "StudentT known": Case(StudentT(4.0, SD), DATA, lambda f, own: summed(stats.t.logpdf(DATA, 4.0, f, SD))),
    "StudentT censored": Case(
        StudentT("df", 0.4, censored=LIMITS),
        DATA,
        lambda f, own: limited(stats.t(own[0]), DATA, f, 0.4 * np.ones((3, 2))),
        fisher=False,
    ),
    "Poisson": Case(Poisson(), COUNTS, lambda f, own: summed(stats.poisson.logpmf(COUNTS, f))),
    "NegativeBinomial": Case(
        NegativeBinomial("phi"),
        COUNTS,
        lambda f, own: summed(stats.nbinom.logpmf(COUNTS, own[0], own[0] / (own[0] + f))),
    ),
    "Binomial": Case(
        Binomial(TRIALS), SUCCESSES, lambda f, own: summed(stats.binom.logpmf(SUCCESSES, TRIALS, f)), outputs=(0.1, 0.9)
    ),
    "groups": Case(
        make_likelihood({"size": Gaussian(["s", "phi"]), "counts": NegativeBinomial("phi")}, list(MIXED)),
        MIXED,
        lambda f, own: (
            summed(stats.nbinom.logpmf(COUNTS.ravel(), own[0], own[0] / (own[0] + f[:6])))
            + summed(stats.norm.logpdf(DATA, f[6:].reshape(3, 2), own[[1, 0]]))
        ),
    ),
}
"""Own parameters of the groups are (phi, s): the counts come first in the data."""


def shaped(case: Case, outputs: Array) -> Array:
    """Outputs of one position as `Case.exact` wants them."""
    return outputs if isinstance(case.data, Mapping) else outputs.reshape(case.data.shape)
