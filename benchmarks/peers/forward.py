"""Posteriors of forward models: what peers that emulate the model's outputs get, and U for all others."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from peers.likelihoods import Likelihood, Mask, Prior, Products

from rnshmc.errors import NumericalError
from rnshmc.types import Array

LARGEST = 300.0
"""Logarithm of a parameter beyond which nothing is evaluated."""


@dataclass(frozen=True, eq=False)
class ForwardProblem:
    """A forward model with data.

    The parameters x are those of the model followed by those of the likelihood. The unconstrained coordinates q are
    log x where ``positive``, x elsewhere.

    Attributes
    ----------
    forward
        Outputs, shape (m,), as a function of the model's parameters, shape (d - k,): one run. Raises `NumericalError`
        where the model cannot be run.
    jvp, vjp
        ``jvp(x, v)``, shape (m,), and ``vjp(x, w)``, shape (d - k,): products with its Jacobian and the transpose.
    data
        Shape (m,).
    likelihood
        Of the data, with k unknown parameters.
    prior
        Of all parameters x, shape (d,).
    start
        Where to begin, in x, shape (d,).
    names, positive
        Of all parameters.
    """

    forward: Callable[[Array], Array]
    jvp: Products
    vjp: Products
    data: Array
    likelihood: Likelihood
    prior: Prior
    start: Array
    names: tuple[str, ...]
    positive: Mask

    @property
    def dim(self) -> int:
        return len(self.names)

    @property
    def inputs(self) -> int:
        """Number of parameters of the model."""
        return self.dim - self.likelihood.parameters

    @property
    def width(self) -> Array:
        """Prior standard deviations in q, to first order where a positive parameter has a normal prior."""
        linear = self.positive & ~self.prior.logarithmic
        return np.divide(self.prior.sd, self.prior.median, out=self.prior.sd.copy(), where=linear)

    def parameters(self, q: Array) -> Array:
        """x at q."""
        return np.exp(q, out=q.copy(), where=self.positive)

    def coordinates(self, x: Array) -> Array:
        """q at x."""
        return np.log(x, out=x.copy(), where=self.positive)

    @property
    def potential(self) -> "ForwardPotential":
        """U of all parameters in unconstrained coordinates."""
        return ForwardPotential(self)


class ForwardPotential:
    """U(q) = -log p(data | outputs) - log prior(x) - sum of the logarithms of positive parameters, x = x(q)."""

    def __init__(self, problem: ForwardProblem) -> None:
        self._problem = problem
        self.dim = problem.dim

    def value(self, q: Array) -> float:
        """U at q of shape (dim,); raises `NumericalError` where the model cannot be run."""
        x = self._parameters(q)
        return self.of_outputs(self._problem.forward(x[: self._problem.inputs]), q)

    def gradient(self, q: Array) -> Array:
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U and its gradient, by one run and one product with the transposed Jacobian."""
        problem = self._problem
        x = self._parameters(q)
        outputs = problem.forward(x[: problem.inputs])
        of_outputs, of_noise = problem.likelihood.gradients(outputs, x[problem.inputs :], problem.data)
        of_x = np.concatenate((problem.vjp(x[: problem.inputs], of_outputs), of_noise)) + problem.prior.gradient(x)
        return self.of_outputs(outputs, q), np.where(problem.positive, of_x * x - 1.0, of_x)

    def of_outputs(self, outputs: Array, q: Array) -> float:
        """U at q, where the model's outputs are known."""
        problem = self._problem
        x = problem.parameters(q)
        value = problem.likelihood.value(outputs, x[problem.inputs :], problem.data) + problem.prior.value(x)
        value -= q[problem.positive].sum()
        if not np.isfinite(value):
            raise NumericalError("the potential is not finite")
        return float(value)

    def _parameters(self, q: Array) -> Array:
        if not np.abs(q).max() < LARGEST:
            raise NumericalError("the parameters overflow")
        return self._problem.parameters(q)
