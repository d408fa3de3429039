"""Expectations over draws of a surrogate, corrected by exact values at some of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.inference.result.estimates import Estimate, Moments, spread
from rnshmc.inference.result.long_tails import excess_variance
from rnshmc.inference.surrogate.uncertainty import Paths, Tails
from rnshmc.inference.surrogate.weights import Chosen, Weights, measured_shift, zero_variance
from rnshmc.types import Array

GROSS = 3.0
"""Variances of what left-out runs show of a moment, by which it has to differ for the process not to be believed."""


@dataclass(frozen=True, eq=False)
class Corrected(Moments):
    """What corrected expectations are made of.

    Attributes
    ----------
    draws
        Draws of the surrogate posterior, not corrected, shape (s, d), nearly independent.
    checked
        Draws of it whose exact potential is known, shape (m, d), none of them a training point.
    differences
        U - V there, shape (m,), up to a constant; inf where the density is zero.
    weights
        Their importance weights.
    paths
        Posteriors drawn from the process given the training points.
    chains
        Number of chains behind ``draws``, one after the other.
    tails
        What the surrogate may lack in its tails.
    aim
        Independent draws whose errors were aimed at.
    base
        None where the checked draws are of the surrogate and it was not fitted to them. Else they are of an earlier
        one, and these are their importance weights of mean 1, shape (m,), to this one. It is fitted to all of them;
        in ``differences`` and here, V at each draw is without the run there.
    chosen
        More draws of it with exact values, where a few in a long tail decide a variance; None: there are none.
    mixed
        Whether the chains behind ``draws`` agree. If not, there are no standard errors.
    left_out
        Number of known runs, each left out in turn, that judge the surrogate where no draw was checked.
    """

    draws: Array
    checked: Array
    differences: Array
    weights: Weights
    paths: Paths
    chains: int
    tails: Tails
    aim: float
    base: Array | None = None
    chosen: Chosen | None = None
    mixed: bool = True
    left_out: int = 0

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function, with its standard error.

            mean of f over draws of the surrogate + c

        c = E_U f - E_V f has a prior by the process of U - V, and is measured by the mean of (w - 1) (f - that mean)
        over the checked draws, and those chosen for their influence, in place of as many of the former (`Chosen`); the
        two are combined by their variances. The variance of the measurement is no less than the process expects,
        because draws of which none is in a tail do not show it. The standard error includes the error of c, that of the
        mean over draws of the surrogate, by the spread of the means of its chains and what these lack of a long tail
        (`excess_variance`), and what tails may lack (`Tails.shift`). The variance of c by the process counts as at
        least that of a mean of ``aim`` draws. Where the process expects a mean square of c above the variance of f, the
        c that it expects is shrunk by their ratio; its error stays.

        Where the squares of measured minus expected c exceed both variances, on average over the functions, the
        variance of the process is raised by the difference (empirical Bayes). Functions of one scale therefore belong
        in one call, and others in calls of their own.

        What leaving out runs shows of a surrogate that is fitted to all of them (``base``) is no independent
        measurement: its process accounts for it already. It counts by how far the variance of the process exceeds its
        own (James and Stein 1961), and the variance of c is the smaller of the two.

        Parameters
        ----------
        function
            From positions (n, d) to values (n, k) or (n,).
        """
        plain = np.asarray(function(self.draws))
        by_chain = plain.reshape(self.chains, -1, *plain.shape[1:]).mean(axis=1)
        mean = by_chain.mean(axis=0)
        expected, spread, excess = self._by_process(np.asarray(function(self.paths.points)) - mean)
        # The process expects third derivatives in all directions alike. Where they line up, means shift by far more.
        spread = np.maximum(spread, plain.var(axis=0) / self.aim)
        # A process that expects more, or leaves more open, than a standard deviation of f knows nothing of its mean.
        own = np.maximum(spread + expected**2, np.finfo(float).tiny)
        expected = expected * np.minimum(1.0, plain.var(axis=0) / own)
        correction, variance = expected, spread
        if len(self.checked) > 1 and np.isfinite(self.differences).any():
            # Of what has no density the process knows nothing: it shifts a mean by so many standard deviations at most.
            spread = spread + plain.var(axis=0) * zero_variance(self.differences)
            measured, noise = measured_shift(*self.measuring_weights(), np.asarray(function(self.measuring)) - mean)
            noise = np.maximum(noise, excess / len(self.measuring))
            if self.base is not None:
                # A few dozen draws may show one function a small variance by chance.
                noise = np.maximum(noise, noise.mean())
            # What the process does not account for, by all functions together, as where a cliff is unknown to it.
            factor = 1.0 if self.base is None else GROSS
            spread = spread + max(float(((measured - expected) ** 2 - spread - factor * noise).mean()), 0.0)
            total = spread + noise
            # Both are 0 where the surrogate is exact.
            share = np.where(total > 0, spread / np.where(total > 0, total, 1.0), 0.0)
            variance = share * noise
            if self.base is not None:
                share, variance = np.maximum(2.0 - 1.0 / np.maximum(share, 0.5), 0.0), np.minimum(spread, noise)
            correction = expected + share * (measured - expected)
        of_draws = by_chain.var(axis=0, ddof=1) / self.chains
        error = variance + of_draws + excess_variance(plain - mean) / len(plain)
        error = error + self.tails.shift(np.asarray(function(self.tails.points)) - mean) ** 2
        return Estimate(mean + correction, np.sqrt(error) if self.mixed else np.full(error.shape, np.nan))

    @property
    def origins(self) -> Array | None:
        """Draws in the order of the chains that they come from."""
        return self.draws

    @property
    def exact_weights(self) -> Array:
        """Importance weights from the density that the checked draws are of to the exact one, of mean 1."""
        if self.base is None:
            return self.weights.weights
        weights = self.weights.weights * self.base
        return np.asarray(weights / max(float(weights.mean()), float(np.finfo(float).tiny)))

    @property
    def open_moments(self) -> float:
        """Variance that the process and the checked draws leave to means or variances, in units of a normal variable's.

        That of means or that of variances, averaged over the coordinates, whichever is larger.
        """
        centre, scale = self.draws.mean(axis=0), self.scale

        def moments(x: Array) -> Array:
            z = (x - centre) / scale
            return np.stack((z, (z**2 - 1.0) / np.sqrt(2.0)), axis=-1)

        _, spread, excess = self._by_process(moments(self.paths.points).reshape(len(self.paths.points), -1))
        _, noise = measured_shift(*self.measuring_weights(), moments(self.measuring).reshape(len(self.measuring), -1))
        spread = spread + zero_variance(self.differences)
        left = np.minimum(spread, np.maximum(noise, excess / max(len(self.measuring), 1)))
        return float(left.reshape(-1, 2).mean(axis=0).max())

    @property
    def open_share(self) -> float:
        """Share of the posterior's mass that the process leaves open."""
        return self.paths.open_share

    @property
    def lacking(self) -> float:
        """The largest part of a mean or variance that tails may lack, in standard deviations of a normal variable."""
        centre, scale = self.draws.mean(axis=0), self.scale
        z = (self.tails.points - centre) / scale
        moments = np.column_stack((z, (z**2 - 1.0) / np.sqrt(2.0)))
        return float(self.tails.shift(moments).max())

    def with_errors(self, *, known: bool) -> "Corrected":
        """With standard errors, or without."""
        return replace(self, mixed=known)

    def moved(self, to: Callable[[Array], Array]) -> "Corrected":
        """In other coordinates, given by a function of rows. It is never called without rows."""

        def moved(rows: Array) -> Array:
            return to(rows) if len(rows) else to(self.draws[:2])[:0]

        return replace(
            self,
            draws=moved(self.draws),
            checked=moved(self.checked),
            paths=replace(self.paths, points=moved(self.paths.points)),
            tails=replace(self.tails, points=moved(self.tails.points)),
            chosen=self.chosen and replace(self.chosen, points=moved(self.chosen.points)),
        )

    @property
    def scale(self) -> Array:
        """Standard deviations of the coordinates over draws of the surrogate."""
        return spread(self.draws)

    def _by_process(self, values: Array) -> tuple[Array, Array, Array]:
        """`Paths.shift`, where exact values are at the draws of which (w - 1) f is averaged."""
        return self.paths.shift(values, None if self.chosen is None else self.chosen.at_paths)

    @property
    def measuring(self) -> Array:
        """Draws of which (w - 1) f is averaged."""
        return self.checked if self.chosen is None else np.concatenate((self.checked, self.chosen.points))

    def measuring_weights(self) -> tuple[Array, Array]:
        """Their importance weights to the exact density and to the surrogate, each up to a factor."""
        if self.chosen is None:
            return self.exact_weights, np.ones(len(self.checked)) if self.base is None else self.base
        return self.chosen.weights(self.weights), self.chosen.base
