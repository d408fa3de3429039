"""The random network that learns during sampling, the surrogate of ARNS-HMC (paper A, section 4)."""

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import FitError, ParameterError
from rnshmc.surrogates.greville import GrevilleRecursion
from rnshmc.surrogates.normal_equations import NormalEquations
from rnshmc.surrogates.random_network import RandomNetwork, draw_hidden_layer
from rnshmc.surrogates.ridge import check_settings, output_matrix
from rnshmc.surrogates.storage import Stored
from rnshmc.surrogates.training import training_set
from rnshmc.types import Array

DRIFT_TOLERANCE = 0.05
"""Maximum root mean square difference of predictions from the ridge solution, in units of the potential.

Potentials are log densities, whose natural unit is 1: a driver this far from its best fit loses almost no acceptance.
Rounding alone stays well below it at the published penalties.
"""


@dataclass(frozen=True, eq=False)
class SavedOnlineNetwork(Stored):
    """Contents of the file that `OnlineNetwork.save` writes."""

    weights: Array
    biases: Array
    states: Array
    potentials: Array
    ridge: float
    drift_tolerance: float


class OnlineNetwork:
    """A random network that learns from successive states; `adopt` makes the learnt network the driver.

    This is the only surrogate that changes in place: the recursion's matrix has s^2 entries, and copying it for each of
    thousands of states would cost more than the updates. Two networks share the hidden layer: the *driving* one, which
    gives this object's value and gradient and changes only in `adopt`, and the *learnt* one, which `update` improves by
    Greville's recursion in O(d s + s^2).

    Rounding errors make the recursion drift from the ridge solution. Every `normal_equations.BLOCK` updates the drift
    is measured: with r the residual of the normal equations at the learnt weights, the ridge objective exceeds its
    minimum by r'Theta r, and sqrt(r'Theta r / n) bounds the root mean square over the n training states by which
    predictions differ from those of the exact solution. Above ``drift_tolerance``, the recursion restarts from the
    training states, in O(s^3) from the running normal equations, or in O(n s^2) if a singular value decomposition is
    needed. If a restart does not reduce the drift, the tolerance becomes twice the drift that it attains. Raises
    `FitError` if the training set has the wrong shape or is not finite, or the recursion cannot be started. Raises
    `ParameterError` if ridge or drift_tolerance is out of range.

    Parameters
    ----------
    network
        The initial network: its hidden layer is kept, and its output weights are refitted.
    q, u
        Training states, shape (n, dim), and exact potentials at them, shape (n,).
    ridge
        Penalty on the squared norm of the output weights. 0 gives the pseudo-inverse of Proposition 1.
    drift_tolerance
        Tolerance above, in units of the potential.
    """

    def __init__(
        self,
        network: RandomNetwork,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        ridge: float,
        drift_tolerance: float = DRIFT_TOLERANCE,
    ) -> None:
        check_settings(len(network.biases), ridge)
        if not drift_tolerance > 0:
            raise ParameterError(f"drift_tolerance: expected a positive number, got {drift_tolerance}")
        self._driving = network
        states, targets = self._training_set(q, u)
        self._ridge = float(ridge)
        self._tolerance = float(drift_tolerance)
        self._states = list(states.copy())
        self._potentials = [float(potential) for potential in np.asarray(u)]
        # The constant subtracted from targets stays fixed; otherwise old targets would change with new minima.
        self._shift = min(self._potentials)
        self.refactorisations = 0
        """Number of restarts of the recursion because of drift."""
        self._equations = NormalEquations.of(self._output_matrix(states), targets, self._ridge)
        self._recursion = self._start()
        self._attained = self._drift()
        self.adopt()

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        hidden_units: int,
        ridge: float,
        drift_tolerance: float = DRIFT_TOLERANCE,
    ) -> Self:
        """Draw a hidden layer as in `RandomNetwork.fit`, and fit to the first states."""
        check_settings(hidden_units, ridge)
        states, _ = training_set(q, u)
        layer = _unfitted(*draw_hidden_layer(rng, states.shape[1], hidden_units))
        return cls(layer, q, u, ridge=ridge, drift_tolerance=drift_tolerance)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file written by `save`, and restart the recursion from the training states.

        The constant that its targets leave out is then the smallest of all stored potentials. Raises `StoreError` if
        the file cannot be read or lacks an entry; the message names both.
        """
        stored = SavedOnlineNetwork.load(path)
        layer = _unfitted(stored.weights, stored.biases)
        return cls(layer, stored.states, stored.potentials, ridge=stored.ridge, drift_tolerance=stored.drift_tolerance)

    def save(self, path: str | Path) -> None:
        """Write hidden layer, training states and settings to an npz file: O(n d + d s) numbers, not s^2."""
        states, potentials = self.training_states
        layer = self._driving
        stored = SavedOnlineNetwork(layer.weights, layer.biases, states, potentials, self._ridge, self._tolerance)
        stored.save(path)

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self._driving.dim

    @property
    def training_states(self) -> tuple[Array, Array]:
        """States learnt from so far, shape (n, dim), and exact potentials at them, shape (n,), as copies."""
        return np.array(self._states), np.array(self._potentials)

    @property
    def train_residual_sd(self) -> float:
        """Standard deviation of z(q) - U(q) over the training states so far, z the learnt network: O(n d s)."""
        states, potentials = self.training_states
        return float(np.std(self._learnt().predict(states) - potentials))

    def network(self) -> RandomNetwork:
        """A copy of the current learnt network; its residual costs O(n d s)."""
        return replace(self._learnt(), train_residual_sd=self.train_residual_sd)

    def report(self) -> dict[str, int | float | str]:
        """Summary of the learnt network: its residual, its training and the state of its recursion."""
        return {
            "train_residual_sd": self.train_residual_sd,
            "training_states": len(self._states),
            "rank": self._recursion.rank,
            "refactorisations": self.refactorisations,
            "output_weights_norm": float(np.linalg.norm(self._recursion.output_weights)),
        }

    def value(self, q: Array) -> float:
        """The driving network at q of shape (dim,)."""
        return self._driving.value(q)

    def gradient(self, q: Array) -> Array:
        """Gradient of the driving network at q, both of shape (dim,)."""
        return self._driving.gradient(q)

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """The driving network and its gradient, for one pass through the hidden layer."""
        return self._driving.value_and_grad(q)

    def predict(self, q: Array) -> Array:
        """The driving network at each row of q of shape (m, dim), as an array of shape (m,)."""
        return self._driving.predict(q)

    def update(self, q: Array, u: float) -> None:
        """Learn the exact potential ``u`` at the state ``q``, shape (dim,). The driving network does not change.

        Raises `FitError` if the state has the wrong shape, or a number is not finite.
        """
        states, _ = self._training_set([q], [u])
        h = self._driving.hidden_layer(states[0])
        target = u - self._shift
        self._states.append(states[0])
        self._potentials.append(float(u))
        self._recursion.update(h, target)
        if self._equations.add(h, target) and not self._drift() <= max(self._tolerance, 2 * self._attained):
            self._recursion = self._start()
            self._attained = self._drift()
            self.refactorisations += 1

    def adopt(self) -> None:
        """Make the learnt network the driver, unless rounding has made it unusable."""
        learnt = self._learnt()
        if np.isfinite(learnt.output_weights).all():
            self._driving = learnt

    def snapshot(self) -> dict[str, Any]:
        """All state that has changed since `load`; unlike `save`, it has the recursion to the last bit."""
        states, potentials = self.training_states
        changed_by_adopt = ("output_weights", "train_residual_sd", "solver")
        return {
            "driving": {name: getattr(self._driving, name) for name in changed_by_adopt},
            "states": states,
            "potentials": potentials,
            "shift": self._shift,
            "attained": self._attained,
            "refactorisations": self.refactorisations,
            "equations": self._equations.snapshot(),
            "recursion": self._recursion.snapshot(),
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Restore the state of a snapshot from a network with the same hidden layer and settings."""
        self._driving = replace(self._driving, **snapshot["driving"])
        self._states = list(snapshot["states"])
        self._potentials = snapshot["potentials"].tolist()
        self._shift = snapshot["shift"]
        self._attained = snapshot["attained"]
        self.refactorisations = snapshot["refactorisations"]
        self._equations = NormalEquations.restored(snapshot["equations"])
        self._recursion = GrevilleRecursion.restored(snapshot["recursion"])

    def _training_set(self, q: npt.ArrayLike, u: npt.ArrayLike) -> tuple[Array, Array]:
        states, targets = training_set(q, u)
        if states.shape[1] != self.dim:
            raise FitError(f"q: states of dimension {states.shape[1]}, but the network has {self.dim}")
        return states, targets

    def _learnt(self) -> RandomNetwork:
        weights = self._recursion.output_weights
        return replace(self._driving, output_weights=weights, train_residual_sd=math.nan, solver="greville")

    def _start(self) -> GrevilleRecursion:
        """The recursion of all training states so far."""
        if self._ridge > 0:
            with suppress(linalg.LinAlgError, ValueError):
                return GrevilleRecursion.from_normal_equations(self._equations.matrix, self._equations.right_side)
        states, potentials = self.training_states
        return GrevilleRecursion.from_hidden_layer(self._output_matrix(states), potentials - self._shift, self._ridge)

    def _output_matrix(self, states: Array) -> Array:
        return output_matrix(self._driving.hidden_layer, states, len(self._driving.biases))

    def _drift(self) -> float:
        residual = self._equations.residual(self._recursion.output_weights)
        excess = float(residual @ self._recursion.apply_theta(residual))
        # Rounding may make Theta indefinite; the absolute excess still measures the error of the weights.
        return math.sqrt(abs(excess) / len(self._states))


def _unfitted(weights: Array, biases: Array) -> RandomNetwork:
    """A hidden layer whose output weights are not yet fitted."""
    return RandomNetwork(weights, biases, np.zeros_like(biases), math.nan, "none")
