"""The random network with additive nodes, the surrogate of RNS-HMC and RNS-RMHMC (paper A, sections 3.1, 3.2, 3.4)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from rnshmc.surrogates.ridge import by_blocks, check_settings, output_matrix, ridge_regression
from rnshmc.surrogates.storage import Stored
from rnshmc.surrogates.training import training_set
from rnshmc.targets.checks import finite
from rnshmc.types import Array

# exp(-40) is below half a unit in the last place of 1: beyond 40, sigmoid(z) is 1 in doubles.
_SATURATION = 40.0


@dataclass(frozen=True, eq=False)
class RandomNetwork(Stored):
    """A single hidden layer of softplus units with random weights, as a potential (paper A, eq. 10 without bias b).

        z(q) = sum_i v_i softplus(w_i'q + d_i)

    Only the output weights v are fitted. The arrays are private copies and read-only.
    """

    weights: Array
    """Hidden weights, shape (dim, s): column i is w_i."""
    biases: Array
    """Hidden biases d_i, shape (s,)."""
    output_weights: Array
    """Output weights v_i, shape (s,)."""
    train_residual_sd: float
    """Standard deviation of z(q) - U(q) over the training set: the square root of what potential matching minimises
    (paper A, eq. 15)."""
    solver: str
    """How v was found: "cholesky" or "least_squares", see `rnshmc.surrogates.ridge.ridge_regression`."""

    @classmethod
    def fit(
        cls, q: npt.ArrayLike, u: npt.ArrayLike, *, rng: np.random.Generator, hidden_units: int, ridge: float
    ) -> Self:
        """Draw a hidden layer and fit its output weights to potentials by ridge regression.

        The entries of w_i are drawn from N(0, 1/dim), then the d_i from N(0, 1). The targets are t = u - min(u), and v
        minimises |H v - t|^2 + ridge |v|^2 with H_ji = softplus(w_i'q_j + d_i). Raises `FitError` if the training set
        has the wrong shape or is not finite, or no finite solution is found. Raises `ParameterError` if hidden_units or
        ridge is out of range.

        Parameters
        ----------
        q, u
            Training states, shape (n, dim), weighted by their multiplicity, and exact potentials there, shape (n,).
        rng
            Generator of the hidden layer.
        hidden_units
            Number s of hidden units.
        ridge
            Penalty on the squared norm of v; not negative. 0 gives the Moore-Penrose solution of Algorithm 2.
        """
        check_settings(hidden_units, ridge)
        states, targets = training_set(q, u)
        weights, biases = draw_hidden_layer(rng, states.shape[1], hidden_units)
        hidden = output_matrix(lambda rows: _softplus(rows @ weights + biases), states, hidden_units)
        output_weights, solver = ridge_regression(hidden, targets, ridge)
        residual_sd = float(np.std(hidden @ output_weights - targets))
        return cls(weights, biases, output_weights, residual_sd, solver)

    def report(self) -> dict[str, float | str]:
        """Summary of the fit: its residual, its solver and the norm of the output weights."""
        return {
            "train_residual_sd": self.train_residual_sd,
            "solver": self.solver,
            "output_weights_norm": float(np.linalg.norm(self.output_weights)),
        }

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.weights.shape[0]

    def hidden_layer(self, q: Array) -> Array:
        """softplus(w_i'q + d_i): shape (s,) for one position, (m, s) for the rows of q, shape (m, dim)."""
        return _softplus(q @ self.weights + self.biases)

    def value(self, q: Array) -> float:
        """z(q) for q of shape (dim,)."""
        with np.errstate(all="ignore"):
            return finite("value of the random network", float(self.hidden_layer(q) @ self.output_weights))

    def gradient(self, q: Array) -> Array:
        """Gradient of z at q, both of shape (dim,) (paper A, eq. 12)."""
        with np.errstate(all="ignore"):
            return self._back_propagated(q @ self.weights + self.biases)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """z(q) and its gradient, for one pass through the hidden layer."""
        with np.errstate(all="ignore"):
            inputs = q @ self.weights + self.biases
            value = float(_softplus(inputs) @ self.output_weights)
            return finite("value of the random network", value), self._back_propagated(inputs)

    def predict(self, q: Array) -> Array:
        """z at each row of q of shape (m, dim), as an array of shape (m,)."""
        return by_blocks(lambda rows: self.hidden_layer(rows) @ self.output_weights, q)

    def hessian(self, q: Array) -> Array:
        """Hessian of z at q, sum_i v_i softplus''(w_i'q + d_i) w_i w_i', shape (dim, dim), exactly symmetric.

        Its price is one product of the (dim, s) hidden weights with their transpose. Raises `NumericalError` if an
        entry is not finite; so do the other derivatives below.
        """
        with np.errstate(all="ignore"):
            product = (self.weights * self._second_derivatives(q)) @ self.weights.T
            return finite("Hessian of the random network", 0.5 * (product + product.T))

    def hessian_vjp(self, q: Array, m: Array) -> Array:
        """sum_jk m_jk d^3z/dq_i dq_j dq_k for a symmetric m of shape (dim, dim), as an array of shape (dim,)."""
        with np.errstate(all="ignore"):
            return self._contracted(q, np.einsum("js,js->s", m @ self.weights, self.weights))

    def hessian_vjp_factored(self, q: Array, factor: Array) -> Array:
        """`hessian_vjp` for m = factor factor', at a cost proportional to r for ``factor`` of shape (dim, r)."""
        with np.errstate(all="ignore"):
            projected = factor.T @ self.weights
            return self._contracted(q, np.einsum("rs,rs->s", projected, projected))

    def hessian_diagonal(self, q: Array) -> Array:
        """Diagonal of the Hessian of z at q, shape (dim,), at the cost of a few gradients."""
        with np.errstate(all="ignore"):
            diagonal: Array = self.weights**2 @ self._second_derivatives(q)
            return finite("diagonal of the Hessian of the random network", diagonal)

    def hessian_diagonal_vjp(self, q: Array, m: Array) -> Array:
        """sum_j m_j d^3z/dq_i dq_j^2 for m of shape (dim,), as an array of shape (dim,)."""
        with np.errstate(all="ignore"):
            return self._contracted(q, m @ self.weights**2)

    def _back_propagated(self, inputs: Array) -> Array:
        odds = np.exp(np.minimum(inputs, _SATURATION))
        gradient: Array = self.weights @ (self.output_weights * odds / (1.0 + odds))
        return finite("gradient of the random network", gradient)

    def _second_derivatives(self, q: Array) -> Array:
        """v_i softplus''(w_i'q + d_i), shape (s,)."""
        return self.output_weights * _softplus_curvature(q @ self.weights + self.biases)

    def _contracted(self, q: Array, quadratic_forms: Array) -> Array:
        """sum_i v_i softplus'''(w_i'q + d_i) (w_i'm w_i) w_i, from the quadratic forms w_i'm w_i."""
        inputs = q @ self.weights + self.biases
        # softplus''' = s (1 - s)(1 - 2s) with s = sigmoid(z), and 1 - 2s = -tanh(z/2).
        third = -_softplus_curvature(inputs) * np.tanh(0.5 * inputs)
        contraction: Array = self.weights @ (self.output_weights * third * quadratic_forms)
        return finite("derivative of the Hessian of the random network", contraction)


def draw_hidden_layer(rng: np.random.Generator, dim: int, hidden_units: int) -> tuple[Array, Array]:
    """Hidden weights from N(0, 1/dim), shape (dim, hidden_units), then hidden biases from N(0, 1), (hidden_units,)."""
    weights = np.ascontiguousarray(rng.standard_normal((hidden_units, dim)).T) / np.sqrt(dim)
    return weights, rng.standard_normal(hidden_units)


def _softplus(z: Array) -> Array:
    positive_part: Array = np.maximum(z, 0.0)
    tail: Array = np.log1p(np.exp(-np.abs(z)))
    return positive_part + tail


def _softplus_curvature(z: Array) -> Array:
    """softplus''(z) = s (1 - s) with s = sigmoid(z), to full relative precision in both tails."""
    tail: Array = np.exp(-np.abs(z))
    return tail / (1.0 + tail) ** 2
