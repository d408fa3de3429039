"""What a run hands back."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rnshmc.inference.evaluations import Spent
from rnshmc.inference.weights import Weights
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
    aim
        Number of independent draws whose precision was aimed at. No standard error is smaller than theirs: tails that
        neither training points nor checked draws came upon are not excluded with more.
    """

    draws: Array
    checked: Array
    differences: Array
    weights: Weights
    aim: float

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function, with its standard error.

            mean of f over draws of the surrogate + mean of (w - 1) (f - that mean) over the checked ones

        Parameters
        ----------
        function
            From positions (n, d) to values (n, k) or (n,).
        """
        plain = np.asarray(function(self.draws))
        mean = plain.mean(axis=0)
        correction, variance = self._correction(np.asarray(function(self.checked)) - mean)
        return Estimate(mean + correction, np.sqrt(variance + plain.var(axis=0) / self.aim))

    def mean(self) -> Estimate:
        """Corrected means of the coordinates."""
        return self._shrunk(self.draws, self.checked)

    def variance(self) -> Estimate:
        """Corrected variances of the coordinates."""
        centre = self.mean().value
        return self._shrunk((self.draws - centre) ** 2, (self.checked - centre) ** 2)

    def _correction(self, centred: Array) -> tuple[Array, Array]:
        """Mean of (w - 1) f over the checked draws, and the variance of that mean."""
        weights = self.weights.weights.reshape((-1,) + (1,) * (centred.ndim - 1))
        terms = (weights - 1.0) * centred
        return terms.mean(axis=0), terms.var(axis=0, ddof=1) / len(terms)

    def _shrunk(self, plain: Array, checked: Array) -> Estimate:
        """As `expectation` for d functions of one kind, each correction shrunk by what all of them say together.

        Empirical Bayes: in units of the spread of each function, corrections are drawn from N(0, t^2) and seen with
        their standard errors; t^2 is estimated from their squares, and half a squared standard error added: a mean
        over few functions must not take a large correction of one of them for chance.
        """
        mean, spread = plain.mean(axis=0), np.maximum(plain.std(axis=0), np.finfo(float).tiny)
        correction, variance = self._correction((checked - mean) / spread)
        noise = float(variance.mean())
        between = max(float((correction**2).mean()) - noise, 0.0) + noise * max(0.5, np.sqrt(2.0 / len(mean)))
        # Without noise or corrections, as where the surrogate is exact, there is nothing to shrink.
        total = between + variance
        factor = np.where(total > 0, between / np.where(total > 0, total, 1.0), 1.0)
        error = factor * variance + 1.0 / self.aim
        return Estimate(mean + spread * factor * correction, spread * np.sqrt(error))


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
