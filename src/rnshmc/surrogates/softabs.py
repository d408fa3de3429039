"""The metric of RNS-RMHMC: the surrogate's Hessian, made positive definite where necessary (paper A, section 3.4)."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, Protocol

import numpy as np
from scipy import linalg

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.types import Array, Driver

# Below |t| = 0.1 the next term of the series, 2e-7 t^9, is lost in doubles; above, the closed form loses one digit.
_SMALL = 0.1
_GAUSS_NODES = np.sqrt(3 / 5) * np.array([-1.0, 0.0, 1.0])
_GAUSS_WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18


def lift(x: Array, softness: float) -> Array:
    """x coth(x / a) - x = a B(2 x / a) for the softness a, elementwise, free of cancellation (Betancourt 2013).

    B(t) = t / (exp(t) - 1) generates the Bernoulli numbers. The lift falls from -2 x for very negative x over a at 0 to
    nothing for x far above a.
    """
    return softness * _bernoulli(2.0 * x / softness)


def lift_slope(x: Array, softness: float) -> Array:
    """Derivative of the lift, elementwise: from -2 for very negative x over -1 at 0 to 0."""
    return 2.0 * _bernoulli_slope(2.0 * x / softness)


def lift_differences(x: Array, softness: float) -> Array:
    """Divided differences (lift(x_j) - lift(x_k)) / (x_j - x_k) for x of shape (d,), shape (d, d).

    Where x_j and x_k are equal or so near that the quotient would cancel, the difference is the mean of the slope
    between them, by Gauss's rule with three nodes; its error is of the size of round-off there.
    """
    t = 2.0 * x / softness
    values = _bernoulli(t)
    gap, middle = t[:, np.newaxis] - t, 0.5 * (t[:, np.newaxis] + t)
    near = np.abs(gap) < _SMALL
    differences: Array = (values[:, np.newaxis] - values) / np.where(near, 1.0, gap)
    nodes = middle[near] + 0.5 * _GAUSS_NODES[:, np.newaxis] * gap[near]
    differences[near] = _GAUSS_WEIGHTS @ _bernoulli_slope(nodes)
    return 2.0 * differences


def _bernoulli(t: Array) -> Array:
    """B(t) = t / (exp(t) - 1), 1 at t = 0."""
    with np.errstate(over="ignore"):
        return np.where(t == 0.0, 1.0, t / np.expm1(np.where(t == 0.0, 1.0, t)))


def _bernoulli_slope(t: Array) -> Array:
    """B'(t) = (1 - B(-t)) / (exp(t) - 1), -1/2 at t = 0."""
    small = np.abs(t) < _SMALL
    square = np.where(small, t, 0.0) ** 2
    series = -1 / 2 + t * (1 / 6 + square * (-1 / 180 + square * (1 / 5040 - square / 151200)))
    with np.errstate(over="ignore"):
        closed = (1.0 - _bernoulli(-t)) / np.expm1(np.where(small, 1.0, t))
    return np.where(small, series, closed)


# Beyond x = 20 softness the lift of x is below 1e-17 x: x coth(x / softness) is x in doubles.
_SAFE = 20.0


class CurvedSurrogate(Driver, Protocol):
    """A surrogate with second and third derivatives, such as `rnshmc.surrogates.random_network.RandomNetwork`."""

    def hessian(self, q: Array) -> Array:
        """Hessian at ``q``, shape (dim, dim)."""

    def hessian_vjp(self, q: Array, m: Array) -> Array:
        """Third derivatives contracted with a symmetric ``m`` of shape (dim, dim), as an array of shape (dim,)."""

    def hessian_vjp_factored(self, q: Array, factor: Array) -> Array:
        """`hessian_vjp` for m = factor factor'."""

    def hessian_diagonal(self, q: Array) -> Array:
        """Diagonal of the Hessian at ``q``, shape (dim,)."""

    def hessian_diagonal_vjp(self, q: Array, m: Array) -> Array:
        """`hessian_vjp` for a diagonal matrix, given as ``m`` of shape (dim,)."""


class _Curvature(NamedTuple):
    """The metric at one position, and whether it differs from the plain Hessian."""

    metric: Array
    softened: bool
    vjp: Callable[[Array, Array], Array]
    """`SoftAbsMetric.metric_vjp` at this position."""


