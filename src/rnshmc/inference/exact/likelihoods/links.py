"""Predictors as functions of the outputs at the entries with data."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy import linalg
from scipy.special import expit, logit

from rnshmc.types import Array


class Link(Protocol):
    """A smooth, one-to-one map from m outputs to m predictors."""

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows, (k, m) -> (k, m); NaN where an output is impossible."""
        ...

    def outputs(self, predictors: Array) -> Array:
        """The outputs of the rows, (k, m) -> (k, m)."""
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

    def outputs(self, predictors: Array) -> Array:
        """The predictors."""
        return predictors

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:  # noqa: ARG002
        """The Jacobian of the outputs."""
        return jacobian

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:  # noqa: ARG002
        """The slopes."""
        return slopes


@dataclass(frozen=True, eq=False)
class CholeskyWhitening:
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

    def outputs(self, predictors: Array) -> Array:
        """The rows L w."""
        rows: Array = predictors @ self.factor.T
        return rows


@dataclass(frozen=True, eq=False)
class Log:
    """log |F|, for outputs of known sign.

    An output closer to zero than the floor, or on the wrong side of zero by rounding (up to ``slack``), counts as the
    floor, where the predictor is constant. Beyond that it is NaN.

    Attributes
    ----------
    floor
        Smallest |F|, one number or shape (m,).
    slack
        Largest |F| of the wrong sign.
    sign
        Sign of the outputs.
    """

    floor: Array | float
    slack: float
    sign: float = 1.0

    def predictors(self, outputs: Array) -> Array:
        """log |F| of the rows."""
        sizes = self.sign * outputs
        logs: Array = np.log(np.where(sizes >= -self.slack, np.maximum(sizes, self.floor), np.nan))
        return logs

    def outputs(self, predictors: Array) -> Array:
        """The outputs of the rows, with their sign."""
        return np.asarray(self.sign * np.exp(predictors))

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """J / F; zero at the floor."""
        return self._slopes(outputs)[:, None] * jacobian

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """g / F; zero at the floor."""
        return self._slopes(outputs) * slopes

    def _slopes(self, outputs: Array) -> Array:
        above = self.sign * outputs > self.floor
        return np.where(above, 1.0 / np.where(above, outputs, 1.0), 0.0)


@dataclass(frozen=True)
class Logit:
    """logit F, for probabilities.

    An output closer to 0 or 1 than the floor, or beyond them by rounding (up to ``slack``), counts as the floor, where
    the predictor is constant. Further out it is NaN.
    """

    floor: float
    slack: float

    def predictors(self, outputs: Array) -> Array:
        """logit F of the rows."""
        possible = (outputs >= -self.slack) & (outputs <= 1.0 + self.slack)
        clipped = np.where(possible, np.clip(outputs, self.floor, 1.0 - self.floor), np.nan)
        logits: Array = logit(clipped)
        return logits

    def outputs(self, predictors: Array) -> Array:
        """Probabilities of the rows."""
        return np.asarray(expit(predictors))

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """J / (F (1 - F)); zero at the floor."""
        return self._slopes(outputs)[:, None] * jacobian

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """g / (F (1 - F)); zero at the floor."""
        return self._slopes(outputs) * slopes

    def _slopes(self, outputs: Array) -> Array:
        inside = (outputs > self.floor) & (outputs < 1.0 - self.floor)
        p = np.where(inside, outputs, 0.5)
        return np.where(inside, 1.0 / (p * (1.0 - p)), 0.0)
