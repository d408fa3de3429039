"""Expectations over draws of a surrogate, corrected by exact values at some of them."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.result.estimates import Estimate, Moments, excess_variance, spread
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.uncertainty import Paths, Tails, draw_paths, inflation
from rnshmc.inference.surrogate.weights import Chosen, Influence, Weights, measured_shift, smoothed, zero_variance
from rnshmc.inference.tuning import Process
from rnshmc.types import Array

GROSS = 3.0
"""Variances of what left-out runs show of a moment, by which it has to differ for the process to be distrusted."""


@dataclass(frozen=True, eq=False)
class Corrected(Moments):
    """Ingredients of corrected expectations."""

    draws: Array  # Draws of the surrogate posterior, not corrected, (s, d), nearly independent.
    checked: Array  # Draws of it whose exact potential is known, (m, d), none of them a training point.
    differences: Array  # U - V there, (m,), up to a constant; inf where the density is zero.
    weights: Weights  # Their importance weights.
    paths: Paths  # Posteriors drawn from the process given the training points.
    chains: int  # Number of chains behind `draws`, one after the other.
    tails: Tails  # Mass that the surrogate may lack in its tails.
    aim: float  # Number of independent draws that have the target errors.
    # None where the checked draws are of the surrogate and it was not fitted to them. Else they are of an earlier one,
    # and these are their importance weights of mean 1, (m,), to this one. It is fitted to all of them; in `differences`
    # and here, V at each draw is without the run there.
    base: Array | None = None
    chosen: Chosen | None = None  # More draws with exact values, where a few in a long tail decide a variance.
    mixed: bool = True  # Whether the chains behind `draws` agree. If not, standard errors are NaN.
    left_out: int = 0  # Number of known runs, each left out in turn, that judge it where no draw was checked.

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function of positions (n, d), with values (n, k) or (n,), and its standard error.

            mean of f over draws of the surrogate + c

        c = E_U f - E_V f has a prior by the process of U - V. It is measured by the mean of (w - 1) (f - that mean)
        over the checked draws, and over draws chosen for their influence, which replace as many checked ones
        (`Chosen`). Both are combined by their variances. The variance of the measurement is at least what the process
        expects, for draws of which none is in a tail do not show it. That of c by the process is at least that of a
        mean of ``aim`` draws. Where the process expects a mean square of c above the variance of f, its c is shrunk by
        their ratio; the error stays. The standard error includes that of c, that of the mean over draws of the
        surrogate, by the spread of the means of its chains and the variance that they lack of a long tail
        (`excess_variance`), and the shift that unexplored tails may cause (`Tails.shift`).

        Where the squares of measured minus expected c exceed both variances, on average over the functions, the
        variance of the process is raised by the difference (empirical Bayes). Functions of one scale therefore belong
        in one call, and others in calls of their own.

        With ``base``, the surrogate is fitted to all runs, and leaving runs out is no independent measurement: the
        process accounts for it already. It counts by how far the variance of the process exceeds its own (James and
        Stein 1961), and the variance of c is the smaller of the two.
        """
        plain = np.asarray(function(self.draws))
        by_chain = plain.reshape(self.chains, -1, *plain.shape[1:]).mean(axis=1)
        mean = by_chain.mean(axis=0)
        expected, spread, excess = self._by_process(np.asarray(function(self.paths.points)) - mean)
        # The process expects third derivatives in all directions alike. Where they line up, means shift by far more.
        spread = np.maximum(spread, plain.var(axis=0) / self.aim)
        # A process that expects more, or leaves more open, than a standard deviation of f does not predict its mean.
        own = np.maximum(spread + expected**2, np.finfo(float).tiny)
        expected = expected * np.minimum(1.0, plain.var(axis=0) / own)
        correction, variance = expected, spread
        if len(self.checked) > 1 and np.isfinite(self.differences).any():
            # The process does not describe points without density, which shift a mean by at most that.
            spread = spread + plain.var(axis=0) * zero_variance(self.differences)
            measured, noise = measured_shift(*self.measuring_weights(), np.asarray(function(self.measuring)) - mean)
            noise = np.maximum(noise, excess / len(self.measuring))
            if self.base is not None:
                # A few dozen draws may show one function a small variance by chance.
                noise = np.maximum(noise, noise.mean())
            # Differences beyond the process, such as by an unknown cliff: averaged over all functions.
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
    def exact_weights(self) -> Array:
        """Importance weights from the density that the checked draws are of to the exact one, of mean 1."""
        if self.base is None:
            return self.weights.weights
        weights = self.weights.weights * self.base
        return np.asarray(weights / max(float(weights.mean()), float(np.finfo(float).tiny)))

    @property
    def open_moments(self) -> float:
        """Variance that the process and the checked draws leave to means or variances, in units of a normal variable's.

        The larger one of both averages over the coordinates.
        """
        _, spread, excess = self._by_process(self._moments(self.paths.points))
        _, noise = measured_shift(*self.measuring_weights(), self._moments(self.measuring))
        spread = spread + zero_variance(self.differences)
        left = np.minimum(spread, np.maximum(noise, excess / max(len(self.measuring), 1)))
        return float(left.reshape(-1, 2).mean(axis=0).max())

    @property
    def open_share(self) -> float:
        """Share of the posterior's mass that the process leaves open."""
        return self.paths.open_share

    @property
    def lacking(self) -> float:
        """The largest shift of a mean or variance that tails may cause, in standard deviations of a normal variable."""
        return float(self.tails.shift(self._moments(self.tails.points)).max())

    def _moments(self, x: Array) -> Array:
        """Standardised coordinates and their centred squares, in units of a normal variable's, (n, 2 d)."""
        z = (x - self.draws.mean(axis=0)) / self.scale
        return np.asarray(np.stack((z, (z**2 - 1.0) / np.sqrt(2.0)), axis=-1).reshape(len(z), 2 * z.shape[1]))

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


