"""The metric of RNS-RMHMC: the surrogate's Hessian, made positive definite where necessary (paper A, section 3.4)."""

from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from scipy import linalg

from rnshmc.errors import NumericalError, ParameterError
from rnshmc.surrogates.lift import lift, lift_differences, lift_slope
from rnshmc.types import Array, Driver

# Beyond x = 20 softness the lift of x is below 1e-17 x: x coth(x / softness) is x in doubles.
_SAFE = 20.0


class CurvedSurrogate(Driver, Protocol):
    """A surrogate with second and third derivatives, such as `rnshmc.surrogates.random_network.RandomNetwork`."""

    def hessian(self, q: Array) -> Array:
        """Hessian at ``q``, shape (dim, dim)."""
        ...

    def hessian_vjp(self, q: Array, m: Array) -> Array:
        """Third derivatives contracted with a symmetric ``m`` of shape (dim, dim), as an array of shape (dim,)."""
        ...

    def hessian_vjp_factored(self, q: Array, factor: Array) -> Array:
        """`hessian_vjp` for m = factor factor'."""
        ...

    def hessian_diagonal(self, q: Array) -> Array:
        """Diagonal of the Hessian at ``q``, shape (dim,)."""
        ...

    def hessian_diagonal_vjp(self, q: Array, m: Array) -> Array:
        """`hessian_vjp` for a diagonal matrix, given as ``m`` of shape (dim,)."""
        ...


class _Curvature(Protocol):
    """The metric at one position, with the quantities that its derivative needs."""

    @property
    def metric(self) -> Array: ...

    @property
    def softened(self) -> bool: ...

    def vjp(self, surrogate: CurvedSurrogate, q: Array, factor: Array) -> Array: ...


@dataclass(frozen=True, eq=False)
class SoftAbsMetric:
    """A surrogate as a Riemannian driver with the metric G(q) = f(H(q)), f(x) = x coth(x / softness).

    H is the surrogate's Hessian and f acts on its eigenvalues, or H is the Hessian's diagonal and f acts on its
    entries. f is the SoftAbs map (Betancourt 2013, "A general metric for Riemannian manifold Hamiltonian Monte Carlo"):
    smooth, at least ``softness``, near |x| elsewhere, and x itself in doubles beyond 20 softness. So G is the plain
    Hessian, as in paper A, wherever that is safely positive definite. Everywhere else G is still a smooth metric: no
    part of the posterior is cut off, and a sampler that uses it is exact.

    A Cholesky factorisation recognises a full Hessian that is safely positive definite; only a softened metric needs
    eigenvectors. Results at the last position are cached, so that the metric, its derivatives and `softened` at one q
    cost one Hessian. Results do not depend on earlier calls.

    Parameters
    ----------
    surrogate
        A surrogate with gradient, Hessian and third derivatives.
    shape
        "full", or "diagonal" for potentials that are not convex (paper A, section 5.2).
    softness
        Lower bound of the metric, in the units of the Hessian; > 0. Below a twentieth of the Hessian's eigenvalues over
        the posterior, it does not change the metric there.

    Raises
    ------
    ParameterError
        If the shape is unknown or the softness is not positive.
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
        """G(q): shape (dim, dim), or (dim,) for the shape "diagonal".

        Raises
        ------
        NumericalError
            If the Hessian is not finite or has no spectral decomposition, as in the methods below.
        """
        return self._at(q).metric.copy()

    def metric_vjp(self, q: Array, factor: Array) -> Array:
        """sum_jk m_jk dG_jk/dq_i for m = factor factor', ``factor`` of shape (dim, r), as an array of shape (dim,)."""
        return self._at(q).vjp(self.surrogate, q, factor)

    def softened(self, q: Array) -> bool:
        """Whether G(q) differs from the plain Hessian; free if the last evaluation was at ``q``."""
        return self._at(q).softened

    def _at(self, q: Array) -> _Curvature:
        position = q.tobytes()
        if not self._last or self._last[0][0] != position:
            curvature = _diagonal if self.shape == "diagonal" else _full
            self._last[:] = [(position, curvature(self.surrogate, q, self.softness))]
        return self._last[0][1]


@dataclass(frozen=True, eq=False)
class _Plain:
    """The unchanged Hessian."""

    metric: Array
    softened = False

    def vjp(self, surrogate: CurvedSurrogate, q: Array, factor: Array) -> Array:
        return surrogate.hessian_vjp_factored(q, factor)


@dataclass(frozen=True, eq=False)
class _Softened:
    """H + Q lift(values) Q', where Q' H Q = diag(values)."""

    metric: Array
    vectors: Array
    differences: Array
    softened = True

    def vjp(self, surrogate: CurvedSurrogate, q: Array, factor: Array) -> Array:
        # The lift of a matrix varies with its divided differences: d(lift) = Q (R o (Q' dH Q)) Q' (Daleckii and Krein).
        m = factor @ factor.T
        rotated = self.differences * (self.vectors.T @ m @ self.vectors)
        return surrogate.hessian_vjp(q, m + self.vectors @ rotated @ self.vectors.T)


@dataclass(frozen=True, eq=False)
class _Diagonal:
    """The Hessian's diagonal under f."""

    metric: Array
    slope: Array
    softened: bool

    def vjp(self, surrogate: CurvedSurrogate, q: Array, factor: Array) -> Array:
        return surrogate.hessian_diagonal_vjp(q, self.slope * np.einsum("jr,jr->j", factor, factor))


def _full(surrogate: CurvedSurrogate, q: Array, softness: float) -> _Curvature:
    hessian = surrogate.hessian(q)
    try:
        linalg.cholesky(hessian - _SAFE * softness * np.eye(len(hessian)), lower=True, check_finite=False)
    except linalg.LinAlgError:
        return _soften(hessian, softness)
    return _Plain(hessian)


def _soften(hessian: Array, softness: float) -> _Softened:
    try:
        values, vectors = linalg.eigh(hessian, check_finite=False)
    except linalg.LinAlgError as error:
        raise NumericalError(f"the surrogate's Hessian has no spectral decomposition: {error}") from error
    # The product of a matrix with its own transpose is symmetric to the last bit.
    roots = vectors * np.sqrt(lift(values, softness))
    return _Softened(hessian + roots @ roots.T, vectors, lift_differences(values, softness))


def _diagonal(surrogate: CurvedSurrogate, q: Array, softness: float) -> _Curvature:
    diagonal = surrogate.hessian_diagonal(q)
    return _Diagonal(
        metric=diagonal + lift(diagonal, softness),
        slope=1.0 + lift_slope(diagonal, softness),
        softened=bool(np.any(diagonal <= _SAFE * softness)),
    )
