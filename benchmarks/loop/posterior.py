"""The surrogate posterior: an emulator in whitened coordinates, with a wall around it."""

from dataclasses import dataclass

import numpy as np
from loop.density import DensityEmulator
from loop.learning import Search, learnt

from rnshmc.errors import FitError
from rnshmc.inference.exact.archive import Training
from rnshmc.inference.surrogate.chains import run_chains
from rnshmc.inference.surrogate.posterior import plausible
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Fitting
from rnshmc.inference.tuning_shared import reach_of
from rnshmc.types import Array

FARTHER = 1.3
"""Distance of the wall from the centre, relative to that of the farthest likely point."""
ALMOST = 1.0 + 1e-6
"""Points at the wall are within it, whatever their rounding."""
OUTER, STEEP = 2.0, 12.0
"""Radii at which the steep rise begins, and its slope, in units of what a proper density needs."""


@dataclass(frozen=True, eq=False)
class SurrogatePosterior:
    """V in whitened coordinates z, and how they relate to x.

    Beyond the wall, a sphere, V rises along rays with the logarithm of the distance, with its slope at the wall and at
    least so fast that variances exist: tails are powers there. Far beyond, a steep rise ends tempered densities.

    Attributes
    ----------
    whitening
        From x to z.
    kernel
        V within the wall, and its process.
    radius
        Of the wall.
    offset
        Exact potential at V = 0.
    tuning
        What it was fitted with.
    """

    whitening: Whitening
    kernel: DensityEmulator
    radius: float
    offset: float
    tuning: Fitting

    @property
    def dim(self) -> int:
        """Dimension."""
        return self.kernel.dim

    def values_and_gradients(self, z: Array) -> tuple[Array, Array]:
        """V at the rows of z, and its gradients with respect to z."""
        norms = _norms(z)
        outward, shares = z / norms[:, None], np.minimum(1.0, self.radius / norms)
        values, gradients = self.kernel.values_and_gradients(z * shares[:, None])
        along = (gradients * outward).sum(axis=1)
        across = (gradients - outward * along[:, None]) * shares[:, None]
        power = np.maximum(self.radius * along, self.dim + 3.0)
        end = STEEP * (self.dim + 1.0) / self.radius
        far = np.maximum(norms - OUTER * self.radius, 0.0)
        rises = np.where(norms > self.radius, power / norms + end * (far > 0.0), along)
        return values - power * np.log(shares) + end * far, across + outward * rises[:, None]

    def covariance(self, z: Array) -> Array:
        """Covariance of U - V at the rows of z, by the Gaussian process."""
        return self.kernel.covariance(z * np.minimum(1.0, self.radius / _norms(z))[:, None])

    def values(self, x: Array) -> Array:
        """V at the rows of x, on the scale of the exact potential."""
        return self.values_and_gradients(self.whitening.whiten(x))[0] + self.offset


def _norms(z: Array) -> Array:
    return np.asarray(np.maximum(np.sqrt((z**2).sum(axis=1)), np.finfo(float).eps ** 2))


def wall_radius(training: Training, whitening: Whitening, tuning: Fitting) -> float:
    """Whitened distance of the wall: beyond all likely points, and typical draws of a normal density."""
    likely = whitening.whiten(plausible(training, tuning).points)
    least = np.sqrt(len(whitening.centre)) + tuning.wall
    return max(float(least), tuning.wall_margin + FARTHER * float(_norms(likely).max(initial=0.0)))


def within_reach(training: Training, whitening: Whitening, tuning: Fitting) -> Training:
    """The training points near the centre, or within the wall: the nearest, if the system would be too large."""
    dim = training.points.shape[1]
    norms = np.linalg.norm(whitening.whiten(training.points), axis=1)
    order = np.argsort(norms, kind="stable")
    reach = max(reach_of(dim), ALMOST * wall_radius(training, whitening, tuning))
    order = order[norms[order] < reach]
    rows = np.where(np.isfinite(training.gradients[order]).all(axis=1), tuning.rows_of(dim), 1)
    return training.where(order[np.cumsum(rows) <= tuning.most_rows])