@dataclass(frozen=True, eq=False)
class SoftAbsMetric:
    """A surrogate as a Riemannian driver with the metric G(q) = f(H(q)), f(x) = x coth(x / softness).

    H is the surrogate's Hessian and f acts on its eigenvalues, or H is the Hessian's diagonal and f acts on its
    entries. f is the SoftAbs map (Betancourt 2013, "A general metric for Riemannian manifold Hamiltonian Monte Carlo"):
    smooth, at least ``softness``, near |x| elsewhere, and x itself in doubles beyond 20 softness. So G is the plain
    Hessian, as in paper A, wherever that is safely positive definite. Everywhere else G is still a smooth metric: no
    part of the posterior is cut off, and a sampler that uses it is exact.

    The shape "diagonal" is for potentials that are not convex (paper A, section 5.2). The softness is the smallest
    metric, in the units of the Hessian. Below a twentieth of what the Hessian's eigenvalues are over the posterior, it
    leaves the metric alone there. Raises `ParameterError` if the shape is unknown or the softness is not positive.

    A full Hessian that is safely positive definite is recognised by a Cholesky factorisation; only a softened metric
    pays for eigenvectors. What was computed at the last position is kept, so that the metric, its derivatives and
    `softened` at one q cost one Hessian. No answer depends on what was asked before.
    """

    surrogate: CurvedSurrogate
    shape: Literal["full", "diagonal"]
    softness: float
    _last: list[tuple[bytes, _Curvature]] = field(init=False, repr=False, default_factory=list)

    def __post_init__(self) -> None:
        if self.shape not in ("full", "diagonal"):
            raise ParameterError(f"shape: expected 'full' or 'diagonal', got {self.shape!r}")
        if not (np.isfinite(self.softness) and self.softness > 0):
            raise ParameterError(f"softness: expected a positive number, got {self.softness!r}")

    @property
    def dim(self) -> int:
        """Dimension of the parameter space."""
        return self.surrogate.dim

    def gradient(self, q: Array) -> Array:
        """Gradient of the surrogate at ``q``, both of shape (dim,)."""
        return self.surrogate.gradient(q)

    def metric(self, q: Array) -> Array:
        """G(q): shape (dim, dim), or (dim,) where the shape is "diagonal"."""
        return self._at(q).metric.copy()

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', ``factor`` of shape (dim, r), as an array of shape (dim,)."""
        return self._at(q).vjp(q, factor)

    def softened(self, q: Array) -> bool:
        """Whether G(q) differs from the plain Hessian; free if the last evaluation was at ``q``."""
        return self._at(q).softened

    def _at(self, q: Array) -> _Curvature:
        position = q.tobytes()
        if not self._last or self._last[0][0] != position:
            curvature = _diagonal if self.shape == "diagonal" else _full
            self._last[:] = [(position, curvature(self.surrogate, q, self.softness))]
        return self._last[0][1]


def _full(surrogate: CurvedSurrogate, q: Array, softness: float) -> _Curvature:
    hessian = surrogate.hessian(q)
    try:
        linalg.cholesky(hessian - _SAFE * softness * np.eye(len(hessian)), lower=True, check_finite=False)
    except linalg.LinAlgError:
        return _soften(surrogate, hessian, softness)
    return _Curvature(hessian, False, surrogate.hessian_vjp_factored)


def _soften(surrogate: CurvedSurrogate, hessian: Array, softness: float) -> _Curvature:
    """H + Q lift(values) Q', where Q' H Q = diag(values)."""
    try:
        values, vectors = linalg.eigh(hessian, check_finite=False)
    except linalg.LinAlgError as error:
        raise NumericalError(f"the surrogate's Hessian has no spectral decomposition: {error}") from error
    differences = lift_differences(values, softness)

    def vjp(q: Array, factor: Array) -> Array:
        # The lift of a matrix varies with its divided differences: d(lift) = Q (R o (Q' dH Q)) Q' (Daleckii and Krein).
        m = factor @ factor.T
        rotated = differences * (vectors.T @ m @ vectors)
        return surrogate.hessian_vjp(q, m + vectors @ rotated @ vectors.T)

    # The product of a matrix with its own transpose is symmetric to the last bit.
    roots = vectors * np.sqrt(lift(values, softness))
    return _Curvature(hessian + roots @ roots.T, True, vjp)


def _diagonal(surrogate: CurvedSurrogate, q: Array, softness: float) -> _Curvature:
    """The Hessian's diagonal under f."""
    diagonal = surrogate.hessian_diagonal(q)
    slope = 1.0 + lift_slope(diagonal, softness)

    def vjp(q: Array, factor: Array) -> Array:
        return surrogate.hessian_diagonal_vjp(q, slope * np.einsum("jr,jr->j", factor, factor))

    return _Curvature(diagonal + lift(diagonal, softness), bool(np.any(diagonal <= _SAFE * softness)), vjp)
