"""The benchmark of Aristoff and Bangerth: a membrane's 64 stiffnesses inferred from its deflection at 169 points.

D. Aristoff, W. Bangerth, "A benchmark for the Bayesian inversion of coefficients in partial differential equations",
SIAM Review 65 (2023), arXiv:2102.07263. The parameters are the logarithms of the stiffnesses here.
"""

import numpy as np
import scipy.linalg

from rnshmc.errors import DataError, NumericalError, ParameterError
from rnshmc.targets.checks import check_positive
from rnshmc.types import Array

BLOCKS = 8
"""Squares of constant stiffness along a side of the unit square."""
SENSORS = 13
"""Points of observation along a side: multiples of 1/14."""
_LOAD = 10.0
# The element matrix of the Laplacian on a square, bilinear elements: a node with itself, along a side, across.
_SELF, _SIDE, _ACROSS = 2.0 / 3.0, -1.0 / 6.0, -1.0 / 3.0


class MembraneModel:
    """The deflection at the points of observation as a function of the logarithms of the stiffnesses.

    -div(a grad u) = 10 on the unit square, u = 0 on its boundary, a = exp(q_k) on the k-th of 8 x 8 squares, by
    bilinear elements. Square k = i + 8 j has its lower left corner at (i / 8, j / 8); point i + 13 j of observation is
    ((i + 1) / 14, (j + 1) / 14).

    Parameters
    ----------
    cells
        Elements along a side, a multiple of 8; the benchmark has 32.

    Raises
    ------
    ParameterError
        If cells is not a positive multiple of 8.
    """

    dim: int = BLOCKS**2

    def __init__(self, cells: int = 32) -> None:
        if cells <= 0 or cells % BLOCKS:
            raise ParameterError(f"cells must be a positive multiple of {BLOCKS}, got {cells!r}")
        self._cells = cells
        self._load = np.full((cells - 1) ** 2, _LOAD / cells**2)
        self._weights = _hat_functions(cells)

    def predict(self, q: Array) -> Array:
        """Deflection at the 169 points for q of shape (64,).

        Raises
        ------
        NumericalError
            If a stiffness is not a positive finite number, or the factorisation fails.
        """
        return self._observe(_solve(self._factorise(self._stiffness(q)), self._load))

    def misfit_and_pullback(self, q: Array, observations: Array, precision: float) -> tuple[Array, Array]:
        """Misfit at ``q``, and the gradient of precision / 2 times its square: one factorisation, two solves.

        Raises
        ------
        NumericalError
            As `predict`.
        """
        factor = self._factorise(self._stiffness(q))
        u = _solve(factor, self._load)
        misfit = self._observe(u) - observations
        adjoint = _solve(factor, self._observe_transposed(precision * misfit))
        return misfit, -np.exp(q) * self._element_products(adjoint, u)

    def _stiffness(self, q: Array) -> Array:
        """a in each element: (cells, cells), the first index along y."""
        if q.shape != (self.dim,):
            raise ParameterError(f"q must have shape ({self.dim},), got {q.shape}")
        with np.errstate(over="ignore", under="ignore"):
            a = np.exp(q)
        if not (np.isfinite(a).all() and a.min() > 0):
            raise NumericalError("a stiffness of the membrane is not a positive finite number")
        per_block = self._cells // BLOCKS
        return np.kron(a.reshape(BLOCKS, BLOCKS), np.ones((per_block, per_block)))

    def _factorise(self, a: Array) -> Array:
        """Banded Cholesky factor of the stiffness matrix of the inner nodes; lower form."""
        side = self._cells - 1
        below_left, below_right, above_left, above_right = a[:-1, :-1], a[:-1, 1:], a[1:, :-1], a[1:, 1:]
        band = np.zeros((side + 2, side, side))
        band[0] = _SELF * (below_left + below_right + above_left + above_right)
        band[1, :, :-1] = _SIDE * (below_right + above_right)[:, :-1]
        band[side - 1, :-1, 1:] = _ACROSS * above_left[:-1, 1:]
        band[side, :-1] = _SIDE * (above_left + above_right)[:-1]
        band[side + 1, :-1, :-1] = _ACROSS * above_right[:-1, :-1]
        try:
            factor: Array = scipy.linalg.cholesky_banded(band.reshape(side + 2, -1), lower=True, check_finite=False)
        except scipy.linalg.LinAlgError as error:
            raise NumericalError(f"the membrane's stiffness matrix cannot be factorised: {error}") from error
        return factor

    def _observe(self, u: Array) -> Array:
        side = self._cells - 1
        at_sensors: Array = self._weights @ u.reshape(side, side) @ self._weights.T
        return at_sensors.ravel()

    def _observe_transposed(self, at_sensors: Array) -> Array:
        nodal: Array = self._weights.T @ at_sensors.reshape(SENSORS, SENSORS) @ self._weights
        return nodal.ravel()

    def _element_products(self, v: Array, u: Array) -> Array:
        """v' K_k u with K_k the stiffness matrix of the k-th block at a = 1, for all blocks: shape (64,)."""
        side = self._cells - 1
        corners_v, corners_u = (_corners(np.pad(w.reshape(side, side), 1)) for w in (v, u))
        # Opposite corners are neighbours at a distance of two in this order.
        local = scipy.linalg.toeplitz([_SELF, _SIDE, _ACROSS, _SIDE])
        products: Array = np.einsum("iab,ij,jab->ab", corners_v, local, corners_u, optimize=True)
        per_block = self._cells // BLOCKS
        blocks: Array = products.reshape(BLOCKS, per_block, BLOCKS, per_block).sum(axis=(1, 3))
        return blocks.ravel()