def fit_posterior(
    training: Training,
    whitening: Whitening,
    rng: np.random.Generator,
    tuning: Fitting,
    *,
    like: DensityEmulator | None = None,
    search: bool = True,
) -> SurrogatePosterior:
    """Fit the surrogate posterior to the training points within reach.

    Parameters
    ----------
    training
        Points with finite potentials.
    whitening
        Coordinates to fit in.
    rng
        Chooses points for the search of a covariance.
    like
        A fit whose covariance is where the search begins, or is used as it is where nothing is searched.

    Raises
    ------
    FitError
        If there are too few points, or no system can be solved.
    """
    near = within_reach(training, whitening, tuning)
    if len(near.values) < 2:
        raise FitError(f"{len(near.values)} points are too few for a surrogate")
    offset = float(near.values.min())
    radius = wall_radius(near, whitening, tuning)
    begun = Search(None if like is None else like.kind, search)
    kernel = learnt(near, whitening, offset, rng, tuning, extent=radius, search=begun)
    return SurrogatePosterior(whitening, kernel, radius, offset, tuning)


def draw_tempered(
    posterior: SurrogatePosterior,
    positions: Array,
    temperatures: Array,
    *,
    settle: int,
    kept: int,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    """Whitened draws of exp(-V / T) at several temperatures, (temperatures, chains, kept, d), and V there.

    Chains of HMC at neighbouring temperatures exchange their states (parallel tempering), so that those at the lowest
    one go from mode to mode as those at the highest do. A chain that starts where the surrogate is implausibly high
    starts at the position of another one instead.

    Parameters
    ----------
    positions
        Where they start, (temperatures, chains, d).
    temperatures
        In ascending order.
    settle, kept
        Draws that are left out, and draws: every second transition is one.
    """
    positions = np.array([_found_again(posterior, some, rng) for some in positions])
    every, potentials = np.empty((settle + kept, *positions.shape)), np.empty((settle + kept, *positions.shape[:2]))
    for k in range(settle + kept):
        for t, hot in enumerate(temperatures):
            positions[t], potentials[k, t] = _moved(posterior, positions[t], float(hot), rng)
        for t in range(len(temperatures) - 1):
            colder, hotter = potentials[k, t], potentials[k, t + 1]
            gain = (1.0 / temperatures[t] - 1.0 / temperatures[t + 1]) * (colder - hotter)
            swapped = np.log(rng.uniform(size=len(colder))) < gain
            positions[t : t + 2, swapped] = positions[t : t + 2, swapped][::-1]
            potentials[k, t : t + 2, swapped] = potentials[k, t : t + 2, swapped][:, ::-1]
        every[k] = positions
    return every[settle:].transpose(1, 2, 0, 3), potentials[settle:].transpose(1, 2, 0)


def _found_again(posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator) -> Array:
    """Positions of chains, those of implausible ones replaced."""
    values = posterior.values_and_gradients(positions)[0]
    typical = np.flatnonzero(values <= np.median(values) + posterior.tuning.plausible_height(posterior.dim))
    lost = np.setdiff1d(np.arange(len(positions)), typical)
    positions = positions.copy()
    positions[lost] = positions[rng.choice(typical, len(lost))]
    return positions


def _moved(
    posterior: SurrogatePosterior, positions: Array, temperature: float, rng: np.random.Generator
) -> tuple[Array, Array]:
    """Positions after two transitions at a temperature, the second with shorter steps every other time, and V there."""

    def tempered(z: Array) -> tuple[Array, Array]:
        values, gradients = posterior.values_and_gradients(z)
        return values / temperature, gradients / temperature

    chains = run_chains(
        tempered,
        (positions, *tempered(positions)),
        transitions=2,
        step_size=np.sqrt(temperature) * posterior.dim**-0.25,
        rng=rng,
        tuning=posterior.tuning.trajectories,
        shorten=bool(rng.integers(2)),
    )
    return chains.draws[:, -1], temperature * chains.potentials[:, -1]
