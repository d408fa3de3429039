"""A search for all modes of a forward model's posterior, on emulated outputs: it costs runs only where they teach."""

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.emulation import minimum
from rnshmc.inference.surrogate.emulated import EmulatedPotential, emulate
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.inference.tuning_start import Surveying
from rnshmc.types import Array

STAGE = "survey"


@dataclass(frozen=True, eq=False)
class Survey:
    """Minima of the emulated potential, (k, d) in x, the lowest first, and the number of runs that the search took."""

    minima: Array
    runs: int


def survey(archive: Archive, draws: Array, rng: np.random.Generator, tuning: Tuning) -> Survey:
    """Search the prior for minima of the emulated potential.

    The outputs are emulated from runs at draws of the prior. In each round the model is run at minima that the emulator
    is not sure of, found by descents on it, and at draws of the prior that are weighted by the emulated posterior, at a
    temperature at which `Surveying.effective` of them have weight. It ends after rounds that find nothing new.

    Parameters
    ----------
    draws
        Of the prior, (n, d) in x.

    Raises
    ------
    BudgetSpent
        When the budget ends.
    FitError
        If the outputs cannot be emulated.
    """
    own, dim = tuning.surveying, archive.dim
    runs = len(archive.evaluate(draws[: own.first[0] + own.first[1] * dim], STAGE))
    whitening = Whitening.of_draws(draws)
    z, found, quiet = whitening.whiten(draws), np.zeros((0, dim)), 0
    for _ in range(own.rounds):
        potential = _emulator(archive, whitening)
        chances = _tempered(_hopeful(potential, z, own), own.effective)
        starts = z[rng.choice(len(z), own.descents, p=chances)]
        lowest = whitening.whiten(archive.lowest.point[None])
        minima = _distinct(potential, _descended(potential, np.concatenate((lowest, found, starts)), z), own)
        unsure = minima[potential.covariance(minima).diagonal() > own.sure][: own.each]
        quiet = 0 if len(unsure) or len(minima) > len(found) else quiet + 1
        found = minima
        if quiet > own.quiet:
            break
        spread = z[rng.choice(len(z), own.each, p=chances)]
        runs += len(archive.evaluate(whitening.unwhiten(np.concatenate((unsure, spread))), STAGE))
    values = potential.values_and_gradients(found)[0]
    kept = found[values <= values.min() + own.highest]
    return Survey(whitening.unwhiten(kept), runs)


def _emulator(archive: Archive, whitening: Whitening) -> EmulatedPotential:
    training = archive.training()
    assert training.runs is not None
    return emulate(training, training.runs, whitening)


def _hopeful(potential: EmulatedPotential, z: Array, tuning: Surveying) -> Array:
    """The lowest plausible values of U at rows of z, (k,), by the emulator: a mode may be where it is unsure.

    None is below the lowest V: otherwise the points of which least is known would be the most plausible.
    """
    values = potential.values_and_gradients(z)[0]
    sds = np.sqrt(potential.covariance(z).diagonal())
    return np.asarray(np.maximum(values - tuning.hope * sds, values.min()))


def _tempered(values: Array, effective: float) -> Array:
    """Probabilities in proportion to exp(-V / T), (n,), with the smallest T for which so many draws have weight."""
    heights = np.where(np.isfinite(values), values - values.min(), np.inf)

    def weights(log_temperature: float) -> Array:
        found = np.exp(-heights / np.exp(log_temperature))
        return np.asarray(found / found.sum())

    def excess(log_temperature: float) -> float:
        return float(1.0 / (weights(log_temperature) ** 2).sum() - effective)

    low, high = 0.0, float(np.log1p(heights[np.isfinite(heights)].max())) + np.log(len(heights))
    if excess(low) >= 0.0 or excess(high) <= 0.0:
        return weights(low if excess(low) >= 0.0 else high)
    return weights(optimize.brentq(excess, low, high, xtol=0.01))


def _descended(potential: EmulatedPotential, starts: Array, z: Array) -> Array:
    """Minima of V that descents from each start find, (k, d), within the box of the draws."""
    box = optimize.Bounds(z.min(axis=0), z.max(axis=0))
    return np.array([minimum(potential, box, start)[0] for start in np.clip(starts, box.lb, box.ub)])


def _distinct(potential: EmulatedPotential, minima: Array, tuning: Surveying) -> Array:
    """The minima that a higher potential divides from all lower ones, and that are not too high, the lowest first."""
    values, hopeful = potential.values_and_gradients(minima)[0], _hopeful(potential, minima, tuning)
    kept: list[Array] = []
    for k in np.argsort(values):
        low = hopeful[k] <= values.min() + tuning.highest
        if low and all(_divided(potential, minima[k], other, values[k] + tuning.barrier) for other in kept):
            kept.append(minima[k])
    return np.array(kept)


def _divided(potential: EmulatedPotential, one: Array, other: Array, height: float) -> bool:
    """Whether the potential is anywhere that high on the straight way between two points."""
    way = one + np.linspace(0.0, 1.0, 34)[1:-1, None] * (other - one)
    return bool(potential.values_and_gradients(way)[0].max() > height)
