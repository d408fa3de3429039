"""The surrogate posterior: a kernel surrogate in whitened coordinates with a wall around it."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.chains import run_chains
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.surrogates.gradient_kernel import GradientKernel
from rnshmc.types import Array

REACH = 3.5
"""Points beyond this many times sqrt(d) + 1 from the centre, in whitened coordinates, are not trained on."""
WALL = 4.0
"""The wall stands this far beyond sqrt(d), or one beyond training points that are plausible draws if that is more."""
PLAUSIBLE = 8.0
"""Potentials up to this, and d, above the lowest are those of plausible draws."""
PRIOR = 0.5
"""Curvature of the surrogate where no point is near: wider than the posterior, for what a surrogate never draws no
weight corrects."""
HIGH = 8.0
"""Potentials higher than this many times PLAUSIBLE + d are compressed to a logarithm."""
MOST_AMPLITUDE = 100.0
"""Of the process, unless no length and noise has a smaller one."""
MOST_ROWS = 9000
"""Equations of the largest system that is solved: 0.65 GB."""


@dataclass(frozen=True, eq=False)
class SurrogatePosterior:
    """V in whitened coordinates z, and how they relate to x.

    V is a `GradientKernel` on the residual of |z|^2 / 2. Beyond a sphere V rises along rays as steeply as it does on
    the sphere, and steeply enough for a density: tails longer than normal ones, and no process that extrapolates.

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
        """V at the rows of z and its gradients by z.

        Beyond the wall a gradient leaves out how the slope of the rise depends on the direction: it only drives.
        """
        norms = np.maximum(np.sqrt((z**2).sum(axis=1)), np.finfo(float).tiny)
        outward = z / norms[:, None]
        shares = np.minimum(1.0, self.radius / norms)
        values, gradients = self.kernel.values_and_gradients(z * shares[:, None])
        beyond = np.maximum(norms - self.radius, 0.0)
        along = (gradients * outward).sum(axis=1)
        across = (gradients - outward * along[:, None]) * shares[:, None]
        rises = np.where(beyond > 0, np.maximum(along, (self.dim + 1.0) / self.radius), along)
        return values + rises * beyond, across + outward * rises[:, None]

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, by the process that V is the mean of."""
        norms = np.maximum(np.sqrt((z**2).sum(axis=1)), np.finfo(float).tiny)
        return self.kernel.covariance(z * np.minimum(1.0, self.radius / norms)[:, None])

    def values(self, x: Array) -> Array:
        """V at the rows of x, on the scale of the exact potential."""
        return self.values_and_gradients(self.whitening.whiten(x))[0] + self.offset


def plausible_height(dim: int) -> float:
    """How far above the lowest the potentials of plausible draws are."""
    return PLAUSIBLE + dim


def plausible(training: Training) -> Training:
    """The training points that might be draws: their potential is not far above the lowest."""
    heights = training.values - training.values.min()
    return training.where(np.flatnonzero(heights < plausible_height(training.points.shape[1])))


def reach(dim: int) -> float:
    """Whitened distance from the centre up to which points are trained on."""
    return float(REACH * (np.sqrt(dim) + 1.0))


def within_reach(training: Training, whitening: Whitening) -> Training:
    """The training points near enough to the centre, the nearest first where the system would be too large."""
    dim = training.points.shape[1]
    norms = np.linalg.norm(whitening.whiten(training.points), axis=1)
    order = np.argsort(norms, kind="stable")
    order = order[norms[order] < reach(dim)]
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
    dim = z.shape[1]
    heights, slopes = near.values - offset, whitening.slopes(near.gradients)
    ceiling = HIGH * plausible_height(dim)
    # Above the ceiling C, C (1 + log(U / C)): smooth, so that a cliff bends no process where the posterior is.
    shrink = ceiling / np.maximum(heights, ceiling)
    slopes *= shrink[:, None]
    kernel = GradientKernel.fit(
        z,
        np.where(shrink < 1.0, ceiling * (1.0 - np.log(shrink)), heights),
        rng=rng,
        grad=slopes,
        prior=PRIOR,
        most_amplitude=MOST_AMPLITUDE,
        **search,
    )
    likely = whitening.whiten(plausible(near).points)
    radius = max(WALL + np.sqrt(dim), 1.0 + float(np.linalg.norm(likely, axis=1).max()))
    return SurrogatePosterior(whitening, kernel, radius, offset)


def draw_chains(
    posterior: SurrogatePosterior, positions: Array, *, transitions: int, rng: np.random.Generator
) -> Array:
    """Draws of the surrogate posterior, whitened, from chains that are near it: (chains, transitions, d).

    A chain that starts where a newer surrogate says it cannot be begins where another one does.
    """
    values = posterior.values_and_gradients(positions)[0]
    typical = np.flatnonzero(values <= np.median(values) + posterior.dim + PLAUSIBLE)
    lost = np.setdiff1d(np.arange(len(positions)), typical)
    positions = positions.copy()
    positions[lost] = positions[rng.choice(typical, len(lost))]
    return run_chains(
        posterior.values_and_gradients,
        (positions, *posterior.values_and_gradients(positions)),
        transitions=transitions,
        step_size=posterior.dim**-0.25,
        rng=rng,
        shorten=True,
    ).draws


def temperature(dim: int) -> float:
    """At which a standard normal density is one standard deviation further out."""
    return float((1.0 + dim**-0.5) ** 2)


def draw_tempered(
    posterior: SurrogatePosterior, positions: Array, *, transitions: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Whitened draws of the surrogate at `temperature`, (chains, transitions, d), and V / temperature there."""
    hot = temperature(posterior.dim)

    def tempered(z: Array) -> tuple[Array, Array]:
        values, gradients = posterior.values_and_gradients(z)
        return values / hot, gradients / hot

    start = (positions, *tempered(positions))
    step = float(np.sqrt(hot)) * posterior.dim**-0.25
    chains = run_chains(tempered, start, transitions=transitions, step_size=step, rng=rng)
    return chains.draws, chains.potentials
