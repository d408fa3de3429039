"""Predictors as functions of the outputs at the entries with data."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg

from rnshmc.types import Array


class Link(Protocol):
    """A smooth, one-to-one map from m outputs to m predictors."""

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows, (k, m) -> (k, m); NaN where an output is impossible."""
        ...

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """The Jacobian of the predictors, (m, p), from the outputs (m,) and their Jacobian (m, p)."""
        ...

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs, (m,), from the derivative by the predictors, (m,)."""
        ...


class Identity:
    """The outputs themselves."""

    def predictors(self, outputs: Array) -> Array:
        """The outputs."""
        return outputs

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:  # noqa: ARG002
        """The Jacobian of the outputs."""
        return jacobian

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:  # noqa: ARG002
        """The slopes."""
        return slopes


@dataclass(frozen=True, eq=False)
class Whitening:
    """L^-1 F for a covariance L L'.

    Attributes
    ----------
    factor
        L, lower triangular, shape (m, m).
    """

    factor: Array

    def predictors(self, outputs: Array) -> Array:
        """L^-1 F of each row; NaN in all of a row with an output that is not finite."""
        finite = np.isfinite(outputs).all(axis=1)
        whitened = np.full(outputs.shape, np.nan)
        whitened[finite] = self.solved(outputs[finite].T).T
        return whitened

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:  # noqa: ARG002
        """L^-1 J."""
        return self.solved(jacobian)

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:  # noqa: ARG002
        """L^-T g."""
        pulled: Array = linalg.solve_triangular(self.factor, slopes, lower=True, trans="T")
        return pulled

    def solved(self, columns: Array) -> Array:
        """L^-1 times columns, (m, ...)."""
        solution: Array = linalg.solve_triangular(self.factor, columns, lower=True)
        return solution

    def restored(self, whitened: Array) -> Array:
        """The rows L w."""
        rows: Array = whitened @ self.factor.T
        return rows
