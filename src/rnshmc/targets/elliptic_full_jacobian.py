"""The elliptic inverse problem evaluated as in paper A's implementation: the baseline of the printed seconds.

It computes the values and derivatives of `rnshmc.targets.elliptic` from the full Jacobian: d tangent solves at every
evaluation, even for the potential alone, and d (d + 1) / 2 more for the derivative of the metric.
"""

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from rnshmc.targets import elliptic
from rnshmc.targets.elliptic import EllipticInverseProblem
from rnshmc.targets.elliptic_linearisation import Linearisation
from rnshmc.types import Array


class FullJacobianProblem(EllipticInverseProblem):
    """The posterior of `EllipticInverseProblem` at the published cost: nothing is cached between calls.

    The metric, the gradient and the contractions of the metric's derivative at one position are one evaluation: calls
    after `metric` at the same position share its solves. Settings and attributes are those of the base class.
    """

    _geometry: "_Geometry | None" = None

    def value(self, q: Array) -> float:
        """U at q of shape (dim,), after d tangent solves that it does not need. Raises as in the base class."""
        at = self.model.linearise_anew(q)
        _ = at.jacobian
        return self._potential(q, at.prediction - self._observations)

    def gradient(self, q: Array) -> Array:
        """Gradient of U at q by the Jacobian, both of shape (dim,). Raises as `value`."""
        geometry = self._geometry
        at = geometry.at if geometry is not None and geometry.is_at(q) else self.model.linearise_anew(q)
        misfit = at.prediction - self._observations
        gradient: Array = self._noise_precision * (misfit @ at.jacobian) + self._prior_precision * q
        return gradient

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        """U and its gradient, each by a separate evaluation. Raises as `value`."""
        return self.value(q), self.gradient(q)

    def metric(self, q: Array) -> Array:
        """J'J / noise_sd^2 + I / prior_sd^2, shape (dim, dim), by d tangent solves. Raises as `value`."""
        self._geometry = _Geometry(self.model.linearise_anew(q))
        jacobian = self._geometry.at.jacobian
        metric: Array = self._noise_precision * (jacobian.T @ jacobian) + self._prior_precision * np.eye(self.dim)
        return metric

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', shape (dim,), by the second derivatives of the solution.

        The first call after `metric` at q makes their solves. Raises as `value`.
        """
        if self._geometry is None or not self._geometry.is_at(q):
            self.metric(q)
        assert self._geometry is not None
        return self._noise_precision * self._geometry.gram_vjp(factor)


@dataclass(frozen=True, eq=False)
class _Geometry:
    """A position with its Jacobian and, once computed, the second derivatives of the prediction."""

    at: Linearisation

    def is_at(self, q: Array) -> bool:
        return np.array_equal(q, self.at.theta)

    def gram_vjp(self, factor: Array) -> Array:
        """sum_jk m_jk d(J'J)_jk / dtheta_i for m = factor factor', shape (d,)."""
        product: Array = 2.0 * np.einsum("nj,nji->i", self.at.jacobian @ factor @ factor.T, self._second)
        return product

    @cached_property
    def _second(self) -> Array:
        """Second derivatives of the prediction, shape (n, d, d): one solve for each pair of parameters.

        `rnshmc.targets.elliptic_linearisation` has the equation. Raises `NumericalError` if a solve fails.
        """
        at, d = self.at, self.at.theta.size
        slopes = at.c[:, np.newaxis] * at.modes
        # K(c phi_j) u_k in column j of entry k.
        mixed = np.stack([at.solver.energy_matrix(tangent).T @ slopes for tangent in at.tangents.T])
        stiffness = at.solver.energy_matrix(at.u).T
        second = np.empty((at.observe.shape[0], d, d))
        at.solver.factorise(at.c)
        for k in range(d):
            loads = -(stiffness @ (slopes * at.modes[:, [k]]) + mixed[k] + mixed[:, :, k].T)
            for j in range(k + 1):
                values = at.solver.sum_over_ranks(at.observe @ at.solver.solve(loads[:, j]))
                second[:, j, k] = second[:, k, j] = values
        return second


from_file = partial(elliptic.from_file, kind=FullJacobianProblem)
"""The posterior given the observations of the forward-model stage."""
