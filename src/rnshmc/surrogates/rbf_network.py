"""The random network with radial basis function (RBF) nodes, a local alternative (paper A, section 3.2)."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy import linalg

from rnshmc.errors import FitError, NumericalError
from rnshmc.surrogates.ridge import by_blocks, check_settings, output_matrix, ridge_regression
from rnshmc.surrogates.storage import Stored
from rnshmc.surrogates.training import training_set
from rnshmc.targets.checks import check_positive
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class RBFNetwork(Stored):
    """A single hidden layer of Gaussian bumps with random centres and widths, as a potential (paper A, section 3.2).

        z(q) = sum_i v_i exp(-|q - c_i|^2 / (2 l_i^2))

    Only the output weights v are fitted. Far from the training states z is flat, so it cannot follow a potential that
    grows without bound: trajectories that leave them are not called back. The arrays are private copies and read-only.
    """

    mean: Array
    """Mean of the training states, shape (dim,)."""
    centres: Array
    """Centres relative to that mean, shape (dim, s): column i is c_i - mean."""
    squared_widths: Array
    """l_i^2, shape (s,)."""
    output_weights: Array
    """Output weights v_i, shape (s,)."""
    train_residual_sd: float
    """Standard deviation of z(q) - U(q) over the training set: the square root of what potential matching minimises
    (paper A, eq. 15)."""
    solver: str
    """How v was found: "cholesky" or "least_squares", see `rnshmc.surrogates.ridge.ridge_regression`."""

    @classmethod
    def fit(
        cls,
        q: npt.ArrayLike,
        u: npt.ArrayLike,
        *,
        rng: np.random.Generator,
        hidden_units: int,
        ridge: float,
        scale: float = 3.0,
        squared_width: float | None = None,
        drawn_in: bool = False,
    ) -> Self:
        """Draw a hidden layer that covers the training states and fit its output weights by ridge regression.

        The centres are drawn from N(mean, Sigma), mean and Sigma those of the training states, and the squared widths
        are l_i^2 = scale D / chi_i with chi_i from the chi-square distribution with one degree of freedom and D = 2
        tr(Sigma), the mean squared distance of two training states. ``scale`` is dimensionless; by default most bumps
        are wider than the posterior, for potentials that are smooth on its scale. The targets are t = u - min(u), and v
        minimises |H v - t|^2 + ridge |v|^2 with H_ji the i-th bump at q_j.

        ``squared_width`` and ``drawn_in`` give the widths and centres of the published code.

        Distances are Euclidean, as in the paper. Distances in the metric of Sigma^-1 were tried on the paper's Gaussian
        in 32 dimensions (Fig. 3) and needed more training states: Sigma has to be estimated well before they help.
        Raises `FitError` if the training set has the wrong shape, is not finite or is a single point, or no finite
        solution is found. Raises `ParameterError` if hidden_units, ridge, scale or squared_width is out of range.

        Parameters
        ----------
        q, u, rng, hidden_units, ridge
            As in `RandomNetwork.fit`.
        scale
            Squared width, in mean squared distances, of a bump whose draw is 1; positive.
        squared_width
            The same in the units of the states, instead of ``scale`` D; 1 in the published code.
        drawn_in
            Whether to multiply centres by the square root of Sigma once more, as in the published code: their
            covariance is then Sigma^2, which contracts them along directions narrower than 1.
        """
        check_settings(hidden_units, ridge)
        for name, number in (("scale", scale), ("squared_width", squared_width)):
            if number is not None:
                check_positive(name, number)
        states, targets = training_set(q, u)
        mean = states.mean(axis=0)
        deviations = states - mean
        squared_distance = 2.0 * float(np.mean(np.sum(deviations**2, axis=1)))
        if not (np.isfinite(squared_distance) and squared_distance > 0):
            raise FitError(f"the mean squared distance of the {len(states)} training states is {squared_distance}")
        # Random normal combinations of the deviations have exactly their covariance, even if it is singular.
        centres = deviations.T @ rng.standard_normal((len(states), hidden_units)) / np.sqrt(len(states))
        if drawn_in:
            centres = _square_root(deviations.T @ deviations / len(states)) @ centres
        typical = scale * squared_distance if squared_width is None else squared_width
        squared_widths = typical / rng.chisquare(1.0, hidden_units)
        hidden = output_matrix(lambda rows: _bumps(rows, centres, squared_widths), deviations, hidden_units)
        output_weights, solver = ridge_regression(hidden, targets, ridge)
        residual_sd = float(np.std(hidden @ output_weights - targets))
        return cls(mean, centres, squared_widths, output_weights, residual_sd, solver)

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
        return len(self.mean)

    def value(self, q: Array) -> float:
        """z(q) for q of shape (dim,)."""
        return float(self._bumps_at(q) @ self.output_weights)

    def gradient(self, q: Array) -> Array:
        """Gradient of z at q, sum_i v_i exp(-|q - c_i|^2 / (2 l_i^2)) (c_i - q) / l_i^2, both of shape (dim,)."""
        return self._pulled(q, self._bumps_at(q))

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """z(q) and its gradient, from one pass through the hidden layer."""
        bumps = self._bumps_at(q)
        return float(bumps @ self.output_weights), self._pulled(q, bumps)

    def predict(self, q: Array) -> Array:
        """z at each row of q of shape (m, dim), as an array of shape (m,)."""
        return by_blocks(
            lambda rows: _bumps(rows - self.mean, self.centres, self.squared_widths) @ self.output_weights, q
        )

    def _bumps_at(self, q: Array) -> Array:
        with np.errstate(all="ignore"):
            bumps = _bumps(q - self.mean, self.centres, self.squared_widths)
        if not (np.isfinite(q).all() and np.isfinite(bumps).all()):
            raise NumericalError("a distance to a centre of the RBF network is not finite")
        return bumps

    def _pulled(self, q: Array, bumps: Array) -> Array:
        pulls = self.output_weights * bumps / self.squared_widths
        gradient: Array = self.centres @ pulls - pulls.sum() * (q - self.mean)
        return gradient


def _square_root(covariance: Array) -> Array:
    """The symmetric square root of a covariance, which may be singular."""
    variances, axes = linalg.eigh(covariance)
    root: Array = (axes * np.sqrt(np.maximum(variances, 0.0))) @ axes.T
    return root


def _bumps(deviations: Array, centres: Array, squared_widths: Array) -> Array:
    """The hidden layer, shape (..., s), at deviations of shape (..., dim) from the mean.

    The squared distances are expanded into one matrix product; relative to the mean, no large terms cancel.
    """
    squared_norms = np.sum(deviations**2, axis=-1, keepdims=True)
    squared_distances = squared_norms - 2.0 * (deviations @ centres) + np.sum(centres**2, axis=0)
    bumps: Array = np.exp(np.minimum(-0.5 * squared_distances / squared_widths, 0.0))
    return bumps
