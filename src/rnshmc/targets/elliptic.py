"""The elliptic inverse problem: a diffusion field inferred from the pressure at some points (paper A, section 5.2)."""

from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

from rnshmc.errors import DataError
from rnshmc.fem.diffusion import DiffusionSolver
from rnshmc.files import naming_file
from rnshmc.targets.checks import check_finite, check_positive, finite
from rnshmc.targets.elliptic_linearisation import Linearisation
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array


class EllipticForwardModel:
    """The pressure at given points as a function of theta (paper A, eq. 13).

    div(c grad u) = 0 on the unit square with u = x1 on x2 = 0, u = 1 - x1 on x2 = 1, no flux through the other sides,
    and c = exp(sum_i theta_i sqrt(lambda_i) v_i), constant in each cell. The pressure is observed at ``points``, (n,
    2). The ranks of ``comm`` share the mesh: they all pass the same theta, and get the same answers, or the same error.
    Without it, the rank that makes the model has all of the mesh. Raises `ParameterError` if a point lies outside the
    unit square, the cell type or the solver is unknown or unavailable, or there are not so many modes.
    """

    def __init__(self, points: Array, settings: EllipticSettings, comm: MPI.Comm | None = None) -> None:
        field = settings.random_field()
        self._solver = DiffusionSolver(
            settings.cells, settings.cell_type, boundary_pressure, comm=comm, solver=settings.solver
        )
        self._modes = field.at(self._solver.centroids)
        self._observe = self._solver.observation_matrix(points)
        self._observe_transposed = self._observe.T.tocsr()
        self._last: Linearisation | None = None

    @property
    def dim(self) -> int:
        """Number of Karhunen-Loeve modes."""
        return self._modes.shape[1]

    def predict(self, theta: Array) -> Array:
        """Pressure at the points, shape (n,), for theta of shape (dim,): one factorisation, one solve."""
        return self.linearise(theta).prediction

    def linearise(self, theta: Array) -> Linearisation:
        """The model at theta, with its first and second derivatives: one factorisation, one solve.

        The last one is kept, so that what is asked of one theta in turn shares the factorisation and the derivatives.
        Raises `NumericalError` as `predict`.
        """
        if self._last is None or not np.array_equal(theta, self._last.theta):
            self._last = self.linearise_anew(theta)
        return self._last

    def linearise_anew(self, theta: Array) -> Linearisation:
        """The same without the cache."""
        c = self._diffusion(theta)
        self._solver.forget()
        self._solver.factorise(c)
        u = self._solver.forward()
        return Linearisation(theta.copy(), c, u, self._solver, self._modes, self._observe, self._observe_transposed)

    def _diffusion(self, theta: Array) -> Array:
        """c in each cell. Overflow and underflow are left to the solver's check."""
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            # Not by BLAS, whose order of summation depends on the number of threads.
            c: Array = np.exp(np.einsum("ck,k->c", self._modes, theta))
        return c


class EllipticInverseProblem:
    """Posterior of the Karhunen-Loeve coefficients, as a potential with a metric.

        U(theta) = |prediction(theta) - observations|^2 / (2 noise_sd^2) + |theta|^2 / (2 prior_sd^2)

    The pressure was observed at ``points``, (n, 2); the standard deviations are those of the noise and of each
    coefficient under the prior; ``comm`` is as in `EllipticForwardModel`. Raises `DataError` if points and observations
    do not fit together or are not finite; `ParameterError` if a standard deviation is not positive, or
    `EllipticForwardModel` refuses the settings or the points.
    """

    def __init__(
        self,
        points: Array,
        observations: Array,
        *,
        noise_sd: float = 0.1,
        prior_sd: float = 0.5,
        settings: EllipticSettings | None = None,
        comm: MPI.Comm | None = None,
    ) -> None:
        _check_observations(points, observations)
        check_positive("noise_sd", noise_sd)
        check_positive("prior_sd", prior_sd)
        self.model = EllipticForwardModel(points, settings or EllipticSettings(), comm)
        """The forward model."""
        self._observations = observations
        self._noise_precision = 1.0 / noise_sd**2
        self._prior_precision = 1.0 / prior_sd**2

    @property
    def dim(self) -> int:
        """Number of Karhunen-Loeve modes."""
        return self.model.dim

    def value(self, q: Array) -> float:
        """U at q of shape (dim,), without an adjoint solve."""
        return self._potential(q, self.model.predict(q) - self._observations)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q, both of shape (dim,). Raises as `value`."""
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U and its gradient at q from one factorisation. Raises as `value`."""
        model = self.model.linearise(q)
        misfit = model.prediction - self._observations
        gradient = model.pullback(self._noise_precision * misfit) + self._prior_precision * q
        return self._potential(q, misfit), gradient

    def metric(self, q: Array) -> Array:
        """Fisher information plus prior precision, (dim, dim): J'J / noise_sd^2 + I / prior_sd^2.

        J is the Jacobian of the prediction at q: one tangent solve for each mode.
        """
        jacobian = self.model.linearise(q).jacobian
        metric: Array = self._noise_precision * (jacobian.T @ jacobian) + self._prior_precision * np.eye(self.dim)
        return metric

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', shape (dim,), for a factor of shape (dim, r).

        The first call at q takes the solves of `metric`, unless that was called there, and as many adjoint solves;
        later calls at the same q take none.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            product = self._noise_precision * self.model.linearise(q).gram_vjp(factor)
        return finite("derivative of the elliptic problem's metric", product)

    def _potential(self, q: Array, misfit: Array) -> float:
        return float(0.5 * (self._noise_precision * (misfit @ misfit) + self._prior_precision * (q @ q)))


def boundary_pressure(x1: Array, x2: Array) -> Array:
    """Bilinear function with the values of paper A's boundary conditions: x1 on x2 = 0, 1 - x1 on x2 = 1."""
    pressure: Array = x1 * (1.0 - x2) + (1.0 - x1) * x2
    return pressure


def from_file(
    path: str | Path,
    *,
    comm: MPI.Comm | None = None,
    kind: type[EllipticInverseProblem] = EllipticInverseProblem,
    **settings: Any,
) -> EllipticInverseProblem:
    """The posterior given the observations of the forward-model stage, as an instance of ``kind``.

    ``settings`` are fields of `EllipticSettings`. Raises `DataError` if the file cannot be read or its contents do not
    fit together; the message names it. Raises `ParameterError` if a setting is unknown or has a wrong value.
    """
    checked = from_mapping(EllipticSettings, settings)
    data = ForwardData.load(path)
    sds = {"noise_sd": data.noise_sd, "prior_sd": data.prior_sd}
    with naming_file(path):
        return kind(data.points, data.observations, **sds, settings=checked, comm=comm)


def _check_observations(points: Array, observations: Array) -> None:
    if points.ndim != 2 or points.shape[1] != 2 or observations.shape != points.shape[:1]:
        raise DataError(f"observations of shape {observations.shape} do not fit points of shape {points.shape}")
    check_finite("points", points)
    check_finite("observations", observations)
