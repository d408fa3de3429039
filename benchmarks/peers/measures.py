"""Errors of a result against the reference, in independent draws, and evaluations until they are those of 1000."""

from dataclasses import dataclass

import arviz
import numpy as np

from rnshmc.types import Array

GOAL = 1000
"""Independent draws whose errors are the goal."""


@dataclass(frozen=True)
class Moments:
    """Means, variances and kurtoses (fourth central moment over squared variance), arrays of shape (dim,)."""

    mean: Array
    variance: Array
    kurtosis: Array

    @classmethod
    def of(cls, draws: Array, weights: Array | None = None) -> "Moments":
        """Moments of draws of shape (n, dim), with weights that sum to 1, or with equal ones."""
        mean = np.average(draws, axis=0, weights=weights)
        squares = (draws - mean) ** 2
        variance = np.average(squares, axis=0, weights=weights)
        return cls(mean, variance, np.average(squares**2, axis=0, weights=weights) / variance**2)


def equivalent_draws(mean: Array, variance: Array, reference: Moments) -> tuple[float, float]:
    """Numbers of independent draws whose expected squared errors are those of ``mean`` and of ``variance``.

    The squared error of a mean of N draws is variance / N on average, that of their variance
    variance^2 (kurtosis - 1) / N: each coordinate's squared error over these at N = 1, averaged over coordinates, is
    1 / N.
    """
    of_mean = ((mean - reference.mean) ** 2 / reference.variance).mean()
    of_variance = ((variance / reference.variance - 1.0) ** 2 / (reference.kurtosis - 1.0)).mean()
    with np.errstate(divide="ignore"):
        return float(1.0 / of_mean), float(1.0 / of_variance)


def chain_draws(chains: Array) -> tuple[float, float]:
    """Effective sample sizes for means and for variances of chains of shape (chains, n, dim), for `equivalent_draws`.

    Harmonic means over coordinates, as squared errors are averaged. That for a variance is the one of squared
    deviations.
    """
    return _ess(chains), _ess((chains - chains.mean(axis=(0, 1))) ** 2)


def weighted_draws(draws: Array, weights: Array) -> tuple[float, float]:
    """The same for independent draws (n, dim) with weights that sum to 1: the delta method on the ratio of sums."""
    moments = Moments.of(draws, weights)
    deviations = draws - moments.mean
    of_mean = weights**2 @ deviations**2 / moments.variance
    of_variance = weights**2 @ (deviations**2 / moments.variance - 1.0) ** 2 / (moments.kurtosis - 1.0)
    return float(1.0 / of_mean.mean()), float(1.0 / of_variance.mean())


def units_to_goal(spent: float, warmup: float, draws: float) -> float:
    """Units until ``draws`` are `GOAL`, where they are proportional to what was spent after the warm-up."""
    return warmup + (spent - warmup) * GOAL / draws


def _ess(chains: Array) -> float:
    sizes = [arviz.ess(chains[:, :, k], method="mean") for k in range(chains.shape[2])]
    return float(1.0 / np.mean(1.0 / np.array(sizes)))
