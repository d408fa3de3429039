"""What known runs say of an emulator that is fitted to all others."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.paths import inflation
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Runs at plausible heights, each left out in turn.

    Attributes
    ----------
    distances
        Whitened, from the centre, shape (n,).
    differences
        U less V by the emulator without the run, (n,).
    variances
        Of these, by the processes, (n,).
    """

    distances: Array
    differences: Array
    variances: Array

    @classmethod
    def of(cls, posterior: SurrogatePosterior) -> "LeaveOneOut":
        """From a surrogate by emulated outputs."""
        assert isinstance(posterior.kernel, EmulatedPotential)
        points, values, differences, variances = posterior.kernel.left_out()
        near = values < posterior.offset + posterior.tuning.plausible_height(posterior.dim)
        distances = np.linalg.norm(posterior.whitening.whiten(points[near]), axis=1)
        return cls(distances, differences[near], variances[near])

    @property
    def error(self) -> float:
        """Standard deviation of U - V."""
        return float(np.std(self.differences, ddof=1)) if len(self.differences) > 1 else np.nan

    @property
    def doubt(self) -> float:
        """Factor on the variance of the process that the differences show, at least 1."""
        return inflation(self.variances, self.differences)

    def beyond(self, distance: float) -> Array:
        """U - V farther out than that."""
        return np.asarray(self.differences[self.distances > distance])
