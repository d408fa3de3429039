"""The file of the posterior predictive: pressures of the elliptic model at draws from the posterior."""

from dataclasses import dataclass

from rnshmc.files import NpzRecord
from rnshmc.types import Array


@dataclass(frozen=True)
class Predictions(NpzRecord):
    """Pressures at draws from the posterior."""

    sampler: str
    """Name of the sampler of the draws."""
    pressures: Array
    """Model output at each draw and point, without noise, shape (m, n)."""
