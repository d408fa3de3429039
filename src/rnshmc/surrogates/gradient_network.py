"""The gradient network, the driver of NNg-HMC (paper B, section 3)."""

import math
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
import numpy.typing as npt

from rnshmc.errors import FitError, NumericalError, ParameterError
from rnshmc.surrogates.storage import Stored
from rnshmc.targets.checks import check_finite
from rnshmc.types import Array

if TYPE_CHECKING:
    from sklearn.neural_network import MLPRegressor

BATCH_SIZE = 32
"""Training pairs per step of Adam: the default of Keras, which the published implementation uses."""
# A component with a smaller ratio of standard deviation to mean varies by rounding only.
_ROUNDING = 1e-13


@dataclass(frozen=True, eq=False)
class GradientNetwork(Stored):
    """Network of disjoint hidden layers of rectified units from a position to a gradient (paper B, sections 3 and 4.2).

        g_k(q) = V_k' max(W_k'q + b_k, 0) + c_k,  k = 1..B

    Block k of the gradient has a hidden layer of its own on the whole position; with B = 1 there is one layer for all.
    It has no value, for it need not be the gradient of anything: it is a driver, and cannot decide. The standardisation
    under which it was trained is part of the weights, so that a forward pass is two products.
    """

    weights: Array
    """W_1 .. W_B beside each other, shape (dim, B * h)."""
    biases: Array
    """b_1 .. b_B, shape (B * h,)."""
    output_weights: Array
    """V_k, shape (B, h, dim / B)."""
    output_biases: Array
    """c_1 .. c_B, shape (dim,)."""
    losses: Array
    """Mean over the blocks of the training loss in each epoch: half the mean squared error of the targets, as a mean
    over its mini-batches, between which weights move; shape (epochs,)."""
    train_error: float
    """Root mean square error over the training set and all components, each in units of its standard deviation."""
    training_states: int
    """Number of training pairs."""

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        gradients: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        hidden_units: int,
        epochs: int,
        blocks: int = 1,
        batch_size: int = BATCH_SIZE,
        standardised_targets: bool = False,
    ) -> Self:
        """Train on positions and exact gradients by Adam with its default settings, as in the published implementation.

        Positions are standardised, component by component, and the loss is the mean squared error. Each block is
        trained by scikit-learn's `MLPRegressor`. Raises `FitError` if the training set has the wrong shape or is not
        finite, or is too large or too small to be standardised. Raises `ParameterError` if hidden_units, epochs, blocks
        or batch_size is out of range.

        Parameters
        ----------
        q, gradients
            Training pairs, both of shape (n, dim).
        rng
            Generator of the initial weights and the mini-batches.
        hidden_units
            Size h of each hidden layer.
        epochs
            Number of passes through the pairs.
        blocks
            Number B of disjoint hidden layers; a divisor of dim.
        batch_size
            Pairs per mini-batch, at most all.
        standardised_targets
            Whether to standardise gradients too, component by component, so that components have equal weight in the
            loss and large ones need no more steps of Adam. The published implementation does not.
        """
        states, targets = _training_pairs(q, gradients)
        _check_counts(hidden_units=hidden_units, epochs=epochs, blocks=blocks, batch_size=batch_size)
        if states.shape[1] % blocks:
            raise ParameterError(f"blocks must divide the dimension {states.shape[1]}, got {blocks}")
        inputs, spread = _Scale.of("q", states), _Scale.of("gradients", targets)
        outputs = spread if standardised_targets else _Scale(np.zeros(states.shape[1]), np.ones(states.shape[1]))
        x, y = inputs.standardise(states), outputs.standardise(targets)
        trained = [
            _train(x, part, rng=rng, hidden_units=hidden_units, epochs=epochs, batch_size=batch_size)
            for part in np.split(y, blocks, axis=1)
        ]
        weights = np.hstack([network.coefs_[0] for network in trained]) / inputs.sd[:, np.newaxis]
        output_weights = np.stack([network.coefs_[1] for network in trained])
        fitted = cls(
            weights=weights,
            biases=np.concatenate([network.intercepts_[0] for network in trained]) - inputs.mean @ weights,
            output_weights=output_weights * outputs.sd.reshape(blocks, 1, -1),
            output_biases=np.concatenate([network.intercepts_[1] for network in trained]) * outputs.sd + outputs.mean,
            losses=np.mean([network.loss_curve_ for network in trained], axis=0),
            train_error=np.nan,
            training_states=len(states),
        )
        errors = (fitted.gradients(states) - targets) / spread.sd
        return replace(fitted, train_error=float(np.sqrt(np.mean(errors**2))))

    def report(self) -> dict[str, int | float | str]:
        """Summary of the fit."""
        return {
            "train_error": self.train_error,
            "training_states": self.training_states,
            "epochs": len(self.losses),
            "blocks": len(self.output_weights),
            "final_loss": float(self.losses[-1]),
        }

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.weights.shape[0]

    def gradient(self, q: Array) -> Array:
        """The network's gradient at q, both of shape (dim,)."""
        # Calls count as much as products here: `dot` has less overhead than `@`, an array of zeros less than 0.0.
        hidden = q.dot(self.weights)
        hidden += self.biases
        np.maximum(hidden, np.zeros(len(hidden)), out=hidden)
        blocks = len(self.output_weights)
        gradient: Array = hidden.dot(self.output_weights[0]) if blocks == 1 else self._disjoint(hidden)
        gradient += self.output_biases
        # A cheap test of all components: 0 times infinity or NaN is NaN.
        if not math.isfinite(gradient.dot(np.zeros(len(gradient)))):
            raise NumericalError("the gradient of the gradient network is not finite")
        return gradient

    def gradients(self, q: Array) -> Array:
        """Gradients at the rows of ``q`` of shape (m, dim), as an array of the same shape."""
        hidden = np.maximum(q @ self.weights + self.biases, 0.0)
        layers = np.split(hidden, len(self.output_weights), axis=1)
        parts = [layer @ weights for layer, weights in zip(layers, self.output_weights, strict=True)]
        return np.hstack(parts) + self.output_biases

    def _disjoint(self, hidden: Array) -> Array:
        """V_k' times the hidden layer of block k for one position, concatenated over blocks."""
        blocks, units, _ = self.output_weights.shape
        with np.errstate(all="ignore"):
            parts: Array = hidden.reshape(blocks, 1, units) @ self.output_weights
        return parts.reshape(-1)


