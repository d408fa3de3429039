"""Priors of groups of parameters that are independent of each other."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnshmc.inference.exact.priors.base import Prior
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Product:
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
    def centre(self) -> Array:
        """Means or medians; NaN where the prior is flat."""
        return self._assembled([prior.centre for _, prior in self.groups])

    @property
    def scale(self) -> Array:
        """Standard deviations; NaN where infinite or unknown."""
        return self._assembled([prior.scale for _, prior in self.groups])

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

    def _assembled(self, parts: list[Array | None]) -> Array:
        whole = np.full(self.dim, np.nan)
        for (columns, _), part in zip(self.groups, parts, strict=True):
            whole[columns] = np.nan if part is None else part
        return whole