def corrected_by(
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    tails: Tails,
    rng: np.random.Generator,
    tuning: Process,
    *,
    aim: float,
    doubt: float = 1.0,
    chosen: tuple[Influence, Checked] | None = None,
) -> Corrected:
    """Ingredients of corrected expectations, from draws of the surrogate in x, (chains, n, d), and exact values.

    Points of zero density, and those where the evaluation failed, have weight 0. ``doubt`` is a factor on the variance
    of the process. ``chosen`` are draws of the surrogate in proportion to an influence. A `FitError` is raised if the
    covariance of the process cannot be factored.
    """
    points, differences = checked.points, checked.differences
    paths = _paths(posterior, draws, rng, tuning, checked=points, differences=differences, doubt=doubt)
    more = None
    if chosen is not None:
        influence, further = chosen
        counts, both = (len(points), len(further.points)), np.concatenate((points, further.points))
        base, at_paths = (influence.base(x, *counts) for x in (both, paths.points))
        more = Chosen(further.points, further.differences, base, at_paths)
    rows, weights = draws.reshape(-1, draws.shape[2]), smoothed(-differences)
    return Corrected(rows, points, differences, weights, paths, len(draws), tails, aim, chosen=more)


def cross_fitted(
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    tails: Tails,
    rng: np.random.Generator,
    tuning: Process,
    *,
    aim: float,
) -> Corrected:
    """The same for a surrogate by emulated outputs that is fitted to the checked draws of an earlier one, too.

    ``checked`` has U - V by the earlier surrogate.
    """
    assert isinstance(posterior.kernel, EmulatedPotential)
    points, ran = checked.points, ~checked.failed
    held, of_ran = posterior.kernel.held_out(points[ran])
    # Where a run failed it is in no surrogate.
    without, variances = np.zeros(len(points)), np.zeros(len(points))
    without[ran], variances[ran] = held + posterior.kernel.offset, of_ran
    finite = np.isfinite(checked.values)
    differences = np.full(len(points), np.inf)
    differences[finite] = checked.values[finite] - without[finite]
    # Where the density is 0, the earlier surrogate is not known from U - V.
    earlier = without.copy()
    earlier[finite] = checked.values[finite] - checked.differences[finite]
    base = smoothed(earlier - without).weights
    doubt = inflation(variances[finite], differences[finite])
    paths = _paths(posterior, draws, rng, tuning, doubt=doubt)
    rows, weights = draws.reshape(-1, draws.shape[2]), smoothed(-differences)
    return Corrected(rows, points, differences, weights, paths, len(draws), tails, aim, base)


def _paths(
    posterior: SurrogatePosterior, draws: Array, rng: np.random.Generator, tuning: Process, **known: Any
) -> Paths:
    """`draw_paths` from the last positions of the chains."""
    try:
        return draw_paths(posterior, posterior.whitening.whiten(draws[:, -1]), rng, tuning, **known)[0]
    except np.linalg.LinAlgError as error:
        raise FitError(f"the covariance of the surrogate's process cannot be factored: {error}") from error
