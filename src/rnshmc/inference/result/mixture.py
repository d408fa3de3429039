"""Expectations over several modes, each with a surrogate of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rnshmc.inference.result.corrected import Corrected, Estimate, scaled
from rnshmc.inference.surrogate.weights import Weights, smoothed
from rnshmc.types import Array


def apportioned(shares: Array, count: int) -> npt.NDArray[np.intp]:
    """Whole numbers in proportion to some shares, of sum ``count``."""
    ends = np.rint(np.cumsum(shares) * count).astype(np.intp)
    ends[-1] = count
    return np.diff(ends, prepend=0)


@dataclass(frozen=True, eq=False)
class Mixture:
    """Ingredients of corrected expectations where each mode has a surrogate.

        E f = sum_k p_k E_k f,  p_k = Z_k / sum_j Z_j

    with the integral Z_k of exp(-U) over the part of the space that is the mode's.

    Attributes
    ----------
    parts
        Ingredients of the expectations over each mode.
    evidences
        log Z_k with their standard errors, shape (modes,).
    """

    parts: tuple[Corrected, ...]
    evidences: Estimate

    @cached_property
    def shares(self) -> Estimate:
        """p_k with their standard errors, to first order in those of log Z_k."""
        relative = np.exp(self.evidences.value - self.evidences.value.max())
        shares = relative / relative.sum()
        variances = self.evidences.standard_error**2
        # dp_k = p_k (dlog Z_k - sum_j p_j dlog Z_j).
        others = (shares**2 * variances).sum() - shares**2 * variances
        return Estimate(shares, shares * np.sqrt((1.0 - shares) ** 2 * variances + others))

    @property
    def log_evidence(self) -> Estimate:
        """log of the integral over all modes."""
        highest = self.evidences.value.max()
        value = highest + np.log(np.exp(self.evidences.value - highest).sum())
        return Estimate(
            np.asarray(value), np.asarray(np.linalg.norm(self.shares.value * self.evidences.standard_error))
        )

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """Corrected expectation of a function, with its standard error: those of the parts, and of their shares.

        Parameters
        ----------
        function
            From positions (n, d) to values (n, k) or (n,).
        """
        each = [part.expectation(function) for part in self.parts]
        values, errors = (np.array([getattr(one, name) for one in each]) for name in ("value", "standard_error"))
        p, of_evidence = (
            a.reshape((-1,) + (1,) * (values.ndim - 1)) for a in (self.shares.value, self.evidences.standard_error)
        )
        mean = (p * values).sum(axis=0)
        variance = (p**2 * (errors**2 + of_evidence**2 * (values - mean) ** 2)).sum(axis=0)
        return Estimate(mean, np.sqrt(variance))

    def mean(self) -> Estimate:
        """Corrected means of the coordinates."""
        scale = self._scale()
        return scaled(self.expectation(lambda x: x / scale), scale)

    def variance(self) -> Estimate:
        """Corrected variances of the coordinates."""
        centre, scale = self.mean().value, self._scale()
        return scaled(self.expectation(lambda x: ((x - centre) / scale) ** 2), scale**2)

    def _scale(self) -> Array:
        """Standard deviations of the coordinates over draws of all surrogates."""
        return np.asarray(self.draws.std(axis=0))

    @cached_property
    def draws(self) -> Array:
        """Draws of all surrogates, evenly spaced, as many of each as its share asks for."""
        counts = apportioned(self.shares.value, min(len(part.draws) for part in self.parts))
        pairs = zip(self.parts, counts, strict=True)
        return np.concatenate(
            [part.draws[np.linspace(0, len(part.draws) - 1, count).astype(int)] for part, count in pairs]
        )

    @property
    def origins(self) -> None:
        """None: the chains of each surrogate are of one mode."""
        return

    @property
    def checked(self) -> Array:
        """Draws of all surrogates with exact values."""
        return np.concatenate([part.checked for part in self.parts])

    @cached_property
    def differences(self) -> Array:
        """U minus the log density of the mixture at these, up to a constant."""
        return np.concatenate([part.differences + part.weights.log_mean for part in self.parts])

    @cached_property
    def weights(self) -> Weights:
        """Their importance weights, each relative to those of its mode."""
        return smoothed(-self.differences)

    @property
    def open_share(self) -> float:
        """As that of a part, on average over the posterior."""
        return float(self.shares.value @ [part.open_share for part in self.parts])

    @property
    def lacking(self) -> float:
        """The largest of the parts'."""
        return max(part.lacking for part in self.parts)

    def with_errors(self, *, known: bool) -> "Mixture":
        """With standard errors, or without."""
        return Mixture(tuple(part.with_errors(known=known) for part in self.parts), self.evidences)

    def moved(self, to: Callable[[Array], Array]) -> "Mixture":
        """In other coordinates, given by a function of rows."""
        return Mixture(tuple(part.moved(to) for part in self.parts), self.evidences)