class Membrane:
    """The benchmark's posterior in the logarithms q of the stiffnesses, as a potential.

        U(q) = |prediction(q) - observations|^2 / (2 noise_sd^2) + |q|^2 / (2 prior_sd^2) - sum q

    The benchmark's density is one of the stiffnesses a, exp(-|log a|^2 / (2 prior_sd^2)) under the prior without the
    factor 1 / a of a log-normal density; -sum q is the Jacobian of a = exp(q).

    Parameters
    ----------
    observations
        Deflections at the 169 points, in the order of `MembraneModel`.
    noise_sd, prior_sd
        0.05 and 2 in the benchmark.
    cells
        As in `MembraneModel`.

    Attributes
    ----------
    dim
        Number of stiffnesses, 64.

    Raises
    ------
    DataError
        If there are not 169 finite observations.
    ParameterError
        If a standard deviation is not positive, or `MembraneModel` refuses cells.
    """

    dim: int = MembraneModel.dim

    def __init__(self, observations: Array, *, noise_sd: float = 0.05, prior_sd: float = 2.0, cells: int = 32) -> None:
        if observations.shape != (SENSORS**2,) or not np.isfinite(observations).all():
            raise DataError(f"observations must be {SENSORS**2} finite numbers, got shape {observations.shape}")
        check_positive("noise_sd", noise_sd)
        check_positive("prior_sd", prior_sd)
        self._model = MembraneModel(cells)
        self._observations = observations
        self._noise_precision = 1.0 / noise_sd**2
        self._prior_precision = 1.0 / prior_sd**2

    def value(self, q: Array) -> float:
        """U(q) for q of shape (64,). Raises as `MembraneModel.predict`."""
        return self._potential(q, self._model.predict(q) - self._observations)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (64,). Raises as `value`."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U(q) and its gradient from one factorisation. Raises as `value`."""
        misfit, pulled_back = self._model.misfit_and_pullback(q, self._observations, self._noise_precision)
        return self._potential(q, misfit), pulled_back + self._prior_precision * q - 1.0

    def _potential(self, q: Array, misfit: Array) -> float:
        return float(0.5 * (self._noise_precision * (misfit @ misfit) + self._prior_precision * (q @ q)) - q.sum())


def _solve(factor: Array, load: Array) -> Array:
    """The displacements under a load, at the inner nodes."""
    solution: Array = scipy.linalg.cho_solve_banded((factor, True), load, check_finite=False)
    return solution


def _corners(nodes: Array) -> Array:
    """Values at the corners of each element, counter-clockwise: shape (4, cells, cells)."""
    return np.stack([nodes[:-1, :-1], nodes[:-1, 1:], nodes[1:, 1:], nodes[1:, :-1]])


def _hat_functions(cells: int) -> Array:
    """Values of the inner nodes' hat functions on an interval at the sensors: shape (13, cells - 1)."""
    sensors = np.arange(1, SENSORS + 1) / (SENSORS + 1)
    nodes = np.arange(1, cells) / cells
    weights: Array = np.maximum(0.0, 1.0 - cells * np.abs(sensors[:, None] - nodes))
    return weights
