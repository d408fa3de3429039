"""The file of the posterior predictive: pressures of the elliptic model at draws from the posterior."""

from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from rnshmc.files import atomic_path, read_npz
from rnshmc.types import Array


@dataclass(frozen=True)
class Predictions:
    """Pressures at draws from the posterior.

    Attributes
    ----------
    sampler
        Name of the sampler of the draws.
    pressures : (m, n)
        Model output at each draw and point, without noise.
    """

    sampler: str
    pressures: Array

    def save(self, path: Path) -> None:
        """Write an npz file; an interrupted write leaves no file of this name."""
        with atomic_path(path) as temporary:
            np.savez(temporary, **asdict(self))

    @classmethod
    def load(cls, path: Path) -> "Predictions":
        """Read what `save` wrote.

        Raises
        ------
        DataError
            If the file cannot be read or lacks an entry; the message names both.
        """
        arrays = read_npz(path, *(field.name for field in fields(cls)))
        return cls(str(arrays["sampler"]), arrays["pressures"])
