"""Modes of a forward model's posterior on emulated outputs, from draws of its prior."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import optimize
from scipy.special import logsumexp

from rnshmc.factors import log_diagonal
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.starts import PriorDraws
from rnshmc.inference.surrogate.emulated import STEP, EmulatedPotential, emulate
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_shared import ROUNDS, TOLERATED, TRIES
from rnshmc.inference.tuning_start import Surveying
from rnshmc.types import Array

SURVEY = "survey"
FLAT = 0.1
"""Smallest curvature at a minimum, in units of that of the prior."""
LOWEST = -1e9
"""Log likelihood that stands for lower ones, whose differences overflow."""


@dataclass(frozen=True, eq=False)
class Survey:
    """Minima of the emulated potential, (k, d) in x, the lowest first, and the number of runs that the search took.

    ``elsewhere`` is the largest share of the posterior outside of these modes.
    """

    minima: Array
    runs: int
    elsewhere: float


@dataclass(frozen=True, eq=False)
class _Minima:
    """Minima of an averaged potential, (k, d) in z, the lowest first."""

    places: Array
    known: npt.NDArray[np.bool_]
    """Whether the emulator is certain of each, (k,); at least one is known."""
    log_masses: Array
    """Logarithms of their masses relative to those of all that are known, (k,)."""
    hidden: float
    """Mass that the emulator's errors add at draws of the prior where they matter, in the same units."""
    spread: Array
    """Tempered draws at which the model may be run next, (n, d) in z."""

    @property
    def elsewhere(self) -> float:
        """Share of the posterior outside of the known minima."""
        mass = self.hidden + float(np.exp(self.log_masses[~self.known]).sum())
        return mass / (1.0 + mass)

    def open(self, tuning: Surveying) -> Array:
        """Minima whose mass may matter and is not known, the largest first."""
        chosen = np.flatnonzero(~self.known & (self.log_masses > -tuning.negligible))
        return np.asarray(self.places[chosen[np.argsort(-self.log_masses[chosen])]])


def survey(archive: Archive, draws: PriorDraws, modes: Array, rng: np.random.Generator, tuning: Tuning) -> Survey:
    """Search draws of the prior, in x, for minima of the emulated potential other than the known modes, (k, d).

    The outputs are emulated from all runs, the first of which are at draws of the prior. The posterior of a likelihood
    that is averaged over the emulator's errors is high where these errors may hide a mode. In each round the model is
    run at its peaks of which the emulator is uncertain, and at draws of the prior that are weighted by it, at a
    temperature at which `Surveying.effective` of them have weight. The search ends after rounds in which nothing is
    found or left open. Raises FitError if the outputs cannot be emulated.
    """
    own = tuning.surveying
    first, runs = own.first * max(archive.dim, ROUNDS), 0
    whitening, points = Whitening.of_draws(draws.points), draws.points[:first]
    found, certain, quiet = whitening.whiten(archive.coordinates.transform.wrapped(modes)), len(modes), 0
    for _ in range(own.rounds):
        runs += len(archive.evaluate(points, SURVEY))
        minima = _minima(archive, whitening, draws, found, rng, own)
        unsure, found = minima.open(own), minima.places
        settled = minima.hidden <= own.left and not len(unsure) and minima.known.sum() <= certain
        quiet, certain = quiet + 1 if settled else 0, int(minima.known.sum())
        points = whitening.unwhiten(np.concatenate((unsure[: own.each], minima.spread)))
        if quiet > own.quiet:
            break
    kept = minima.places[minima.known & (minima.log_masses > -own.highest)]
    return Survey(whitening.unwhiten(kept), runs, minima.elsewhere)


def share_elsewhere(
    archive: Archive, draws: PriorDraws, modes: Array, rng: np.random.Generator, tuning: Surveying
) -> float:
    """Largest share of the posterior outside of the known modes, (k, d), by an emulator of all runs.

    Raises FitError if the outputs cannot be emulated.
    """
    whitening = Whitening.of_draws(draws.points)
    found = whitening.whiten(archive.coordinates.transform.wrapped(modes))
    return _minima(archive, whitening, draws, found, rng, tuning).elsewhere


def _emulated(archive: Archive, whitening: Whitening) -> EmulatedPotential:
    """The emulated potential in given coordinates, from all runs; angles have images."""
    training, angles = archive.training(), archive.coordinates.transform.angles
    if angles is not None:
        places, rows = angles.with_images(training.points)
        training = replace(training.where(rows), points=places)
    assert training.runs is not None
    return emulate(training, training.runs, whitening)


@dataclass(frozen=True, eq=False)
class _Averaged:
    """The potential of a likelihood that is averaged over the emulator's errors, less the offset of V, at rows of z."""

    potential: EmulatedPotential
    power: float
    """Of the share of errors that agree with the data, see `Surveying.agreeing`."""

    def __call__(self, z: Array) -> tuple[Array, Array, Array]:
        """Its values, and the log likelihood without the errors and averaged over them: each (k,)."""
        plain, mean = self.potential.log_likelihoods(z, self.power)
        found = self.potential.values_and_gradients(z)[0] + np.maximum(plain, LOWEST) - np.maximum(mean, LOWEST)
        return np.where(np.isfinite(found), found, -LOWEST), plain, mean