@dataclass(frozen=True)
class _Scale:
    """Mean and standard deviation of each component; the latter is 1 for a constant component."""

    mean: Array
    sd: Array

    @classmethod
    def of(cls, name: str, rows: Array) -> Self:
        with np.errstate(all="ignore"):
            mean, sd = rows.mean(axis=0), rows.std(axis=0)
            sd = np.where(sd > _ROUNDING * np.abs(mean), sd, 1.0)
            unusable = np.flatnonzero(~(np.isfinite(mean) & np.isfinite(sd) & np.isfinite(1.0 / sd)))
        if unusable.size:
            raise FitError(
                f"{name} cannot be standardised: component {unusable[0]} has standard deviation "
                f"{sd[unusable[0]]} about {mean[unusable[0]]}"
            )
        return cls(mean, sd)

    def standardise(self, rows: Array) -> Array:
        return (rows - self.mean) / self.sd


def _train(
    x: Array, y: Array, *, rng: np.random.Generator, hidden_units: int, epochs: int, batch_size: int
) -> "MLPRegressor":
    # Imported only for training: a chain driven by a finished network starts a second earlier without it.
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.neural_network import MLPRegressor

    network = MLPRegressor(
        hidden_layer_sizes=(hidden_units,),
        alpha=0.0,
        batch_size=min(batch_size, len(x)),
        max_iter=epochs,
        # No early stopping: the paper fixes the number of epochs.
        n_iter_no_change=epochs + 1,
        random_state=int(rng.integers(2**32)),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        # A single output has to be a vector.
        return network.fit(x, y if y.shape[1] > 1 else y[:, 0])


def _training_pairs(q: npt.ArrayLike, gradients: npt.ArrayLike) -> tuple[Array, Array]:
    states, targets = np.asarray(q, dtype=np.float64), np.asarray(gradients, dtype=np.float64)
    if states.ndim != 2 or len(states) < 2:
        raise FitError(f"q must have shape (n, dim) with n at least 2, got {states.shape}")
    if targets.shape != states.shape:
        raise FitError(f"gradients must have the shape {states.shape} of q, got {targets.shape}")
    for name, array in (("q", states), ("gradients", targets)):
        check_finite(name, array, FitError)
    return states, targets


def _check_counts(**counts: int) -> None:
    for name, count in counts.items():
        if count < 1:
            raise ParameterError(f"{name} must be at least 1, got {count!r}")
