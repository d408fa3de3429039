"""What a run hands back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rnshmc.inference.exact.evaluations import Spent
from rnshmc.inference.result.weights import Weights
from rnshmc.inference.stages.tails import Tails
from rnshmc.inference.surrogate.paths import Paths
from rnshmc.types import Array

Method = Literal["surrogate", "adapted HMC", "ensemble", "none"]


@dataclass(frozen=True, eq=False)
class Estimate:
    """An expectation and its standard error, of the same shape."""

    value: Array
    standard_error: Array


@dataclass(frozen=True, eq=False)
class Surrogate:
    """What corrected expectations are made of.

    Attributes
    ----------
    draws
        Draws of the surrogate posterior, not corrected, shape (s, d), nearly independent.
    checked
        Draws of it whose exact potential is known, shape (m, d); they are not among the training points.
    differences
        U - V there, shape (m,), up to a constant; inf where the density is zero.
    weights
        Importance weights of these.
    paths
        Posteriors that the training points leave open.
    chains
        Number of chains behind ``draws``, one after the other.
    tails
        What it may lack in its tails.
    aim
        Independent draws whose errors were aimed at.
    """

    draws: Array
    checked: Array
    differences: Array
    weights: Weights
    paths: Paths
    chains: int
    tails: Tails
    aim: float

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function, with its standard error.

            mean of f over draws of the surrogate + c

        c = E_U f - E_V f has a prior by the process of U - V, and is measured by the mean of (w - 1) (f - that mean)
        over the checked draws; the two are combined by their variances. The variance of the measurement is no less than
        what the process expects of it: draws that came upon no tail show none. The standard error is that of c and of
        the mean over draws of the surrogate, by the spread of the means of its chains, and what its tails may lack
        (`Tails.shift`). The variance of c by the process counts as at least that of a mean of ``aim`` draws.

        Where squares of measured less expected c are more than both variances, on average over the functions, the
        variance of the process is raised by the difference (empirical Bayes): several functions belong in one call if
        they are of one scale, and else in calls of their own.

        Parameters
        ----------
        function
            From positions (n, d) to values (n, k) or (n,).
        """
        plain = np.asarray(function(self.draws))
        by_chain = plain.reshape(self.chains, -1, *plain.shape[1:]).mean(axis=1)
        mean = by_chain.mean(axis=0)
        measured, noise = self._measured(np.asarray(function(self.checked)) - mean)
        expected, spread, excess = self.paths.shift(np.asarray(function(self.paths.points)) - mean)
        noise = np.maximum(noise, excess / len(self.checked))
        # It expects third derivatives in all directions alike. Where they line up, means shift by far more.
        spread = np.maximum(spread, plain.var(axis=0) / self.aim)
        # What the process does not account for, by all functions together, as where a cliff is unknown to it.
        spread = spread + max(float(((measured - expected) ** 2 - spread - noise).mean()), 0.0)
        total = spread + noise
        # Both are 0 where the surrogate is exact.
        share = np.where(total > 0, spread / np.where(total > 0, total, 1.0), 0.0)
        error = share * noise + by_chain.var(axis=0, ddof=1) / self.chains
        error = error + self.tails.shift(np.asarray(function(self.tails.points)) - mean) ** 2
        return Estimate(mean + expected + share * (measured - expected), np.sqrt(error))

    @property
    def lacking(self) -> float:
        """The largest part of a mean or variance that tails lack, in standard deviations of a normal variable."""
        centre, scale = self.draws.mean(axis=0), self._scale()
        z = (self.tails.points - centre) / scale
        moments = np.column_stack((z, (z**2 - 1.0) / np.sqrt(2.0)))
        return float(self.tails.shift(moments).max())

    def mean(self) -> Estimate:
        """Corrected means of the coordinates."""
        scale = self._scale()
        return _scaled(self.expectation(lambda x: x / scale), scale)

    def variance(self) -> Estimate:
        """Corrected variances of the coordinates."""
        centre, scale = self.mean().value, self._scale()
        return _scaled(self.expectation(lambda x: ((x - centre) / scale) ** 2), scale**2)

    def _scale(self) -> Array:
        """Standard deviations of the coordinates over draws of the surrogate."""
        return np.asarray(np.maximum(self.draws.std(axis=0), np.finfo(float).tiny))

    def _measured(self, centred: Array) -> tuple[Array, Array]:
        """Mean of (w - 1) f over the checked draws, and its variance, to first order: the mean of w is a draw, too."""
        weights = self.weights.weights.reshape((-1,) + (1,) * (centred.ndim - 1))
        mean = (weights * centred).mean(axis=0)
        terms = weights * (centred - mean) - centred
        return mean - centred.mean(axis=0), terms.var(axis=0, ddof=1) / len(terms)


def _scaled(estimate: Estimate, scale: Array) -> Estimate:
    return Estimate(scale * estimate.value, scale * estimate.standard_error)


@dataclass(frozen=True, eq=False)
class ModeFound:
    """A mode that a start led to: where, its potential, and whether the descent converged."""

    point: Array
    value: float
    converged: bool


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run found, and what a verdict on it rests on.

    Attributes
    ----------
    rows, corrected
        As many draws as were asked for, (draws, d), or fewer if the run stopped before. With ``corrected`` they are
        nearly independent draws of the surrogate, weighted for the corrected means and variances
        (`rnshmc.inference.result.resampling`); else exact ones, and repeated if they come of a surrogate.
    draws, potentials
        Exact MCMC draws, (chains, n, d), and their exact potentials, (chains, n). With the surrogate, each took one
        exact value, and there are as many as were spent on corrections; without it, as many as were asked for.
    surrogate
        Ingredients of corrected expectations; None if the surrogate was not used.
    mean, variance
        Of the coordinates, corrected with the surrogate and plain averages of the draws without; NaN without draws.
    method, reason
        What made the draws, and why.
    spent, by_stage
        What was spent.
    surrogate_error, efficiency, pareto_k
        sd(U - V) on draws of the surrogate that it was not trained on, efficiency of the importance weights and shape
        of their tail; NaN without a surrogate.
    acceptance, predicted_acceptance
        Of exact Metropolis steps, and what sd(U - V) predicts for normal differences; NaN without.
    rhat
        Largest rank-normalised split R-hat of the chains behind the draws: those of the surrogate where it was used,
        the exact ones otherwise; NaN where there are too few.
    modes
        The different modes that the starts led to.
    uninformed
        Directions in which the potential hardly curves, rows of unit length in x; (0, d) if there are none.
    failures
        Reasons of failed evaluations, each once, with how often.
    finished
        Whether the run came to its end: False after an interruption or when the budget was spent.
    warnings
        Plain sentences on what went wrong.
    """

    rows: Array
    corrected: bool
    draws: Array
    potentials: Array
    surrogate: Surrogate | None
    mean: Estimate
    variance: Estimate
    method: Method
    reason: str
    spent: Spent
    by_stage: dict[str, Spent]
    surrogate_error: float
    efficiency: float
    pareto_k: float
    acceptance: float
    predicted_acceptance: float
    rhat: float
    modes: tuple[ModeFound, ...]
    uninformed: Array
    failures: dict[str, int]
    finished: bool
    warnings: tuple[str, ...]
