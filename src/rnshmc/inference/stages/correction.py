"""The exact potential at draws of the finished surrogate: corrected expectations, and exact MCMC draws."""

from dataclasses import dataclass

import numpy as np

from rnshmc.diagnostics.summary import MIN_DRAWS, summarise
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.outcome import Surrogate
from rnshmc.inference.result.verdict import MIXED
from rnshmc.inference.result.weights import smoothed, weight_variance
from rnshmc.inference.stages.tails import Tails
from rnshmc.inference.stages.training import checks_for
from rnshmc.inference.surrogate.paths import draw_paths
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_chains
from rnshmc.types import Array

STAGE = "correction"
FIRST, FACTOR, ROUNDS = 100, 2, 5
TELLING = 200
"""Weights of which a heavy tail is believed; fewer have one by chance."""
SETTLE, TRANSITIONS = 20, 200
RHAT_CHAINS, DOUBLINGS = 8, 4
"""Chains of the surrogate whose R-hat is computed, and how often they are made twice as long until it is `MIXED`."""
EXACT_CHAINS = 4


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact draws (chains, n, d) in x, their potentials (chains, n), and the mean acceptance of the steps to them."""

    draws: Array
    potentials: Array
    acceptance: float


@dataclass(frozen=True, eq=False)
class Checked:
    """Draws of the surrogate with exact potentials: x (m, d), U (m,), U - V (m,), and whether they failed (m,)."""

    points: Array
    values: Array
    differences: Array
    failed: Array


def draw_surrogate(posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator) -> Array:
    """Draws of the surrogate posterior in x, shape (chains, n, d), from chains as long as it takes them to agree.

    They cost no exact evaluation. Chains that disagree go on for twice as long, of which every second draw is kept,
    and so on; what went before is warm-up.
    """
    kept = draw_chains(posterior, positions, transitions=SETTLE + TRANSITIONS, rng=rng)[:, SETTLE:]
    for doubled in range(1, DOUBLINGS + 1):
        if largest_rhat(kept[:RHAT_CHAINS]) <= MIXED:
            break
        every = 2**doubled
        kept = draw_chains(posterior, kept[:, -1], transitions=every * TRANSITIONS, rng=rng)[:, every - 1 :: every]
    return posterior.whitening.unwhiten(kept.reshape(-1, posterior.dim)).reshape(kept.shape)


def largest_rhat(draws: Array) -> float:
    """Largest rank-normalised split R-hat of a coordinate of chains (chains, n, d); NaN for fewer than eight draws."""
    return float(np.max(summarise(draws).rhat)) if draws.shape[1] >= 2 * MIN_DRAWS else np.nan


def check(
    archive: Archive,
    posterior: SurrogatePosterior,
    draws: Array,
    *,
    aim: float,
    variance: float,
    rng: np.random.Generator,
) -> Checked:
    """Exact values at surrogate draws, as many as corrections to a precision of ``aim`` draws need.

    Parameters
    ----------
    draws
        (chains, n, d); points are taken from all chains evenly and far apart within one.
    variance
        What is known so far of the variance of the importance weights.
    """
    order = _scattered(draws, rng)
    checked = Checked(np.zeros((0, archive.dim)), np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool))
    for _ in range(ROUNDS):
        # A single large weight among few must not decide at once how many there are to be.
        most = FACTOR * len(checked.values) if len(checked.values) else FIRST
        needed = checks_for(aim, variance)
        if len(checked.values) and smoothed(-checked.differences[~checked.failed]).heavy:
            needed = max(needed, min(most, TELLING))
        wanted = min(needed, most, len(order)) - len(checked.values)
        if wanted <= 0:
            break
        points = order[len(checked.values) : len(checked.values) + wanted]
        archive.expected_units = archive.spent.units + wanted
        found = archive.evaluate(points, STAGE, gradient=False)
        values = np.array([one.value for one in found])
        failed = np.array([one.failure is not None for one in found])
        checked = Checked(
            np.concatenate((checked.points, points)),
            np.concatenate((checked.values, values)),
            np.concatenate((checked.differences, values - posterior.values(points))),
            np.concatenate((checked.failed, failed)),
        )
        variance = weight_variance(checked.differences[~checked.failed])
        archive.surrogate_error = float(np.sqrt(variance))
    return checked


def surrogate_of(
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    tails: Tails,
    *,
    aim: float,
    rng: np.random.Generator,
) -> Surrogate:
    """Ingredients of corrected expectations. Failed evaluations are left out, those of zero density weigh nothing.

    Raises
    ------
    FitError
        If the covariance of the surrogate's process cannot be factored.
    """
    kept = ~checked.failed
    points, differences = checked.points[kept], checked.differences[kept]
    paths = draw_paths(posterior, posterior.whitening.whiten(draws[:, -1]), points, differences, rng)
    chains, _, dim = draws.shape
    return Surrogate(draws.reshape(-1, dim), points, differences, smoothed(-differences), paths, chains, tails, aim)


def metropolis(checked: Checked, rng: np.random.Generator) -> Exact:
    """Independence Metropolis over the checked draws, each proposed once: exact for independent surrogate draws.

    The draws are the states of chains of equal length, the first of them started at a checked draw. A failed
    evaluation or a density of zero rejects.
    """
    usable = len(checked.values) // EXACT_CHAINS
    dim = checked.points.shape[1]
    draws, potentials = np.empty((EXACT_CHAINS, usable, dim)), np.empty((EXACT_CHAINS, usable))
    probabilities = []
    for chain in range(EXACT_CHAINS):
        mine = np.arange(chain, usable * EXACT_CHAINS, EXACT_CHAINS)
        state = -1
        for k, proposal in enumerate(mine):
            log_ratio = -np.inf
            if np.isfinite(checked.differences[proposal]):
                log_ratio = np.inf if state < 0 else checked.differences[state] - checked.differences[proposal]
            if state >= 0:
                probabilities.append(float(np.exp(min(log_ratio, 0.0))))
            if np.log(rng.uniform()) < log_ratio:
                state = int(proposal)
            draws[chain, k] = checked.points[state] if state >= 0 else np.nan
            potentials[chain, k] = checked.values[state] if state >= 0 else np.nan
    settled = ~np.isnan(potentials).any(axis=0)
    return Exact(draws[:, settled], potentials[:, settled], float(np.mean(probabilities)) if probabilities else np.nan)


def _scattered(draws: Array, rng: np.random.Generator) -> Array:
    """Draws in an order in which neighbours come from different chains, and those of one chain from far apart."""
    chains, n, dim = draws.shape
    times = rng.permutation(np.arange(n - 1, -1, -max(1, n // 10)))
    scattered: Array = draws[rng.permutation(chains)][:, times].transpose(1, 0, 2).reshape(-1, dim)
    return scattered
