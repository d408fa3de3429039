"""Gaussian likelihoods of very many outputs, read off the coefficients of the outputs in a basis of few vectors.

For outputs F = Q c with orthonormal Q and independent errors of one standard deviation s, both in units of the errors,

    |F - y|^2 / (2 s^2) + m log s = (|c - Q'y|^2 + |y - Q Q'y|^2) / (2 s^2) + m log s,

up to constants. It takes as many numbers as there are coefficients, and is exact in value, derivatives and curvature.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.likelihoods.base import Observed
from rnshmc.inference.exact.likelihoods.distributions import normal_terms
from rnshmc.inference.exact.likelihoods.groups import ObservedGroups
from rnshmc.inference.exact.likelihoods.independent import SMALLEST_CURVATURE, ObservedIndependent, finite_rows
from rnshmc.inference.exact.likelihoods.links import Link
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class GaussianBlock:
    """Data with independent normal errors whose standard deviations are known up to one factor.

    Attributes
    ----------
    entries
        Their indices among the predictors, shape (m,).
    data
        Shape (m,).
    sizes
        Standard deviations over the factor, (m,).
    own
        Index of the own parameter that is the factor; -1 where it is one.
    log_units
        As in `normal_terms`, (m,).
    """

    entries: npt.NDArray[np.intp]
    data: Array
    sizes: Array
    own: int
    log_units: Array


def gaussian_blocks(observed: Observed) -> tuple[GaussianBlock, ...] | None:
    """Blocks of a Gaussian likelihood, one for each unknown factor; None if the likelihood is not Gaussian.

    Log-normal errors are Gaussian errors of predictors, too; a covariance is one up to one factor, of whitened ones.
    """
    entries = _entries(observed)
    if entries is None:
        return None
    data, sizes, own, log_units = entries
    which = [np.flatnonzero(own == index) for index in np.unique(own)]
    return tuple(GaussianBlock(at, data[at], sizes[at], int(own[at[0]]), log_units[at]) for at in which)


def _entries(observed: Observed) -> tuple[Array, Array, npt.NDArray[np.intp], Array] | None:
    """Of each predictor, the fields of its `GaussianBlock`."""
    if isinstance(observed, ObservedGroups):
        parts = []
        for part in observed.parts:
            if (inside := _entries(part.observed)) is None:
                return None
            data, sizes, own, log_units = inside
            parts.append((data, sizes, np.append(part.own, -1)[own], log_units))
        data, sizes, own, log_units = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        return data, sizes, own, log_units
    if not isinstance(observed, ObservedIndependent) or observed.distribution.terms is not normal_terms:
        return None
    [scale], shape = observed.scales, observed.y.shape
    known, log_units = np.broadcast_to(scale.known, shape), np.broadcast_to(observed.constants[0], shape)
    weights = np.broadcast_to(scale.weights, (*shape, scale.weights.shape[1]))
    unknown = (weights != 0).any(axis=1)
    own = np.where(unknown, weights.argmax(axis=1) if weights.size else -1, -1)
    return observed.y, np.where(unknown, weights.sum(axis=1), known), own, log_units


@dataclass(frozen=True, eq=False)
class CompressedBlock:
    """What is left of a `GaussianBlock` in a basis.

    Attributes
    ----------
    target
        Coefficients of the data in units of the sizes, Q'y, shape (r,).
    rest
        Squared norm of the data outside the span.
    count
        Number m of data.
    constant
        Sum of the logarithms of the sizes, and what depends on nothing but the data.
    own
        As in `GaussianBlock`.
    """

    target: Array
    rest: float
    count: int
    constant: float
    own: int

    def potential(self, coefficients: Array, factors: Array) -> tuple[Array, Array, Array]:
        """-log p (k,), its derivatives by the coefficients, (k, r), and by the factors, (k,)."""
        away = (coefficients - self.target) / factors[:, None]
        squares = (away**2).sum(axis=1) + self.rest / factors**2
        values = 0.5 * squares + self.count * np.log(factors) + self.constant
        return values, away / factors[:, None], (self.count - squares) / factors


@dataclass(frozen=True, eq=False)
class CompressedGaussian(Link):
    """An `Observed` whose outputs and predictors are the coefficients of all blocks, one after the other."""

    blocks: tuple[CompressedBlock, ...]

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices of all coefficients."""
        return np.arange(sum(len(block.target) for block in self.blocks))

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood of all data, and its derivatives by coefficients and own parameters."""
        values, by_own, slopes = np.zeros(len(predictors)), np.zeros((len(predictors), own.shape[1])), []
        with np.errstate(all="ignore"):
            for block, rows, factors in self._each(predictors, own):
                value, slope, by_factor = block.potential(rows, factors)
                values = values + np.where((factors > 0) & np.isfinite(factors), value, np.inf)
                slopes.append(slope)
                if block.own >= 0:
                    by_own[:, block.own] += by_factor
            return finite_rows(values, np.hstack(slopes), by_own)

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Second derivatives by the coefficients."""
        with np.errstate(all="ignore"):
            parts = [
                np.broadcast_to(factors[:, None] ** -2.0, rows.shape)
                for _, rows, factors in self._each(predictors, own)
            ]
        return np.fmax(np.hstack(parts), SMALLEST_CURVATURE)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """Coefficients of new observations."""
        normal = rng.standard_normal(predictors.shape)
        each = zip(self._each(predictors, own), self._split(normal), strict=True)
        return np.hstack([rows + factors[:, None] * errors for (_, rows, factors), errors in each])

    def _each(self, predictors: Array, own: Array) -> list[tuple[CompressedBlock, Array, Array]]:
        """Each block with its coefficients and factors, (k,)."""
        ones = np.ones(len(predictors))
        # Own parameters may have one row for all positions.
        return [
            (block, rows, ones * own[:, block.own] if block.own >= 0 else ones)
            for block, rows in zip(self.blocks, self._split(predictors), strict=True)
        ]

    def _split(self, rows: Array) -> list[Array]:
        return np.split(rows, np.cumsum([len(block.target) for block in self.blocks])[:-1], axis=1)
