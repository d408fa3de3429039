"""Gaussian likelihoods of very many outputs, read off coefficients of the outputs in a basis that grows with the runs.

For outputs F = Q c with orthonormal Q and independent errors of one standard deviation s, both in units of the errors,

    |F - y|^2 / (2 s^2) + m log s = (|c - Q'y|^2 + |y - Q Q'y|^2) / (2 s^2) + m log s,

up to constants. It depends on as many numbers as there are coefficients, and is exact in value, derivatives and
curvature.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.inference.exact.likelihoods.base import Observed
from rnshmc.inference.exact.likelihoods.distributions import LOG_ROOT_2PI, normal_terms
from rnshmc.inference.exact.likelihoods.groups import ObservedGroups
from rnshmc.inference.exact.likelihoods.independent import SMALLEST_CURVATURE, ObservedIndependent, finite_rows
from rnshmc.inference.exact.likelihoods.links import Link
from rnshmc.types import Array

MANY = 500
"""Minimum number of data for which outputs are compressed: with fewer, that saves no time."""
AT_ONCE = 16
"""Runs added to a basis in one step, which needs a few copies of their outputs."""
ROUNDING = 1e-14
"""Part of a run outside the span of others, relative to the longest run, that is zero up to rounding."""


@dataclass(frozen=True, eq=False)
class GaussianBlock:
    """m data with independent normal errors whose standard deviations are known up to one factor."""

    entries: npt.NDArray[np.intp]
    """Their indices among the predictors."""
    data: Array
    sizes: Array
    """Standard deviations divided by the factor."""
    own: int
    """Index of the own parameter that is the factor; -1 where the factor is 1."""
    log_units: Array
    """As in `normal_terms`."""


def gaussian_blocks(observed: Observed) -> tuple[GaussianBlock, ...] | None:
    """Blocks of a Gaussian likelihood, one for each unknown factor; None if the likelihood is not Gaussian.

    Log-normal errors are Gaussian in the predictors, and so are correlated errors, whose predictors are whitened.
    """
    entries = _entries(observed)
    if entries is None:
        return None
    data, sizes, own, log_units = entries
    which = [np.flatnonzero(own == index) for index in np.unique(own)]
    return tuple(GaussianBlock(at, data[at], sizes[at], int(own[at[0]]), log_units[at]) for at in which)


def _entries(observed: Observed) -> tuple[Array, Array, npt.NDArray[np.intp], Array] | None:
    """``data``, ``sizes``, ``own`` and ``log_units`` of a `GaussianBlock`, for each predictor."""
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
class _CompressedBlock:
    """The likelihood of a `GaussianBlock` as a function of coefficients in a basis."""

    target: Array
    """Coefficients of the data in units of the sizes, Q'y, shape (r,)."""
    rest: float
    """Squared norm of the data outside the span."""
    count: int
    """Number m of data."""
    constant: float
    """Terms that depend on the data and sizes alone."""
    own: int
    """As in `GaussianBlock`."""

    def potential(self, coefficients: Array, factors: Array) -> tuple[Array, Array, Array]:
        """-log p (k,), its derivatives by the coefficients, (k, r), and by the factors, (k,)."""
        away = (coefficients - self.target) / factors[:, None]
        squares = (away**2).sum(axis=1) + self.rest / factors**2
        values = 0.5 * squares + self.count * np.log(factors) + self.constant
        return values, away / factors[:, None], (self.count - squares) / factors


@dataclass(frozen=True, eq=False)
class _CompressedGaussian(Link):
    """An `Observed` whose outputs and predictors are the concatenated coefficients of all blocks."""

    blocks: tuple[_CompressedBlock, ...]

    @property
    def present(self) -> npt.NDArray[np.intp]:
        return np.arange(sum(len(block.target) for block in self.blocks))

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
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
        with np.errstate(all="ignore"):
            parts = [
                np.broadcast_to(1.0 / factors[:, None] ** 2, rows.shape)
                for _, rows, factors in self._each(predictors, own)
            ]
        return np.fmax(np.hstack(parts), SMALLEST_CURVATURE)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        normal = rng.standard_normal(predictors.shape)
        each = zip(self._each(predictors, own), self._split(normal), strict=True)
        return np.hstack([rows + factors[:, None] * errors for (_, rows, factors), errors in each])

    def _each(self, predictors: Array, own: Array) -> list[tuple[_CompressedBlock, Array, Array]]:
        """Each block with its coefficients and factors, (k,)."""
        ones = np.ones(len(predictors))
        # Own parameters may have one row for all positions.
        return [
            (block, rows, ones * own[:, block.own] if block.own >= 0 else ones)
            for block, rows in zip(self.blocks, self._split(predictors), strict=True)
        ]

    def _split(self, rows: Array) -> list[Array]:
        return np.split(rows, np.cumsum([len(block.target) for block in self.blocks])[:-1], axis=1)


