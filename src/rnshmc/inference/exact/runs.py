"""Runs of a forward model, as arrays."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.compression import Compression
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Runs:
    """Runs of a forward model, and what reads potentials off them.

    Attributes
    ----------
    rows
        Outputs of each run, shape (m,).
    forward_posterior, transform
        As in `Evaluations`.
    compression
        Of very many outputs; None where they are emulated as they are.
    part
        What is added to the potential and its gradient at the rows of x, as `Archive.part`.
    """

    rows: Sequence[Array]
    forward_posterior: ForwardPosterior
    transform: Transform
    compression: Compression | None = None
    part: Callable[[Array], tuple[Array, Array]] | None = None

    @cached_property
    def outputs(self) -> Array:
        """Those of all runs, shape (n, m)."""
        return np.array(self.rows)

    def where(self, chosen: npt.NDArray[np.intp]) -> "Runs":
        """The runs with these indices."""
        return replace(self, rows=[self.rows[i] for i in chosen])

    def emulated(self) -> tuple[Array, ForwardPosterior]:
        """What is emulated of each run, (n, r), and the posterior as a function of it: predictors, or coefficients."""
        if self.compression is None:
            return self.forward_posterior.observed.predictors(self.outputs), self.forward_posterior
        coefficients, observed = self.compression.compressed(self.rows)
        return coefficients, replace(self.forward_posterior, observed=observed)
