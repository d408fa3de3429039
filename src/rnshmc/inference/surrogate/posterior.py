"""The surrogate posterior: a kernel surrogate in whitened coordinates, with a wall around it."""

from dataclasses import dataclass

import numpy as np

from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.chains import run_chains
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.gradient_kernel import LENGTHS
from rnshmc.inference.surrogate.learning import Process, learnt
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Fitting
from rnshmc.inference.tuning_shared import reach_of
from rnshmc.types import Array

Kernel = Process | EmulatedPotential
"""A surrogate of the potential in whitened coordinates, with the covariance of its error."""


@dataclass(frozen=True, eq=False)
class SurrogatePosterior:
    """V in whitened coordinates z.

    V is a process on the residual of a quadratic (`learnt`), or follows from emulated outputs (`EmulatedPotential`).
    Beyond the wall, V rises along rays with its slope there, and fast enough for a proper density. The wall is a
    sphere; with a hull, it is farther out where there are points.
    """

    whitening: Whitening
    """From x to z."""
    kernel: Kernel
    """V within the wall, and its process."""
    radius: float
    """Radius of the wall; with a hull, the smallest one."""
    hull: Array
    """Whitened points, (k, d). Along each direction the wall is `Fitting.wall_margin` beyond the farthest of them, but
    within reach. It leaves V no room for a well where there are no points. Without a hull, the wall is a sphere."""
    offset: float
    """Exact potential at V = 0."""
    tuning: Fitting
    """Settings of the fit."""

    @property
    def dim(self) -> int:
        """Dimension."""
        return self.kernel.dim

    @property
    def reach(self) -> float:
        """Whitened distance from the centre up to which points are trained on."""
        return reach_of(self.dim)

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z, and its gradients with respect to z.

        Beyond the wall a gradient ignores that the slope of the rise depends on the direction: it only drives.
        """
        norms, walls = self.walls(z)
        outward = z / norms[:, None]
        shares = np.minimum(1.0, walls / norms)
        values, gradients = self.kernel.values_and_gradients(z * shares[:, None])
        beyond = np.maximum(norms - walls, 0.0)
        along = (gradients * outward).sum(axis=1)
        across = (gradients - outward * along[:, None]) * shares[:, None]
        rises = np.where(beyond > 0, np.maximum(along, (self.dim + 1.0) / walls), along)
        return values + rises * beyond, across + outward * rises[:, None]

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, by the Gaussian process."""
        norms, walls = self.walls(z)
        return self.kernel.covariance(z * np.minimum(1.0, walls / norms)[:, None])

    def walls(self, z: Array) -> tuple[Array, Array]:
        """Distances of the rows of z from the centre, and of the wall in their directions, each (n,)."""
        norms = np.maximum(np.sqrt((z**2).sum(axis=1)), np.finfo(float).eps ** 2)
        if not len(self.hull):
            return norms, np.full(len(norms), self.radius)
        walls = self.tuning.wall_margin + (z @ self.hull.T).max(axis=1) / norms
        return norms, np.maximum(self.radius, np.minimum(walls, self.reach))

    def values(self, x: Array) -> Array:
        """V at the rows of x, on the scale of the exact potential."""
        return self.values_and_gradients(self.whitening.whiten(x))[0] + self.offset


def plausible(training: Training, tuning: Fitting) -> Training:
    """Training points that may be draws: their potential is not far above the lowest."""
    heights = training.values - training.values.min()
    return training.where(np.flatnonzero(heights < tuning.plausible_height(training.points.shape[1])))


def within_reach(training: Training, whitening: Whitening, tuning: Fitting) -> Training:
    """Training points near the centre, the nearest first where the system would be too large.

    For runs of a forward model only the parameters of the model count: those of the likelihood may have any value.
    """
    dim = training.points.shape[1]
    inputs = dim if training.runs is None else training.runs.forward_posterior.inputs
    norms = np.linalg.norm(whitening.of_first(inputs).whiten(training.points[:, :inputs]), axis=1)
    order = np.argsort(norms, kind="stable")
    order = order[norms[order] < reach_of(dim)]
    rows = np.where(np.isfinite(training.gradients[order]).all(axis=1), tuning.rows_of(dim), 1)
    return training.where(order[np.cumsum(rows) <= tuning.most_rows])


def to_fit(training: Training, whitening: Whitening, tuning: Fitting, *, fewest: int) -> Training:
    """Training points of a surrogate: those `within_reach`, or all if these are fewer than ``fewest`` runs."""
    near = within_reach(training, whitening, tuning)
    return training if near.runs is not None and len(near.values) < fewest else near


def fit_posterior(
    training: Training,
    whitening: Whitening,
    rng: np.random.Generator,
    tuning: Fitting,
    *,
    like: Kernel | None = None,
    lengths: tuple[float, ...] = LENGTHS,
) -> SurrogatePosterior:
    """Fit the surrogate posterior to the training points within reach.

    Length and noise are those of another fit, ``like``, or searched: of a process of the potential among candidates in
    the unit of `GradientKernel.fit`, by points that ``rng`` chooses. Raises FitError if there are too few points, or no
    system can be solved.
    """
    near = to_fit(training, whitening, tuning, fewest=2)
    offset = float(near.values.min()) if len(near.values) else 0.0
    kernel: Kernel
    if near.runs is None:
        known = None if isinstance(like, EmulatedPotential) else like
        kernel = learnt(near, whitening, offset, rng, tuning, like=known, lengths=lengths)
    else:
        kernel = emulate(near, near.runs, whitening, like=like if isinstance(like, EmulatedPotential) else None)
    dim = len(whitening.centre)
    likely = whitening.whiten(plausible(near, tuning).points)
    radius = float(np.sqrt(dim)) + tuning.wall
    farther = likely[np.linalg.norm(likely, axis=1) > radius - tuning.wall_margin]
    if tuning.hugging:
        return SurrogatePosterior(whitening, kernel, radius, farther, offset, tuning)
    radius = max(radius, tuning.wall_margin + float(np.linalg.norm(likely, axis=1).max()))
    return SurrogatePosterior(whitening, kernel, radius, farther[:0], offset, tuning)


def draw_chains(
    posterior: SurrogatePosterior, positions: Array, *, transitions: int, rng: np.random.Generator
) -> Array:
    """Whitened draws of the surrogate posterior, (chains, transitions, d), from chains that start near it.

    A chain that starts where the surrogate is implausibly high starts at the position of another one instead.
    """
    values = posterior.values_and_gradients(positions)[0]
    typical = np.flatnonzero(values <= np.median(values) + posterior.tuning.plausible_height(posterior.dim))
    lost = np.setdiff1d(np.arange(len(positions)), typical)
    positions = positions.copy()
    positions[lost] = positions[rng.choice(typical, len(lost))]
    return run_chains(
        posterior.values_and_gradients,
        (positions, *posterior.values_and_gradients(positions)),
        transitions=transitions,
        step_size=posterior.dim**-0.25,
        rng=rng,
        tuning=posterior.tuning.trajectories,
        shorten=True,
    ).draws


def temperature(dim: int) -> float:
    """Temperature at which a standard normal density is one standard deviation wider in radius."""
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
    chains = run_chains(
        tempered, start, transitions=transitions, step_size=step, rng=rng, tuning=posterior.tuning.trajectories
    )
    return chains.draws, chains.potentials