class Compression:
    """Coefficients of the runs of a model whose errors are Gaussian.

    Emulated outputs are linear combinations of those of the runs, so coefficients in a basis of their span determine
    them. A new run costs O(n m) after n others with m outputs each. ``blocks`` are those of ``observed``.
    """

    def __init__(self, observed: Observed, blocks: Sequence[GaussianBlock]) -> None:
        self._observed = observed
        self._spans = [_Span.of(block, np.zeros((0, len(block.data)))) for block in blocks]
        self._rows: dict[int, tuple[Array, list[Array]]] = {}

    def compressed(self, rows: Sequence[Array]) -> tuple[Array, Observed]:
        """Coefficients of runs, (n, r), from their outputs, and the likelihood as a function of coefficients."""
        new = [row for row in rows if id(row) not in self._rows]
        for start in range(0, len(new), AT_ONCE):
            self._add(new[start : start + AT_ONCE])
        coefficients = np.hstack([self._of_span(k, rows) for k in range(len(self._spans))])
        return coefficients, _CompressedGaussian(tuple(span.seen for span in self._spans))

    def _add(self, rows: Sequence[Array]) -> None:
        predictors = self._observed.predictors(np.array(rows))
        found: list[list[Array]] = [[] for _ in rows]
        for k, span in enumerate(self._spans):
            weighted = predictors[:, span.block.entries] / span.block.sizes
            self._spans[k] = grown = span.extended(weighted)
            for one, coefficients in zip(found, weighted @ grown.vectors.T, strict=True):
                one.append(coefficients)
        # The row itself is also kept, so that no other array gets its identity.
        self._rows.update({id(row): (row, one) for row, one in zip(rows, found, strict=True)})

    def _of_span(self, k: int, rows: Sequence[Array]) -> Array:
        """Coefficients in one of the bases; zero for vectors added after the run."""
        coefficients = np.zeros((len(rows), len(self._spans[k].vectors)))
        for line, row in zip(coefficients, rows, strict=True):
            known = self._rows[id(row)][1][k]
            line[: len(known)] = known
        return coefficients


@dataclass(frozen=True, eq=False)
class _Span:
    """Orthonormal rows ``vectors``, shape (r, m), for the predictors of a block in units of their sizes."""

    block: GaussianBlock
    vectors: Array
    seen: _CompressedBlock

    @classmethod
    def of(cls, block: GaussianBlock, vectors: Array) -> "_Span":
        data = block.data / block.sizes
        target = vectors @ data
        rest = float(((data - target @ vectors) ** 2).sum())
        constant = float((np.log(block.sizes) + block.log_units + LOG_ROOT_2PI).sum())
        seen = _CompressedBlock(target, rest, len(data), constant, block.own)
        return cls(block, vectors, seen)

    def extended(self, rows: Array) -> "_Span":
        """With vectors for the components of the rows, (k, m), outside the span."""
        # Orthogonalising twice suffices (Giraud, Langou and Rozloznik 2005).
        outside = self._outside(self._outside(rows))
        vectors, triangle, _ = linalg.qr(outside.T, mode="economic", pivoting=True)
        large = np.abs(triangle.diagonal()) > ROUNDING * np.linalg.norm(rows, axis=1).max()
        if not large.any():
            return self
        new = linalg.qr(self._outside(vectors[:, large].T).T, mode="economic")[0].T
        return _Span.of(self.block, np.concatenate((self.vectors, new)))

    def _outside(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.vectors.T) @ self.vectors)


def make_compression(observed: Observed) -> Compression | None:
    """A compression of very many outputs; None where there are few, or errors are not Gaussian."""
    blocks = gaussian_blocks(observed) if len(observed.present) >= MANY else None
    return None if blocks is None else Compression(observed, blocks)
