"""Predictors as functions of the outputs at the entries with data."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.special import expit, logit

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import FlatData
from rnshmc.inference.given import numbers
from rnshmc.types import Array

_ASYMMETRY = 1e-10
"""Largest asymmetry of a computed covariance, relative to its largest entry."""


class Link:
    """The identity, and the interface of smooth, one-to-one maps from m outputs to m predictors.

    An elementwise map overrides `predictors`, `outputs` and `slopes`.
    """

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows, (k, m) -> (k, m); NaN where an output is impossible."""
        return outputs

    def outputs(self, predictors: Array) -> Array:
        """The outputs of the rows, (k, m) -> (k, m)."""
        return predictors

    def slopes(self, outputs: Array) -> Array:
        """Derivative of each predictor by its output, (m,) -> (m,)."""
        return np.ones(len(outputs))

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """The Jacobian of the predictors, (m, p), from the outputs (m,) and their Jacobian (m, p)."""
        return self.slopes(outputs)[:, None] * jacobian

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs, (m,), from the derivative by the predictors, (m,)."""
        return self.slopes(outputs) * slopes


@dataclass(frozen=True, eq=False)
class CholeskyWhitening(Link):
    """L^-1 F for a covariance L L', with ``factor`` L, lower triangular, shape (m, m)."""

    factor: Array

    def predictors(self, outputs: Array) -> Array:
        """L^-1 F of each row; NaN in all of a row with an output that is not finite."""
        finite = np.isfinite(outputs).all(axis=1)
        whitened = np.full(outputs.shape, np.nan)
        whitened[finite] = self.solved(outputs[finite].T).T
        return whitened

    def outputs(self, predictors: Array) -> Array:
        """The rows L w."""
        return np.asarray(predictors @ self.factor.T)

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:  # noqa: ARG002
        """L^-1 J."""
        return self.solved(jacobian)

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:  # noqa: ARG002
        """L^-T g."""
        return np.asarray(linalg.solve_triangular(self.factor, slopes, lower=True, trans="T"))

    def solved(self, columns: Array) -> Array:
        """L^-1 times columns, (m, ...)."""
        return np.asarray(linalg.solve_triangular(self.factor, columns, lower=True))


@dataclass(frozen=True, eq=False)
class Log(Link):
    """log |F|, for outputs of one ``sign``.

    An output closer to zero than the ``floor``, one number or shape (m,), or on the wrong side of zero by rounding, up
    to ``slack``, counts as the floor, where the predictor is constant. Beyond that it is NaN.
    """

    floor: Array | float
    slack: float
    sign: float = 1.0

    def predictors(self, outputs: Array) -> Array:
        """log |F| of the rows."""
        sizes = self.sign * outputs
        return np.asarray(np.log(np.where(sizes >= -self.slack, np.maximum(sizes, self.floor), np.nan)))

    def outputs(self, predictors: Array) -> Array:
        """The outputs of the rows, with their sign."""
        return np.asarray(self.sign * np.exp(np.ascontiguousarray(predictors)))

    def slopes(self, outputs: Array) -> Array:
        """1 / F; zero at the floor."""
        above = self.sign * outputs > self.floor
        return np.where(above, 1.0 / np.where(above, outputs, 1.0), 0.0)


@dataclass(frozen=True)
class Logit(Link):
    """logit F, for probabilities, with ``floor`` and ``slack`` at 0 and at 1 as in `Log`."""

    floor: float
    slack: float

    def predictors(self, outputs: Array) -> Array:
        """logit F of the rows."""
        possible = (outputs >= -self.slack) & (outputs <= 1.0 + self.slack)
        return np.asarray(logit(np.where(possible, np.clip(outputs, self.floor, 1.0 - self.floor), np.nan)))

    def outputs(self, predictors: Array) -> Array:
        """Probabilities of the rows."""
        return np.asarray(expit(predictors))

    def slopes(self, outputs: Array) -> Array:
        """1 / (F (1 - F)); zero at the floor."""
        inside = (outputs > self.floor) & (outputs < 1.0 - self.floor)
        p = np.where(inside, outputs, 0.5)
        return np.where(inside, 1.0 / (p * (1.0 - p)), 0.0)


@dataclass(frozen=True, eq=False)
class Linked:
    """The part of an `Observed` without its density: a link of the outputs at the entries with data."""

    data: FlatData
    link: Link

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices of the outputs with data."""
        return self.data.present

    def predictors(self, outputs: Array) -> Array:
        """Predictors of the rows."""
        return self.link.predictors(outputs[:, self.present])

    def outputs(self, predictors: Array) -> Array:
        """Outputs with data, of the rows of predictors."""
        return self.link.outputs(predictors)

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """Jacobian of the predictors at one position."""
        return self.link.jacobian(outputs[self.present], jacobian[self.present])

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs at one position; zero where data are missing."""
        pulled = np.zeros(self.data.size)
        pulled[self.present] = self.link.pulled_back(outputs[self.present], slopes)
        return pulled


def checked_covariance(what: str, given: npt.ArrayLike) -> Array:
    """A copy of a symmetric positive definite matrix; any other is a `ParameterError` that names ``what``."""
    matrix = numbers(given, what)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ParameterError(f"{what}: expected a square matrix, got shape {matrix.shape}")
    if not np.isfinite(matrix).all():
        raise ParameterError(f"{what}: expected finite numbers, got {matrix[~np.isfinite(matrix)][0]}")
    asymmetry = np.abs(matrix - matrix.T)
    if asymmetry.max(initial=0.0) > _ASYMMETRY * np.abs(matrix).max(initial=0.0):
        row, column = np.unravel_index(asymmetry.argmax(), asymmetry.shape)
        pair = f"{matrix[row, column]} and {matrix[column, row]}"
        raise ParameterError(f"{what}: expected a symmetric matrix, got {pair} for the entries {row} and {column}")
    cholesky(what, matrix)
    return matrix


def cholesky(what: str, matrix: Array) -> Array:
    """The lower factor L of L L'; a `ParameterError` that names ``what`` if it is not positive definite."""
    try:
        return np.asarray(linalg.cholesky(matrix, lower=True))
    except linalg.LinAlgError as error:
        raise ParameterError(f"{what}: expected a positive definite matrix, got one that is not: {error}") from error
