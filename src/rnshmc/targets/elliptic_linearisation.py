"""First and second derivatives of the elliptic forward model at one theta, all from one factorisation.

With K(c) the stiffness matrix, linear in c = exp(sum_k theta_k phi_k), and u the solution of K(c) u = 0 with the given
boundary values, differentiate once for the tangents u_k and once more for their slopes:

    K(c) u_k  = -K(c phi_k) u
    K(c) u_jk = -K(c phi_j phi_k) u - K(c phi_j) u_k - K(c phi_k) u_j

The products phi_j phi_k need no separate solves: only products of a given vector with u_jk at the points are needed,
which an adjoint turns into a sum over the cells.

Each rank has its cells, nodes and loads as in `rnshmc.fem.diffusion`, the rows of the observation matrix of its points,
and all of theta, the predictions and the derivatives with respect to theta.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.sparse import csr_array

from rnshmc.fem.diffusion import DiffusionSolver
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Linearisation:
    """The forward model at ``theta``; results that need solves are computed on first use and cached.

    The products of the second derivatives go through BLAS and are the same bytes on one number of threads only;
    `prediction` and `pullback` are on any.
    """

    theta: Array
    """Where the model was linearised, shape (d,)."""
    c: Array
    """Diffusion coefficient there, shape (n_cells,)."""
    u: Array
    """Pressure there, shape (n_nodes,)."""
    solver: DiffusionSolver
    modes: Array
    observe: csr_array
    observe_transposed: csr_array
    """Of the model: finite elements, modes phi_k of log c in each cell (n_cells, d), and the matrix B that takes nodal
    values to the points, (n, n_nodes)."""

    @property
    def prediction(self) -> Array:
        """Pressure at the points, (n,)."""
        return self.solver.sum_over_ranks(self.observe @ self.u)

    def pullback(self, w: Array) -> Array:
        """J'w, shape (d,), for w of shape (n,) and J the Jacobian of the prediction, by one adjoint solve.

        With K(c) lambda = -B'w, (J'w)_k = sum over cells of c phi_k (lambda' K_cell u). Raises `NumericalError` if the
        solve fails.
        """
        self.solver.factorise(self.c)
        adjoint = self.solver.solve(-(self.observe_transposed @ w))
        # Not by BLAS, whose order of summation depends on the number of threads.
        product = np.einsum("c,ck->k", self.c * self.solver.cell_energies(adjoint, self.u), self.modes)
        return self.solver.sum_over_ranks(product)

    @cached_property
    def jacobian(self) -> Array:
        """J, shape (n, d), by d tangent solves, which the second derivatives need too.

        Raises `NumericalError` if a solve fails.
        """
        return self.solver.sum_over_ranks(self.observe @ self.tangents)

    def gram_vjp(self, factor: Array) -> Array:
        """sum_jk m_jk d(J'J)_jk / dtheta_i for m = factor factor', shape (d,), for a factor of shape (d, r).

        This is the gradient of sum_r |J f_r|^2. With the second derivatives above in the directions f_r, and with the
        adjoints K(c) a_r = B'J f_r,

            sum_r (J f_r)' dJ/dtheta_i f_r
                = -sum_r a_r' [K(c phi_i) u_r + K(c phi_i w_r) u + K(c w_r) u_i],  w_r = sum_k phi_k f_rk.

        The tangents u_i take the place of the second adjoint, and the adjoints are linear in f_r. So the d adjoints of
        the first call serve every later one, which makes no solve. Raises `NumericalError` if a solve fails.
        """
        adjoints, tangents, directions = (basis @ factor for basis in (self._adjoints, self.tangents, self.modes))
        energies = self.solver.cell_energies(adjoints, tangents)
        energies += np.einsum("cr,cr->c", directions, self._energy_matrix @ adjoints)
        load = self.solver.stiffness_product(self.c[:, None] * directions, adjoints)
        product = -2.0 * (self.modes.T @ (self.c * energies) + self.tangents.T @ load)
        return self.solver.sum_over_ranks(product)

    @cached_property
    def _energy_matrix(self) -> csr_array:
        """Matrix, (n_cells, n_nodes), that takes v to u'K_cell v in each cell."""
        return self.solver.energy_matrix(self.u)

    @cached_property
    def tangents(self) -> Array:
        """u_k = du / dtheta_k in column k, shape (n_nodes, d). Raises `NumericalError` if a solve fails."""
        return self._solve(-(self._energy_matrix.T @ (self.c[:, None] * self.modes)))

    @cached_property
    def _adjoints(self) -> Array:
        """K(c)^-1 B'J, (n_nodes, d)."""
        return self._solve(self.observe_transposed @ self.jacobian)

    def _solve(self, loads: Array) -> Array:
        """Solutions for the columns of ``loads``, one by one, since PETSc's factorisation is not faster for many."""
        self.solver.factorise(self.c)
        return np.column_stack([self.solver.solve(load) for load in loads.T])
