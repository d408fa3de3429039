"""The exact potential at draws of the finished surrogate, and exact MCMC draws from that."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt
from scipy.stats import chi2

from rnshmc.diagnostics.summary import MIN_DRAWS, rhats
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.decision import checks_for
from rnshmc.inference.surrogate.posterior import SurrogatePosterior, draw_chains
from rnshmc.inference.surrogate.weights import Influence, smoothed, weight_variance
from rnshmc.inference.tuning import Correction, Training, Tuning
from rnshmc.inference.tuning_shared import MANY, RARE
from rnshmc.inference.warp import Warp
from rnshmc.types import Array

STAGE = "correction"


@dataclass(frozen=True, eq=False)
class Exact:
    """Exact draws (chains, n, d) in x, their potentials (chains, n), and the mean acceptance of the steps to them."""

    draws: Array
    potentials: Array
    acceptance: float

    @classmethod
    def none(cls, dim: int) -> Self:
        """No draws."""
        return cls(np.empty((0, 0, dim)), np.empty((0, 0)), np.nan)

    @classmethod
    def joined(cls, blocks: Sequence["Exact"]) -> "Exact":
        """Blocks of the same chains, one after the other."""
        draws, potentials = np.hstack([one.draws for one in blocks]), np.hstack([one.potentials for one in blocks])
        return cls(draws, potentials, float(np.mean([one.acceptance for one in blocks])))

    def whole(self, archive: Archive) -> "Exact":
        """With potentials of the whole density, where a part of it was sampled."""
        rows = self.draws.reshape(-1, self.draws.shape[-1])
        return replace(self, potentials=archive.whole(rows, self.potentials.ravel()).reshape(self.potentials.shape))

    def straightened(self, bend: Warp) -> "Exact":
        """In coordinates without the bend in which they were drawn."""
        rows = self.draws.reshape(-1, self.draws.shape[-1])
        potentials = self.potentials + bend.log_jacobians(rows).reshape(self.potentials.shape)
        return Exact(bend.forward(rows).reshape(self.draws.shape), potentials, self.acceptance)


@dataclass(frozen=True, eq=False)
class Checked:
    """Draws of the surrogate with exact potentials: x (m, d), U (m,), U - V (m,), and whether they failed (m,)."""

    points: Array
    values: Array
    differences: Array
    failed: npt.NDArray[np.bool_]

    @classmethod
    def none(cls, dim: int) -> Self:
        """No draws."""
        return cls(np.zeros((0, dim)), np.zeros(0), np.zeros(0), np.zeros(0, dtype=bool))

    def where(self, chosen: npt.NDArray[np.intp]) -> "Checked":
        """The draws with these indices."""
        return Checked(self.points[chosen], self.values[chosen], self.differences[chosen], self.failed[chosen])

    def straightened(self, bend: Warp) -> "Checked":
        """In coordinates without the bend in which they were drawn."""
        return replace(self, points=bend.forward(self.points), values=self.values + bend.log_jacobians(self.points))

    def joined(self, other: "Checked") -> "Checked":
        """The draws of both."""
        pairs = ((getattr(self, name), getattr(other, name)) for name in ("points", "values", "differences", "failed"))
        return Checked(*(np.concatenate(pair) for pair in pairs))


def draw_surrogate(
    posterior: SurrogatePosterior, positions: Array, rng: np.random.Generator, tuning: Correction
) -> Array:
    """Draws of the surrogate posterior in x, shape (chains, n, d), from chains as long as it takes them to agree.

    They cost no exact evaluation. Chains that disagree are continued for twice as long, thinned to the same number of
    draws, and so on; all earlier draws are warm-up. Chains in different places are given up halfway.
    """
    n = tuning.transitions
    kept = draw_chains(posterior, positions, transitions=tuning.settle + n, rng=rng)[:, tuning.settle :]
    for doubled in range(1, tuning.doublings + 1):
        # In the verdict's coordinates, too: chains may disagree in either and agree in the other.
        rhat = max(largest_rhat(kept), largest_rhat(_unwhitened(posterior, kept)))
        if rhat <= tuning.rhat or (rhat > tuning.hopeless and doubled > tuning.doublings // 2):
            break
        every = 2**doubled
        kept = draw_chains(posterior, kept[:, -1], transitions=every * n, rng=rng)[:, every - 1 :: every]
    return _unwhitened(posterior, kept)


def _unwhitened(posterior: SurrogatePosterior, chains: Array) -> Array:
    return posterior.whitening.unwhiten(chains.reshape(-1, posterior.dim)).reshape(chains.shape)


def largest_rhat(draws: Array) -> float:
    """Largest rank-normalised split R-hat of a coordinate of chains (chains, n, d); NaN for fewer than eight draws."""
    return float(np.max(rhats(draws))) if draws.shape[1] >= 2 * MIN_DRAWS else np.nan


def check(
    archive: Archive,
    posterior: SurrogatePosterior,
    draws: Array,
    rng: np.random.Generator,
    tuning: Tuning,
    *,
    aim: float,
    variance: float,
    early: int = 0,
) -> Iterator[Checked]:
    """Exact values at draws of the surrogate, as many as corrections to a precision of ``aim`` draws need.

    Yields all of them after each round. Points are taken evenly from all chains, (chains, n, d), and far apart within
    one. ``variance`` is that of the importance weights, as known so far; ``early`` as in `without_density`.
    """
    order = scattered(draws, rng)
    checked = Checked.none(archive.dim)
    while True:
        edged = len(without_density(archive, posterior, draws, early)) > 0
        wanted = min(_needed(checked, aim, variance, tuning, edged=edged), len(order)) - len(checked.values)
        if wanted <= 0:
            break
        checked = with_more(archive, posterior, order, checked, wanted)
        variance = weight_variance(checked.differences)
        archive.note_error(float(np.sqrt(variance)))
        yield checked


def without_density(
    archive: Archive,
    posterior: SurrogatePosterior,
    draws: Array,
    early: int,
    *,
    failed: bool = True,
) -> Array:
    """Points evaluated so far, (n, d), where draws of the surrogate are expected and the density is zero.

    The first few, ``early``, are left out: searches for a mode go far along single axes.

    Draws are expected where the surrogate's potential is not above its value at nearly all draws, (chains, n, d).
    Failed evaluations count as a density of zero, unless ``failed`` is false. Behind an edge across several
    coordinates, say, the surrogate does not end, and a few draws may all be on this side of it.
    """
    points = archive.zeros(failed=True)[early:]
    if not failed:
        zeros = {point.tobytes() for point in archive.zeros()}
        points = points[np.array([point.tobytes() in zeros for point in points], dtype=bool)]
    if not len(points):
        return points
    highest = np.quantile(posterior.values(draws[:, -1]), 1.0 - RARE)
    return np.asarray(points[posterior.values(points) <= highest])


def without_random_failures(checked: Checked, draws: Array) -> Checked:
    """The checked draws whose evaluations did not fail, if others failed at random; otherwise all.

    At random: the draws that failed have the mean position and mean squared distance from the centre of all draws
    (chains, n, d), by Hotelling's test. The others are draws of the surrogate then.
    """
    count = np.count_nonzero(checked.failed)
    if count in (0, len(checked.values)):
        return checked
    rows = draws.reshape(-1, draws.shape[-1])
    centre, scale = rows.mean(axis=0), np.maximum(rows.std(axis=0), np.finfo(float).tiny)
    every, failed = (
        np.column_stack((z, (z**2).sum(axis=1)))
        for z in ((x - centre) / scale for x in (rows, checked.points[checked.failed]))
    )
    apart = failed.mean(axis=0) - every.mean(axis=0)
    statistic = count * apart @ np.linalg.pinv(np.cov(every.T), hermitian=True) @ apart
    return checked if chi2.sf(statistic, len(apart)) < RARE else checked.where(np.flatnonzero(~checked.failed))


def with_more(archive: Archive, posterior: SurrogatePosterior, order: Array, checked: Checked, wanted: int) -> Checked:
    """Add exact values at the next ``wanted`` rows of ``order``, draws of a surrogate whose first rows are checked.

    The budget may allow only some of them; the next call then raises.
    """
    points = order[len(checked.values) :][:wanted]
    points = points[: max(1, archive.affordable(points))]
    archive.journal.expected_units = archive.spent.units + len(points)
    found = archive.evaluate(points, STAGE, gradient=False)
    values = np.array([one.value for one in found])
    failed = np.array([one.failure is not None for one in found])
    return checked.joined(Checked(points, values, values - posterior.values(points), failed))


def choose(
    archive: Archive,
    posterior: SurrogatePosterior,
    draws: Array,
    checked: Checked,
    rng: np.random.Generator,
    tuning: Tuning,
    *,
    aim: float,
) -> tuple[Influence, Checked] | None:
    """Exact values at draws (chains, n, d) that decide variances where tails are long; None where none is.

    A few dozen draws of the surrogate contain none of these, and do not show its errors there. They are chosen in
    rounds, until the remaining errors of variances are small compared with those of ``aim`` draws.
    """
    rows = draws.reshape(-1, draws.shape[-1])
    influence = Influence.over(rows, archive.bend.forward)
    weights = smoothed(-checked.differences)
    if not len(influence.columns) or not weights.efficiency > least_efficiency(tuning.training):
        return None
    shares = influence.at(rows)
    most = min(MANY, np.count_nonzero(shares))
    order = rows[rng.choice(len(rows), most, replace=False, p=shares / shares.sum())]
    chosen = Checked.none(archive.dim)
    while len(chosen.values) < len(order):
        chosen = with_more(archive, posterior, order, chosen, tuning.correction.influential)
        if influence.noise(checked.points, weights, chosen.points, chosen.differences) * aim <= tuning.tails.small:
            break
    return influence, chosen


def _needed(checked: Checked, aim: float, variance: float, tuning: Tuning, *, edged: bool) -> int:
    """Number of exact values, those already checked included.

    A single large weight among few must not decide it at once. Where there is an edge that the surrogate does not know,
    a few draws do not show how much is behind it.
    """
    needed, have = checks_for(aim, variance, tuning.training), len(checked.values)
    if not have:
        return MANY if edged else min(needed, MANY)
    most = 2 * have
    if edged or smoothed(-checked.differences).heavy:
        needed = max(needed, min(most, tuning.judging.enough))
    return min(needed, most)


def least_efficiency(tuning: Training) -> float:
    """Minimum efficiency of the importance weights of a surrogate that is used, by their largest variance."""
    return 1.0 / (1.0 + tuning.sound)


def metropolis(checked: Checked, rng: np.random.Generator, tuning: Correction) -> Exact:
    """Independence Metropolis over the checked draws, each proposed once: exact for independent surrogate draws.

    The draws are the states of chains of equal length, each begun at a checked draw. A failed evaluation or a density
    of zero rejects.
    """
    count = tuning.exact_chains
    differences, probabilities = checked.differences, list[float]()
    states = np.full((count, len(differences) // count), -1)
    for chain, k in np.ndindex(states.shape):
        state, proposal, log_ratio = states[chain, k - 1] if k else -1, k * count + chain, -np.inf
        if np.isfinite(differences[proposal]):
            log_ratio = np.inf if state < 0 else differences[state] - differences[proposal]
        if state >= 0:
            probabilities.append(float(np.exp(min(log_ratio, 0.0))))
        states[chain, k] = proposal if np.log(rng.uniform()) < log_ratio else state
    begun = states[:, (states >= 0).all(axis=0)]
    acceptance = float(np.mean(probabilities)) if probabilities else np.nan
    return Exact(checked.points[begun], checked.values[begun], acceptance)


def scattered(draws: Array, rng: np.random.Generator) -> Array:
    """Draws in an order in which neighbours are from different chains, and draws of one chain are far apart."""
    chains, n, dim = draws.shape
    times = rng.permutation(np.arange(n - 1, -1, -max(1, n // 10)))
    return np.asarray(draws[rng.permutation(chains)][:, times].transpose(1, 0, 2).reshape(-1, dim))
