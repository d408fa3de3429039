"""The interface of a prior, and the flat one."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from rnshmc.types import Array


@runtime_checkable
class Prior(Protocol):
    """-log density of d parameters in the user's coordinates, for k rows."""

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """Support of the parameters, by index, where it is not the whole line; infinite on an open side."""
        ...

    @property
    def centre(self) -> Array | None:
        """Means, or medians where there is no mean, shape (d,); NaN where unknown, None if all are."""
        ...

    @property
    def scale(self) -> Array | None:
        """Standard deviations, shape (d,); NaN where unknown or infinite, None if all are."""
        ...

    def potential(self, x: Array) -> tuple[Array, Array]:
        """-log density (k,), with its constant, and its gradient (k, d), at the rows of ``x``, (k, d).

        Outside the support the value is inf and the gradient is zero.
        """
        ...

    def draws(self, rng: np.random.Generator, n: int) -> Array | None:
        """Independent draws, (n, d); None if the prior cannot be drawn from."""
        ...


@dataclass(frozen=True)
class Flat:
    """A constant density: no bounds, no scale, no draws."""

    @property
    def bounds(self) -> dict[int, tuple[float, float]]:
        """None."""
        return {}

    @property
    def centre(self) -> None:
        """Unknown."""
        return

    @property
    def scale(self) -> None:
        """Infinite."""
        return

    def potential(self, x: Array) -> tuple[Array, Array]:
        """Zeros: a density of 1, which has no integral."""
        return np.zeros(len(x)), np.zeros(x.shape)

    def draws(self, rng: np.random.Generator, n: int) -> None:  # noqa: ARG002
        """None."""
        return
