"""Weighted draws of a surrogate, of which most are tempered, with the law of its error: expectations rest on these."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from rnshmc.inference.result.estimates import Estimate, Moments
from rnshmc.types import Array

EQUAL = 4096
"""Draws of equal weight that stand for all."""
MOST_EXCESS = 1.0
"""Largest half variance that counts: beyond it the process knows nothing."""
ITERATIONS, SETTLED = 200, 1e-6
"""Of normalisers of tempered densities: iterations at most, and the largest change of a logarithm that ends them."""


@dataclass(frozen=True, eq=False)
class Cloud(Moments):
    """Draws x_i of exp(-V / T) for several temperatures T, with weights w_i of exp(-V), and what is known of U - V.

    With errors e_i = sum_k D_ik g_k of the logarithm of the density at some of the draws, for independent standard
    normal g, a first-order error of E f is sum_i w_i (f_i - E f) e_i.

    Attributes
    ----------
    points
        x_i, (s, d).
    weights
        w_i, of sum 1, (s,).
    chains
        Number of the chain that each is of, (s,).
    members
        Indices of those at which errors are known, (m,).
    deviations
        D, (m, k).
    changes
        What learning the last batches changed of the density, relative to it, (m, c): an error of a moment is at least
        what each of them changed of it.
    """

    points: Array
    weights: Array
    chains: npt.NDArray[np.intp]
    members: npt.NDArray[np.intp]
    deviations: Array
    changes: Array

    def expectation(self, function: Callable[[Array], Array]) -> Estimate:
        """E f with its standard error, for a function from positions (n, d) to values (n, k) or (n,).

        The error is that of the density, by `deviations`, and that of the draws, by the spread of what chains
        contribute.
        """
        values = np.asarray(function(self.points))
        flat = values.reshape(len(values), -1)
        mean = self.weights @ flat
        centred = flat - mean
        shares = self.shares[:, None] * centred[self.members]
        mean = mean + self.excess @ shares
        of_density = self._variances(shares)
        by_chain = np.zeros((self.chains.max() + 1, flat.shape[1]))
        np.add.at(by_chain, self.chains, self.weights[:, None] * centred)
        error = np.sqrt(of_density + (by_chain**2).sum(axis=0))
        return Estimate(mean.reshape(values.shape[1:]), error.reshape(values.shape[1:]))

    @cached_property
    def shares(self) -> Array:
        """Weights of the members, of sum 1, (m,)."""
        weights = self.weights[self.members]
        return np.asarray(weights / max(float(weights.sum()), float(np.finfo(float).tiny)))

    @property
    def scale(self) -> Array:
        """Standard deviations of the coordinates, above 0: those of rounding where a coordinate does not vary."""
        mean = self.weights @ self.points
        size = np.abs(self.points).max(axis=0, initial=0.0)
        least = np.maximum(np.finfo(float).eps * size, np.finfo(float).tiny)
        return np.asarray(np.maximum(np.sqrt(self.weights @ (self.points - mean) ** 2), least))

    @cached_property
    def excess(self) -> Array:
        """Expected density over that of the expected potential, less 1, at the members: half the variance, (m,)."""
        expected = np.exp(np.minimum(0.5 * self.relative_variances, MOST_EXCESS))
        return np.asarray(expected / max(float(self.shares @ expected), 1.0) - 1.0)

    @cached_property
    def relative_variances(self) -> Array:
        """Of the density at the members, after its normalisation: (m,)."""
        return np.asarray(((self.deviations - self.shares @ self.deviations) ** 2).sum(axis=1))

    @property
    def largest_error(self) -> float:
        """The largest error that the density leaves to a mean or variance, in units of a normal variable's."""
        return float(np.sqrt(self._variances(self._moments()).max()))

    def contributions(self) -> Array:
        """What members contribute to the error of the mean or variance that is known worst, (m,)."""
        shares = self._moments()
        worst = int(np.argmax(self._variances(shares)))
        tiny = np.finfo(float).tiny
        return np.asarray(np.abs(shares[:, worst]) * np.sqrt((self.deviations**2).sum(axis=1)) + tiny)

    def _moments(self) -> Array:
        """Weights times means and variances of each coordinate, centred, in units of a normal variable's: (m, 2 d)."""
        mean, scale = self.weights @ self.points, self.scale
        z = (self.points[self.members] - mean) / scale
        moments = np.column_stack((z, (z**2 - 1.0) / np.sqrt(2.0)))
        return np.asarray(self.shares[:, None] * (moments - self.shares @ moments))

    def _variances(self, shares: Array) -> Array:
        """Squared errors (f,) of sums over the members with some weights, (m, f)."""
        by_process = ((shares.T @ self.deviations) ** 2).sum(axis=1)
        return np.asarray(np.maximum(by_process, ((shares.T @ self.changes) ** 2).max(axis=1, initial=0.0)))


def balanced(potentials: Array, inverse: Array, counts: Array) -> Array:
    """Weights of exp(-V), of sum 1, for draws of exp(-V b_t) of several inverse temperatures b_t.

    Their balance heuristic: w_i ~ exp(-V_i) / sum_t n_t exp(-V_i b_t) / Z_t, with the Z_t that these weights imply
    (Shirts and Chodera 2008).

    Parameters
    ----------
    potentials
        V of all draws, (s,).
    inverse, counts
        Inverse temperatures, of which the first is 1, and numbers of draws.
    """
    logs = -(potentials - potentials.min())[:, None] * inverse
    sizes = np.log(counts)
    normalisers = logsumexp(logs, axis=0)
    normalisers -= normalisers[0]
    for _ in range(ITERATIONS):
        mixed = logsumexp(logs - normalisers + sizes, axis=1)
        found = logsumexp(logs - mixed[:, None], axis=0)
        found -= found[0]
        change, normalisers = float(np.abs(found - normalisers).max()), found
        if change < SETTLED:
            break
    weights = np.exp(logs[:, 0] - mixed - (logs[:, 0] - mixed).max())
    return np.asarray(weights / weights.sum())
