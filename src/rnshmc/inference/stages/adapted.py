"""HMC on the exact potential, in coordinates whitened by known curvatures, where the surrogate is not good enough."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import Stopped
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.correction import Exact
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.chains import BatchPotential, Chains, run_chains
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import AdaptedHMC, Judging
from rnshmc.inference.tuning_shared import TRIES
from rnshmc.types import Array

STAGE = "adapted HMC"


@dataclass(frozen=True, eq=False)
class Stretch:
    """Consecutive states of all chains, and whether they are warm-up."""

    block: Exact
    warm_up: bool


@dataclass(frozen=True, eq=False)
class Around:
    """Centres (k, d) around which chains begin, in turn, and the highest potentials there, (k,).

    Where the posterior is steep, a chain that begins far above it moves only by steps too short for all others.
    """

    centres: Array
    highest: Array

    @classmethod
    def modes(cls, modes: tuple[Mode, ...], height: float) -> "Around":
        """Around modes, at most so much above each."""
        centres = np.array([mode.whitening.centre for mode in modes])
        return cls(centres, np.array([mode.value + height for mode in modes]))

    def repeated(self, count: int) -> "Around":
        """With a centre for each of so many chains."""
        each = np.arange(count) % len(self.centres)
        return Around(self.centres[each], self.highest[each])


def expected_cost(dim: int, draws: int, tuning: AdaptedHMC) -> int:
    """Evaluation units that ``draws`` draws are expected to take, the warm-up included."""
    return _cost_of(dim, sum(_windows(tuning)) + draws / tuning.chains, tuning)


def expected_cost_of_teaching(dim: int, tuning: AdaptedHMC) -> int:
    """Evaluation units of the first states that teach a surrogate, and of as much training as there were chains."""
    return 2 * _cost_of(dim, tuning.warm_up, tuning)


def _windows(tuning: AdaptedHMC) -> list[int]:
    """Transitions of the windows of the warm-up."""
    return [tuning.warm_up * k for k in range(1, tuning.windows + 1)]


def _cost_of(dim: int, transitions: float, tuning: AdaptedHMC) -> int:
    steps = 1.5 / _first_step(dim) + 0.5
    return int(2 * tuning.chains * transitions * steps)


def _first_step(dim: int) -> float:
    return float(0.5 * dim**-0.25)


def adapted_hmc(
    archive: Archive,
    whitening: Whitening,
    around: Around,
    rng: np.random.Generator,
    tuning: AdaptedHMC,
    *,
    draws: int,
) -> Iterator[Stretch]:
    """Exact draws, ``draws`` of all chains together, block by block, after the windows of the warm-up.

    Raises Stopped when several times the `expected_cost` are spent, `AdaptedHMC.most_cost`.
    """
    exact = _exact_potential(archive, expected_cost(archive.dim, draws, tuning), tuning)
    potential = exact(whitening)
    each = around.repeated(tuning.chains)
    positions = scattered_starts(archive, whitening, each, lambda at: potential(at)[0], rng)
    start, step = (positions, *potential(positions)), _first_step(archive.dim)
    # Where noise decides the acceptance, no step leads to the target, and the step would shrink without end.
    acceptance = tuning.acceptance if archive.noise < Judging.noisy else None

    def chains(transitions: int, adapt_to: float | None) -> Chains:
        return run_chains(
            exact(whitening),
            start,
            transitions=transitions,
            step_size=step,
            rng=rng,
            tuning=tuning.trajectories,
            adapt_to=adapt_to,
        )

    for window, transitions in enumerate(_windows(tuning)):
        found = chains(transitions, acceptance)
        start, step = found.end, found.step_size
        yield Stretch(_block(found, whitening), warm_up=True)
        if window < tuning.windows - 1:
            later = found.draws[:, transitions // tuning.left_out :]
            old, whitening = whitening, _by_draws(whitening, later, tuning.shrinkage)
            start = _transferred(old, whitening, start)
    block = tuning.warm_up // tuning.left_out
    for _ in range(0, draws, tuning.chains * block):
        found = chains(block, None)
        start = found.end
        yield Stretch(_block(found, whitening), warm_up=False)


def _exact_potential(archive: Archive, expected: int, tuning: AdaptedHMC) -> Callable[[Whitening], BatchPotential]:
    """The exact potential at whitened positions, until several times the expected units are spent."""
    most = archive.spent.units + int(tuning.most_cost * expected)

    def whitened(whitening: Whitening) -> BatchPotential:
        def potential(z: Array) -> tuple[Array, Array]:
            if archive.spent.units > most:
                raise Stopped(
                    f"{STAGE} takes far more than the expected {expected} units, because its steps have to be "
                    "short; other parameters may help"
                )
            values, gradients = np.full(len(z), np.inf), np.zeros(z.shape)
            for row, one in enumerate(archive.evaluate(whitening.unwhiten(z), STAGE)):
                if one.gradient is not None:
                    values[row], gradients[row] = one.value, whitening.slopes(one.gradient[None])[0]
            return values, gradients

        return potential

    return whitened


def _block(chains: Chains, whitening: Whitening) -> Exact:
    x = whitening.unwhiten(chains.draws.reshape(-1, chains.draws.shape[-1])).reshape(chains.draws.shape)
    return Exact(x, chains.potentials, chains.acceptance)


def _by_draws(whitening: Whitening, draws: Array, shrinkage: float) -> Whitening:
    """Whitened by the covariance within chains, shrunk towards the identity as by ``shrinkage`` d draws."""
    n, dim = draws.shape[0] * draws.shape[1], draws.shape[2]
    centred = (draws - draws.mean(axis=1, keepdims=True)).reshape(-1, dim)
    covariance = (centred.T @ centred + shrinkage * dim * np.eye(dim)) / (n + shrinkage * dim)
    variances, directions = np.linalg.eigh(covariance)
    return whitening.curved(1.0 / variances, directions)


def _transferred(old: Whitening, new: Whitening, start: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The same positions, potentials and gradients in other coordinates."""
    positions, potentials, slopes = start
    return new.whiten(old.unwhiten(positions)), potentials, new.slopes(slopes @ old.factor.T)


def scattered_starts(
    archive: Archive,
    whitening: Whitening,
    around: Around,
    values: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Array:
    """Whitened positions of plausible potentials, shape (m, d), scattered around as many centres.

    ``values`` gives exact potentials (k,) at whitened positions (k, d). The first positions are as far from it
    as draws. One whose potential is infinite or too high is drawn again, nearer to its centre, `TRIES` times at most.
    Where that does not help, as next to a wall, the chain starts at a known point of low potential.
    """
    centres = whitening.whiten(around.centres)
    start, spread = centres + rng.standard_normal(centres.shape), 1.0
    bad = ~(values(start) <= around.highest)
    for _ in range(TRIES):
        if not bad.any():
            return start
        spread *= 0.5
        start[bad] = centres[bad] + spread * rng.standard_normal(centres[bad].shape)
        bad[bad] = ~(values(start[bad]) <= around.highest[bad])
    known = archive.training()
    usable = np.isfinite(known.gradients).all(axis=1) if archive.has_gradient else np.isfinite(known.values)
    lowest = np.argsort(np.where(usable, known.values, np.inf), kind="stable")[: np.count_nonzero(usable)]
    chosen = lowest[np.arange(np.count_nonzero(bad)) % len(lowest)]
    start[bad] = whitening.whiten(known.points[chosen])
    return start