def _minima(
    archive: Archive, whitening: Whitening, draws: PriorDraws, found: Array, rng: np.random.Generator, tuning: Surveying
) -> _Minima:
    """Minima where descents from the lowest run, those found before, the lowest and tempered draws end.

    Descents stay within the box of draws. Minima beside points where the model failed or the density is zero are left
    out: the emulator does not learn it.
    """
    potential, z = _emulated(archive, whitening), whitening.whiten(draws.points)
    averaged, zeros = _Averaged(potential, tuning.agreeing), whitening.whiten(archive.zeros(failed=True))
    heights, plain, mean = averaged(z)
    chances = _tempered(heights, tuning.effective)
    drawn, spread = (z[rng.choice(len(z), count, p=chances)] for count in (tuning.descents, tuning.spread))
    lowest = whitening.whiten(archive.coordinates.transform.wrapped(archive.lowest.point[None]))
    starts = np.concatenate((lowest, found, z[[np.argmin(heights)]], drawn))
    box = optimize.Bounds(np.minimum(z.min(axis=0), starts.min(axis=0)), np.maximum(z.max(axis=0), starts.max(axis=0)))
    places = np.array([_peak(averaged, box, start) for start in starts])
    beside = (np.linalg.norm(places[:, None] - zeros, axis=2) < TOLERATED).any(axis=1)
    places = _distinct(averaged, places[~beside] if not beside.all() else places, tuning)
    known = potential.covariance(places).diagonal() <= tuning.sure**2
    known[0] |= not known.any()
    log_masses = np.array([_log_mass(averaged, place) for place in places])
    total = logsumexp(log_masses[known])
    # Draw by draw: mass that the mean of the outputs gives to wrong places would cancel what errors hide at others. And
    # where errors matter little there is no other mode, but a known one whose surrogate is checked later.
    hidden = mean > plain + tuning.barrier
    plain, mean = (np.exp(np.minimum(some + draws.log_weights - total, 0.0))[hidden] for some in (plain, mean))
    return _Minima(places, known, log_masses - total, float((mean - plain).sum()), spread)


def _peak(averaged: _Averaged, box: optimize.Bounds, start: Array) -> Array:
    """The end of a descent on the averaged potential within a box."""
    steps = STEP * np.eye(len(start) + 1, len(start), k=-1)

    def value(z: Array) -> tuple[float, Array]:
        here, *ahead = averaged(z + steps)[0]
        return float(here), (np.array(ahead) - here) / STEP

    # The next round continues.
    found = optimize.minimize(value, start, jac=True, method="L-BFGS-B", bounds=box, options={"maxiter": TRIES})
    return np.asarray(found.x)


def _log_mass(averaged: _Averaged, z: Array) -> float:
    """log of the integral of exp(-U) around a minimum, averaged over the emulator's errors, by Laplace's method."""
    potential = averaged.potential
    curvatures, axes = np.linalg.eigh(potential.mean_hessian(z[None]))
    curvatures = np.maximum(curvatures, FLAT)
    steps = (axes / np.sqrt(curvatures)).T
    around = np.concatenate((z[None], z + steps, z - steps))
    heights = averaged(around)[0] + potential.offset
    # Errors widen a mode: there is mass at more places, and less at each.
    ahead, behind = heights[1:].reshape(2, -1)
    curvatures = np.clip((ahead + behind - 2.0 * heights[0]) * curvatures, FLAT, curvatures)
    volume = 0.5 * (potential.dim * np.log(2.0 * np.pi) - np.log(curvatures).sum())
    return float(volume - heights[0] - log_diagonal(potential.whitening.factor).sum())


def _tempered(values: Array, effective: float) -> Array:
    """Probabilities in proportion to exp(-V / T), (n,), with the smallest T for which so many draws have weight."""
    heights = values - values.min()

    def weights(log_temperature: float) -> Array:
        found = np.exp(-heights / np.exp(log_temperature))
        return np.asarray(found / found.sum())

    def excess(log_temperature: float) -> float:
        return float(1.0 / (weights(log_temperature) ** 2).sum() - effective)

    low, high = 0.0, float(np.log1p(heights.max())) + np.log(len(heights))
    if excess(low) >= 0.0 or excess(high) <= 0.0:
        return weights(low if excess(low) >= 0.0 else high)
    return weights(optimize.brentq(excess, low, high, xtol=0.01))


def _distinct(averaged: _Averaged, minima: Array, tuning: Surveying) -> Array:
    """The minima that a higher potential divides from all lower ones, and that are not too high, the lowest first."""
    values, kept = averaged(minima)[0], list[Array]()
    for k in np.argsort(values):
        low = values[k] <= values.min() + tuning.highest
        if low and all(_divided(averaged, minima[k], other, values[k] + tuning.barrier) for other in kept):
            kept.append(minima[k])
    return np.array(kept)


def _divided(averaged: _Averaged, one: Array, other: Array, height: float) -> bool:
    """Whether the potential is that high anywhere on the straight line between two points."""
    line = one + np.linspace(0.0, 1.0, 34)[1:-1, None] * (other - one)
    return bool(averaged(line)[0].max() > height)
