"""The interfaces of likelihoods: what the user makes, and the same with data bound.

Outputs of a forward model are flat: the M numbers of all its arrays, each in C order, in the order of the data. A
likelihood sees them through *predictors*: smooth, unbounded functions of the outputs, for the entries that have data.
An emulator learns the predictors; everything behind them is exact.
"""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rnshmc.types import Array

Bound = tuple[float | None, float | None]


@runtime_checkable
class Observed(Protocol):
    """-log p(data | outputs, own parameters) with the data bound, for k rows."""

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices, among the M outputs, of the entries with data; shape (m,)."""

    def predictors(self, outputs: Array) -> Array:
        """Predictors of outputs, (k, M) -> (k, m). NaN where an output is impossible, such as a negative mean."""

    def outputs(self, predictors: Array) -> Array:
        """Outputs at the entries with data, of predictors: (k, m) -> (k, m)."""

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """Jacobian of the predictors at one position, (m, p), from the outputs (M,) and their Jacobian (M, p)."""

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs at one position, (M,), from the derivative by the predictors, (m,)."""

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood (k,), its derivatives by the predictors (k, m) and by the own parameters (k, h).

        ``own`` are in the user's coordinates. Constants are included: the likelihood is the density of the data as they
        are given, or their probability. Where the own parameters or the predictors are impossible, the value is inf and
        the derivatives are zero.
        """

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives of -log likelihood by each predictor, (k, m), positive."""

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data, (k, m), on the scale of the data."""


@runtime_checkable
class Likelihood(Protocol):
    """A likelihood as the user makes it, before it has data."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its own unknown parameters, h of them, each once."""

    @property
    def bounds(self) -> dict[str, Bound]:
        """Lower and upper bound of each own parameter; None where there is none."""

    def observing(self, data: Mapping[str, Array]) -> Observed:
        """The likelihood of these data: arrays by name, one named "" for a plain array; NaN marks missing entries.

        Raises
        ------
        ParameterError
            If the data or the arguments of the likelihood cannot be used.
        """
