"""The interface of a prior, the flat one, functions of the user, and products."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnshmc.errors import NumericalError
from rnshmc.inference.exact.rows import RowFunction
from rnshmc.types import Array, Potential


class Prior:
    """-log density of d parameters in the user's coordinates, for k rows; that of a flat prior, unless overridden."""

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Support of the parameters, by index, where it is not the whole line; infinite on an open side."""
        return {}

    @property
    def scale(self) -> Array | None:
        """Standard deviations, shape (d,); NaN where unknown or infinite, None if all are."""
        return None

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density (k,), with its constant, and its gradient (k, d), at the rows of ``x``, (k, d).

        Outside the support the value is inf and the gradient is zero. A flat density is 1, which has no integral.
        """
        return np.zeros(len(x)), np.zeros(x.shape)

    def draws(self, rng: np.random.Generator, n: int) -> Array | None:  # noqa: ARG002
        """Independent draws, (n, d); None if the prior cannot be drawn from."""
        return None


@dataclass(frozen=True, eq=False)
class FunctionPrior(Prior):
    """A log density of the user, a function at many points."""

    log_density: RowFunction

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density and gradient."""
        values, gradients = self.log_density(x)
        return -values, -gradients


@dataclass(frozen=True, eq=False)
class LogDensity:
    """The log density of a potential at one point, with its gradient; -inf where it cannot be evaluated."""

    potential: Potential

    def __call__(self, x: Array) -> tuple[float, Array]:
        """-U(x) and its gradient."""
        try:
            value, gradient = self.potential.value_and_grad(x)
        except NumericalError:
            return -np.inf, np.zeros(len(x))
        return -value, -gradient


@dataclass(frozen=True, eq=False)
class Product(Prior):
    """Independent groups of parameters; those in no group have a flat prior.

    Attributes
    ----------
    dim
        Number d of parameters.
    groups
        Indices of the parameters of each group, and their prior.
    """

    dim: int
    groups: tuple[tuple[npt.NDArray[np.intp], Prior], ...]

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Supports of all parameters."""
        pairs = {int(columns[i]): pair for columns, prior in self.groups for i, pair in prior.bounds.items()}
        return dict(sorted(pairs.items()))

    @property
    def scale(self) -> Array:
        """Standard deviations; NaN where infinite or unknown."""
        whole = np.full(self.dim, np.nan)
        for columns, prior in self.groups:
            whole[columns] = np.nan if prior.scale is None else prior.scale
        return whole

    def potential(self, x: Array) -> tuple[Array, Array]:
        """Sum over the groups; inf where one of them is."""
        values, gradients = np.zeros(len(x)), np.zeros(x.shape)
        for columns, prior in self.groups:
            part, gradients[:, columns] = prior.potential(x[:, columns])
            values += part
        return values, np.where(np.isfinite(values)[:, None], gradients, 0.0)

    def draws(self, rng: np.random.Generator, n: int) -> Array | None:
        """Independent draws; None if the prior of some parameter is flat."""
        drawn = np.full((n, self.dim), np.nan)
        for columns, prior in self.groups:
            part = prior.draws(rng, n)
            if part is None:
                return None
            drawn[:, columns] = part
        return None if np.isnan(drawn).any() else drawn
