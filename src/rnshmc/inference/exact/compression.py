"""Very many outputs of runs as few numbers: an orthonormal basis that grows with the runs, and coefficients in it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from rnshmc.inference.exact.likelihoods.base import Observed
from rnshmc.inference.exact.likelihoods.compressed import (
    CompressedBlock,
    CompressedGaussian,
    GaussianBlock,
    gaussian_blocks,
)
from rnshmc.inference.exact.likelihoods.distributions import LOG_ROOT_2PI
from rnshmc.types import Array

MANY = 500
"""Data from which on outputs are compressed: with fewer, that saves no time."""
AT_ONCE = 16
"""Runs that are added to a basis in one step, which takes some copies of their outputs."""
ROUNDING = 1e-14
"""Part of a run outside the span of others, relative to the longest run, that is zero up to rounding."""


class Compression:
    """Coefficients of the runs of a model whose errors are Gaussian.

    Emulated outputs are linear combinations of those of the runs, so that coefficients in a basis of their span say all
    of them. A new run costs O(n m) after n others with m outputs each.

    Parameters
    ----------
    observed
        The likelihood, for its predictors.
    blocks
        Of it, by `gaussian_blocks`.
    """

    def __init__(self, observed: Observed, blocks: Sequence[GaussianBlock]) -> None:
        self._observed = observed
        self._spans = [Span.of(block) for block in blocks]
        self._rows: dict[int, tuple[Array, list[Array]]] = {}

    def compressed(self, rows: Sequence[Array]) -> tuple[Array, CompressedGaussian]:
        """Coefficients of runs, (n, r), from their outputs, and the likelihood as a function of coefficients."""
        new = [row for row in rows if id(row) not in self._rows]
        for start in range(0, len(new), AT_ONCE):
            self._add(new[start : start + AT_ONCE])
        return np.hstack([self._of_span(k, rows) for k in range(len(self._spans))]), CompressedGaussian(
            tuple(span.seen for span in self._spans)
        )

    def _add(self, rows: Sequence[Array]) -> None:
        predictors = self._observed.predictors(np.array(rows))
        found: list[list[Array]] = [[] for _ in rows]
        for k, span in enumerate(self._spans):
            weighted = predictors[:, span.block.entries] / span.block.sizes
            self._spans[k] = grown = span.extended(weighted)
            for one, coefficients in zip(found, weighted @ grown.vectors.T, strict=True):
                one.append(coefficients)
        # The row itself is kept, too, so that no other array takes its identity.
        self._rows.update({id(row): (row, one) for row, one in zip(rows, found, strict=True)})

    def _of_span(self, k: int, rows: Sequence[Array]) -> Array:
        """Coefficients in one of the bases; those of vectors that came later are zero."""
        coefficients = np.zeros((len(rows), len(self._spans[k].vectors)))
        for line, row in zip(coefficients, rows, strict=True):
            known = self._rows[id(row)][1][k]
            line[: len(known)] = known
        return coefficients


@dataclass(frozen=True, eq=False)
class Span:
    """A basis for the predictors of a block in units of their sizes.

    Attributes
    ----------
    block
        The block.
    vectors
        Orthonormal rows, shape (r, m).
    seen
        What the data of the block are in the basis.
    """

    block: GaussianBlock
    vectors: Array
    seen: CompressedBlock

    @classmethod
    def of(cls, block: GaussianBlock, vectors: Array | None = None) -> "Span":
        """The block with its data in a basis; None for an empty one."""
        basis = np.zeros((0, len(block.data))) if vectors is None else vectors
        data = block.data / block.sizes
        target = basis @ data
        rest = float(((data - target @ basis) ** 2).sum())
        constant = float((np.log(block.sizes) + block.log_units + LOG_ROOT_2PI).sum())
        seen = CompressedBlock(target, rest, len(data), constant, block.own)
        return cls(block, basis, seen)

    def extended(self, rows: Array) -> "Span":
        """With vectors for what is in the rows, (k, m), and not in the span."""
        # Twice is enough (Giraud, Langou and Rozloznik 2005).
        outside = self._outside(self._outside(rows))
        vectors, triangle, _ = linalg.qr(outside.T, mode="economic", pivoting=True)
        large = np.abs(triangle.diagonal()) > ROUNDING * np.linalg.norm(rows, axis=1).max()
        if not large.any():
            return self
        new = linalg.qr(self._outside(vectors[:, large].T).T, mode="economic")[0].T
        return Span.of(self.block, np.concatenate((self.vectors, new)))

    def _outside(self, rows: Array) -> Array:
        return np.asarray(rows - (rows @ self.vectors.T) @ self.vectors)


def make_compression(observed: Observed) -> Compression | None:
    """A compression of outputs with very many data; None where there are few, or errors are not Gaussian."""
    blocks = gaussian_blocks(observed) if len(observed.present) >= MANY else None
    return None if blocks is None else Compression(observed, blocks)
