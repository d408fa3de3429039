"""Expectations over several modes, each with a surrogate of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax

from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate, Moments, spread
from rnshmc.inference.surrogate.weights import Weights, smoothed
from rnshmc.types import Array


def apportioned(shares: Array, count: int) -> npt.NDArray[np.intp]:
    """Whole numbers in proportion to some shares, of sum ``count``."""
    ends = np.rint(np.cumsum(shares) * count).astype(np.intp)
    ends[-1] = count
    return np.diff(ends, prepend=0)


@dataclass(frozen=True, eq=False)
class Mixture(Moments):
    """Ingredients of corrected expectations where each mode has a surrogate.

        E f = sum_k p_k E_k f,  p_k = Z_k / sum_j Z_j

    with the integral Z_k of exp(-U) over the mode's part of the space. ``evidences`` are log Z_k, shape (modes,).
    """

    parts: tuple[Corrected, ...]
    evidences: Estimate

    @cached_property
    def shares(self) -> Estimate:
        """p_k with their standard errors, to first order in those of log Z_k."""
        shares = softmax(self.evidences.value)
        variances = self.evidences.standard_error**2
        # dp_k = p_k (dlog Z_k - sum_j p_j dlog Z_j).
        others = (shares**2 * variances).sum() - shares**2 * variances
        return Estimate(shares, shares * np.sqrt((1.0 - shares) ** 2 * variances + others))

    @property
    def log_evidence(self) -> Estimate:
        """log of the integral over all modes."""
        error = np.linalg.norm(self.shares.value * self.evidences.standard_error)
        return Estimate(np.asarray(logsumexp(self.evidences.value)), np.asarray(error))

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function, as `Corrected.expectation`; errors of parts and shares are combined."""
        each = Estimate.stacked([part.expectation(function) for part in self.parts])
        p, of_evidence = (
            a.reshape((-1,) + (1,) * (each.value.ndim - 1)) for a in (self.shares.value, self.evidences.standard_error)
        )
        mean = (p * each.value).sum(axis=0)
        variance = (p**2 * (each.standard_error**2 + of_evidence**2 * (each.value - mean) ** 2)).sum(axis=0)
        return Estimate(mean, np.sqrt(variance))

    @property
    def scale(self) -> Array:
        """Standard deviations of the coordinates over draws of all surrogates."""
        return spread(self.draws)

    @cached_property
    def draws(self) -> Array:
        """Draws of all surrogates, evenly spaced, in proportion to their shares."""
        counts = apportioned(self.shares.value, min(len(part.draws) for part in self.parts))
        pairs = zip(self.parts, counts, strict=True)
        return np.concatenate(
            [part.draws[np.linspace(0, len(part.draws) - 1, count).astype(int)] for part, count in pairs]
        )

    @property
    def checked(self) -> Array:
        """Draws of all surrogates with exact values."""
        return np.concatenate([part.checked for part in self.parts])

    @cached_property
    def differences(self) -> Array:
        """U minus that of the mixture at these, up to a constant."""
        return np.concatenate([part.differences + part.weights.log_mean for part in self.parts])

    @cached_property
    def weights(self) -> Weights:
        """Their importance weights, each relative to those of its mode."""
        return smoothed(-self.differences)

    @property
    def open_share(self) -> float:
        """Unresolved share of the mass, on average over the parts."""
        return float(self.shares.value @ [part.open_share for part in self.parts])

    @property
    def lacking(self) -> float:
        """Largest shift that the tails of a part may cause."""
        return max(part.lacking for part in self.parts)

    def with_errors(self, *, known: bool) -> "Mixture":
        """With standard errors, or without."""
        return Mixture(tuple(part.with_errors(known=known) for part in self.parts), self.evidences)

    def moved(self, to: Callable[[Array], Array]) -> "Mixture":
        """In other coordinates, given by a function of rows."""
        return Mixture(tuple(part.moved(to) for part in self.parts), self.evidences)
