"""The surrogate posterior: a kernel surrogate in whitened coordinates with a wall around it."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.archive import Training
from rnshmc.inference.whitening import Whitening
from rnshmc.surrogates.gradient_kernel import GradientKernel
from rnshmc.types import Array

REACH = 3.5
"""Points beyond this many times sqrt(d) + 1 from the centre, in whitened coordinates, are not trained on."""
WALL = 1.3
"""The wall stands at this many times sqrt(d) + 2, and one beyond training points that are plausible draws."""
PLAUSIBLE = 8.0
"""Potentials up to this, and d, above the lowest are those of plausible draws."""
MOST_ROWS = 9000
"""Equations of the largest system that is solved: 0.65 GB."""


@dataclass(frozen=True, eq=False)
class SurrogatePosterior:
    """V in whitened coordinates z, and how they relate to x.

    V is a `GradientKernel` on the residual of |z|^2 / 2, plus half the squared distance beyond a sphere: no process
    extrapolates without bound.

    Attributes
    ----------
    whitening
        From x to z.
    kernel
        The surrogate proper.
    radius
        Where the wall stands.
    offset
        Exact potential that V = 0 stands for.
    """

    whitening: Whitening
    kernel: GradientKernel
    radius: float
    offset: float

    @property
    def dim(self) -> int:
        """Dimension."""
        return self.kernel.dim

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z and its gradients by z."""
        values, gradients = self.kernel.values_and_gradients(z)
        norms = np.sqrt((z**2).sum(axis=1))
        beyond = np.maximum(norms - self.radius, 0.0)
        return values + 0.5 * beyond**2, gradients + z * (beyond / np.maximum(norms, self.radius))[:, None]

    def values(self, x: Array) -> Array:
        """V at the rows of x, on the scale of the exact potential."""
        return self.values_and_gradients(self.whitening.whiten(x))[0] + self.offset


def within_reach(training: Training, whitening: Whitening) -> Training:
    """The training points near enough to the centre, the nearest first where the system would be too large."""
    dim = training.points.shape[1]
    norms = np.linalg.norm(whitening.whiten(training.points), axis=1)
    order = np.argsort(norms, kind="stable")
    order = order[norms[order] < REACH * (np.sqrt(dim) + 1.0)]
    rows = 1 + dim * np.isfinite(training.gradients[order]).all(axis=1)
    return training.where(order[np.cumsum(rows) <= MOST_ROWS])


def fit_posterior(
    training: Training,
    whitening: Whitening,
    rng: np.random.Generator,
    *,
    like: GradientKernel | None = None,
) -> SurrogatePosterior:
    """Fit the surrogate posterior to training points within reach.

    Parameters
    ----------
    training
        Points with finite potentials.
    whitening
        Coordinates to fit in.
    rng
        Chooses points for the search of hyperparameters.
    like
        Take length and noise from this fit instead of searching them.

    Raises
    ------
    FitError
        If there are too few points, or no system can be solved.
    """
    near = within_reach(training, whitening)
    z = whitening.whiten(near.points)
    offset = float(near.values.min()) if len(z) else 0.0
    search = {} if like is None else {"lengths": (like.relative_length,), "nuggets": (like.nugget,)}
    kernel = GradientKernel.fit(
        z, near.values - offset, rng=rng, grad=whitening.slopes(near.gradients), prior=1.0, **search
    )
    dim = z.shape[1]
    plausible = near.values - offset < PLAUSIBLE + dim
    radius = max(WALL * (np.sqrt(dim) + 2.0), 1.0 + float(np.linalg.norm(z[plausible], axis=1).max()))
    return SurrogatePosterior(whitening, kernel, radius, offset)
