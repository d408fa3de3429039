"""The random network with additive nodes, the surrogate of RNS-HMC (paper A, sections 3.1 and 3.2, Algorithm 2)."""

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg
from scipy.linalg.blas import dsyrk

from rnshmc.errors import FitError, NumericalError, ParameterError, StoreError
from rnshmc.files import atomic_path
from rnshmc.types import Array

# exp(-40) is below half a unit in the last place of 1: beyond 40, sigmoid(z) is 1 in doubles.
_SATURATION = 40.0
# Enough rows for the matrix products to run at full speed; few enough that the hidden layer stays in cache.
_BLOCK_ROWS = 256


@dataclass(frozen=True, eq=False)
class RandomNetwork:
    """A single hidden layer of softplus units with random weights, as a potential (paper A, eq. 10 without bias b).

        z(q) = sum_i v_i softplus(w_i'q + d_i)

    Only the output weights v are fitted. The arrays are private copies and read-only.

    Attributes
    ----------
    weights
        Hidden weights, shape (dim, s): column i is w_i.
    biases
        Hidden biases d_i, shape (s,).
    output_weights
        Output weights v_i, shape (s,).
    train_residual_sd
        Standard deviation of z(q) - U(q) over the training set: the square root of what potential matching minimises
        (paper A, eq. 15).
    solver
        How v was found: "cholesky" or "least_squares", see `fit`.
    """

    weights: Array
    biases: Array
    output_weights: Array
    train_residual_sd: float
    solver: str

    def __post_init__(self) -> None:
        for name in ("weights", "biases", "output_weights"):
            array = np.array(getattr(self, name), dtype=np.float64, order="C")
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @classmethod
    def fit(
        cls, q: npt.ArrayLike, u: npt.ArrayLike, *, rng: np.random.Generator, hidden_units: int, ridge: float
    ) -> Self:
        """Draw a hidden layer and fit its output weights to potentials by ridge regression.

        The entries of w_i are drawn from N(0, 1/dim), then the d_i from N(0, 1). The targets are t = u - min(u), and
        v minimises |H v - t|^2 + ridge |v|^2 with H_ji = softplus(w_i'q_j + d_i). It solves (H'H + ridge I) v = H't by
        Cholesky. Where that matrix is not positive definite in doubles, or ridge is 0, v is the least-squares solution
        of the stacked system [H; sqrt(ridge) I] v = [t; 0] by a complete orthogonal factorisation, which does not
        square the condition number; it has the smallest norm if the system is singular, so that ridge = 0 gives the
        Moore-Penrose solution of Algorithm 2.

        Parameters
        ----------
        q
            Training states, shape (n, dim). A state that is repeated counts as often.
        u
            Exact potentials at the states, shape (n,).
        rng
            Source of the hidden layer.
        hidden_units
            Number s of hidden units.
        ridge
            Penalty on the squared norm of v; not negative.

        Raises
        ------
        FitError
            If the training set has the wrong shape or is not finite, or no finite solution is found.
        ParameterError
            If hidden_units or ridge is out of range.
        """
        if hidden_units < 1:
            raise ParameterError(f"hidden_units must be at least 1, got {hidden_units!r}")
        if not (np.isfinite(ridge) and ridge >= 0):
            raise ParameterError(f"ridge must be a finite number, not negative, got {ridge!r}")
        states, targets = _training_set(q, u)
        dim = states.shape[1]
        weights = np.ascontiguousarray(rng.standard_normal((hidden_units, dim)).T) / np.sqrt(dim)
        biases = rng.standard_normal(hidden_units)
        with np.errstate(over="ignore", invalid="ignore"):
            hidden = _hidden_layer(states, weights, biases)
        output_weights, solver = _ridge_regression(hidden, targets, ridge)
        residual_sd = float(np.std(hidden @ output_weights - targets))
        return cls(weights, biases, output_weights, residual_sd, solver)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The network that `save` wrote.

        Raises
        ------
        StoreError
            If the file cannot be read or lacks an entry; the message names both.
        """
        try:
            with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
                entries = {field.name: stored[field.name] for field in fields(cls)}
        except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
            raise StoreError(f"{path}: not a saved random network: {error}") from error
        residual_sd, solver = entries.pop("train_residual_sd").item(), entries.pop("solver").item()
        return cls(**entries, train_residual_sd=residual_sd, solver=solver)

    def save(self, path: str | Path) -> None:
        """Write the network to an npz file; equal networks give equal bytes."""
        with atomic_path(Path(path)) as temporary:
            np.savez(temporary, **asdict(self))

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.weights.shape[0]

    def value(self, q: Array) -> float:
        """z(q) for q of shape (dim,).

        Raises
        ------
        NumericalError
            If z(q) is not finite.
        """
        with np.errstate(all="ignore"):
            return _finite_value(float(_softplus(q @ self.weights + self.biases) @ self.output_weights))

    def gradient(self, q: Array) -> Array:
        """Gradient of z at q, both of shape (dim,) (paper A, eq. 12).

        Raises
        ------
        NumericalError
            If the gradient is not finite.
        """
        with np.errstate(all="ignore"):
            return self._back_propagated(q @ self.weights + self.biases)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """z(q) and its gradient, for one pass through the hidden layer.

        Raises
        ------
        NumericalError
            If z(q) or its gradient is not finite.
        """
        with np.errstate(all="ignore"):
            inputs = q @ self.weights + self.biases
            value = _finite_value(float(_softplus(inputs) @ self.output_weights))
            return value, self._back_propagated(inputs)

    def predict(self, q: Array) -> Array:
        """z at each row of q of shape (m, dim), as an array of shape (m,)."""
        values = np.empty(len(q))
        for rows in _blocks(q):
            values[rows] = _softplus(q[rows] @ self.weights + self.biases) @ self.output_weights
        return values

    def _back_propagated(self, inputs: Array) -> Array:
        odds = np.exp(np.minimum(inputs, _SATURATION))
        gradient: Array = self.weights @ (self.output_weights * odds / (1.0 + odds))
        if not np.isfinite(gradient).all():
            raise NumericalError("the gradient of the random network is not finite")
        return gradient


def _softplus(z: Array) -> Array:
    positive_part: Array = np.maximum(z, 0.0)
    tail: Array = np.log1p(np.exp(-np.abs(z)))
    return positive_part + tail


def _finite_value(value: float) -> float:
    if not np.isfinite(value):
        raise NumericalError(f"the value of the random network is {value}")
    return value


def _training_set(q: npt.ArrayLike, u: npt.ArrayLike) -> tuple[Array, Array]:
    """The states and the targets u - min(u)."""
    states, potentials = np.asarray(q, dtype=np.float64), np.asarray(u, dtype=np.float64)
    if states.ndim != 2 or states.size == 0:
        raise FitError(f"q must have one row per training state, got shape {states.shape}")
    if potentials.shape != (len(states),):
        raise FitError(f"u must have one potential for each of the {len(states)} states, got shape {potentials.shape}")
    for name, array in (("q", states), ("u", potentials)):
        if not np.isfinite(array).all():
            index = tuple(np.argwhere(~np.isfinite(array))[0])
            raise FitError(f"{name} must be finite, got {array[index]} for training state {index[0]}")
    return states, potentials - potentials.min()


def _blocks(states: Array) -> Iterator[slice]:
    for start in range(0, len(states), _BLOCK_ROWS):
        yield slice(start, start + _BLOCK_ROWS)


def _hidden_layer(states: Array, weights: Array, biases: Array) -> Array:
    """The output matrix H of the hidden layer, shape (n, s)."""
    hidden = np.empty((len(states), len(biases)))
    for rows in _blocks(states):
        hidden[rows] = _softplus(states[rows] @ weights + biases)
    return hidden


def _ridge_regression(hidden: Array, targets: Array, ridge: float) -> tuple[Array, str]:
    """Output weights, and which solver found them."""
    if ridge > 0:
        with suppress(linalg.LinAlgError):
            return _solve_normal_equations(hidden, targets, ridge), "cholesky"
    return _solve_least_squares(hidden, targets, ridge), "least_squares"


def _solve_normal_equations(hidden: Array, targets: Array, ridge: float) -> Array:
    gram = dsyrk(1.0, hidden.T, lower=True)
    if not np.isfinite(gram).all():
        raise linalg.LinAlgError("H'H overflows")
    gram[np.diag_indices_from(gram)] += ridge
    factor = linalg.cho_factor(gram, lower=True, overwrite_a=True, check_finite=False)
    solution: Array = linalg.cho_solve(factor, targets @ hidden, overwrite_b=True, check_finite=False)
    return solution


def _solve_least_squares(hidden: Array, targets: Array, ridge: float) -> Array:
    """Minimum-norm solution of [H; sqrt(ridge) I] v = [t; 0]; directions below rounding error are left out."""
    n, s = hidden.shape
    system = np.vstack([hidden, np.sqrt(ridge) * np.eye(s)])
    right_side = np.concatenate([targets, np.zeros(s)])
    rounding = float(np.finfo(np.float64).eps) * max(system.shape)
    solution: Array
    try:
        solution, *_ = linalg.lstsq(system, right_side, cond=rounding, lapack_driver="gelsy", overwrite_a=True)
    except (ValueError, linalg.LinAlgError) as error:
        raise FitError(f"no least-squares solution for {s} output weights and {n} training states: {error}") from error
    return solution
