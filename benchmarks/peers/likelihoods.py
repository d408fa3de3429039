"""Densities of data given a model's outputs, with derivatives, and independent priors: what a problem's U is made of.

They are written here a second time, apart from those of rnshmc, so that references do not rest on what is compared.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import digamma, gammaln

import rnshmc
from rnshmc.types import Array

Mask = npt.NDArray[np.bool_]
Products = Callable[[Array, Array], Array]
"""A product with a Jacobian or its transpose at x: a function of x and a vector."""


class Likelihood(Protocol):
    """-log p(data | outputs, parameters)."""

    @property
    def parameters(self) -> int:
        """Number of unknown parameters."""

    @property
    def positive_outputs(self) -> bool:
        """Whether outputs have to be positive."""

    def value(self, outputs: Array, parameters: Array, data: Array) -> float: ...

    def gradients(self, outputs: Array, parameters: Array, data: Array) -> tuple[Array, Array]:
        """Derivatives of `value` in the outputs, shape (m,), and in the parameters."""

    def ours(self) -> Any:
        """The same as a likelihood of rnshmc."""


@dataclass(frozen=True)
class Gaussian:
    """Normal errors of known standard deviation, or, where ``sd`` is a name, of one unknown parameter."""

    sd: float | str

    positive_outputs = False

    @property
    def parameters(self) -> int:
        return int(isinstance(self.sd, str))

    def value(self, outputs: Array, parameters: Array, data: Array) -> float:
        sd = self._sd(parameters)
        z = (outputs - data) / sd
        return float(0.5 * (z @ z) + len(data) * np.log(sd))

    def gradients(self, outputs: Array, parameters: Array, data: Array) -> tuple[Array, Array]:
        sd = self._sd(parameters)
        z = (outputs - data) / sd
        return z / sd, np.array([(len(data) - z @ z) / sd])[: self.parameters]

    def ours(self) -> Any:
        return rnshmc.Gaussian(sd=self.sd)

    def _sd(self, parameters: Array) -> float:
        return float(parameters[0]) if isinstance(self.sd, str) else self.sd


@dataclass(frozen=True)
class LogNormal:
    """log data ~ N(log outputs, sd^2), with unknown parameters sd: of output i, number i modulo their number."""

    sd: tuple[str, ...]

    positive_outputs = True

    @property
    def parameters(self) -> int:
        return len(self.sd)

    def value(self, outputs: Array, parameters: Array, data: Array) -> float:
        sd = self._sds(parameters, len(data))
        z = np.log(outputs / data) / sd
        return float(0.5 * (z @ z) + np.log(sd).sum() + np.log(data).sum())

    def gradients(self, outputs: Array, parameters: Array, data: Array) -> tuple[Array, Array]:
        sd = self._sds(parameters, len(data))
        z = np.log(outputs / data) / sd
        return z / sd / outputs, ((1.0 - z**2) / sd).reshape(-1, len(self.sd)).sum(axis=0)

    def ours(self) -> Any:
        return rnshmc.LogNormal(sd=self.sd)

    def _sds(self, parameters: Array, count: int) -> Array:
        return np.tile(parameters, count // len(parameters))


@dataclass(frozen=True)
class NegativeBinomial:
    """Counts of mean mu = outputs and variance mu + mu^2 / phi, with the dispersion phi as the unknown parameter."""

    dispersion: str

    positive_outputs = True

    @property
    def parameters(self) -> int:
        return 1

    def value(self, outputs: Array, parameters: Array, data: Array) -> float:
        phi = parameters[0]
        # log(1 + mu / phi) keeps its digits where phi is large.
        spread = (data + phi) * np.log1p(outputs / phi) - data * np.log(outputs / phi)
        return float((spread - gammaln(data + phi) + gammaln(phi) + gammaln(data + 1.0)).sum())

    def gradients(self, outputs: Array, parameters: Array, data: Array) -> tuple[Array, Array]:
        phi = parameters[0]
        of_outputs = (data + phi) / (outputs + phi) - data / outputs
        of_phi = np.log1p(outputs / phi) + (data - outputs) / (outputs + phi) - digamma(data + phi) + digamma(phi)
        return of_outputs, np.array([of_phi.sum()])

    def ours(self) -> Any:
        return rnshmc.NegativeBinomial(dispersion=self.dispersion)


@dataclass(frozen=True, eq=False)
class Prior:
    """-log density of independent normal or log-normal parameters, as a potential; up to a constant.

    Attributes
    ----------
    mean, sd
        Of the parameter, or of its logarithm where ``logarithmic``; shape (dim,) each. A normal one of a parameter that
        has to be positive is truncated at 0.
    logarithmic
        Which parameters are log-normal.
    """

    mean: Array
    sd: Array
    logarithmic: Mask

    @property
    def dim(self) -> int:
        return len(self.mean)

    @property
    def median(self) -> Array:
        """Median of each parameter, what is truncated left out of account."""
        return np.exp(self.mean, out=self.mean.copy(), where=self.logarithmic)

    def value(self, x: Array) -> float:
        z, logs = self._standardised(x)
        return float(0.5 * (z @ z) + logs.sum())

    def gradient(self, x: Array) -> Array:
        return self.value_and_grad(x)[1]

    def value_and_grad(self, x: Array) -> tuple[float, Array]:
        z, logs = self._standardised(x)
        gradient = z / self.sd + self.logarithmic
        np.divide(gradient, x, out=gradient, where=self.logarithmic)
        return float(0.5 * (z @ z) + logs.sum()), gradient

    def _standardised(self, x: Array) -> tuple[Array, Array]:
        """Standardised parameters or logarithms, and the logarithms of the log-normal ones."""
        logs = np.log(x, out=np.zeros_like(x), where=self.logarithmic)
        return (np.where(self.logarithmic, logs, x) - self.mean) / self.sd, logs
