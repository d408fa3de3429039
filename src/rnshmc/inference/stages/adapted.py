"""HMC on the exact potential, in coordinates whitened by what is known, where the surrogate is not good enough."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import Stopped
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.correction import Exact
from rnshmc.inference.stages.scattered import Around, scattered_starts
from rnshmc.inference.surrogate.chains import BatchPotential, Chains, run_chains
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import AdaptedHMC
from rnshmc.types import Array

STAGE = "adapted HMC"


@dataclass(frozen=True, eq=False)
class Stretch:
    """What chains went through in a number of transitions, and whether that was warm-up."""

    block: Exact
    warm_up: bool


def expected_cost(dim: int, draws: int, tuning: AdaptedHMC) -> int:
    """Evaluation units that ``draws`` draws are expected to take, the warm-up included."""
    return _cost_of(dim, sum(tuning.warm_up) + draws / tuning.chains, tuning)


def expected_cost_of_teaching(dim: int, tuning: AdaptedHMC) -> int:
    """Evaluation units of the first states that teach a surrogate, and of as much training as there were chains."""
    return 2 * _cost_of(dim, tuning.warm_up[0], tuning)


def _cost_of(dim: int, transitions: float, tuning: AdaptedHMC) -> int:
    steps = 1.5 / _first_step(dim) + 0.5
    return int(2 * tuning.chains * transitions * steps)


def adapted_hmc(
    archive: Archive,
    whitening: Whitening,
    around: Around,
    rng: np.random.Generator,
    tuning: AdaptedHMC,
    *,
    draws: int,
) -> Iterator[Stretch]:
    """Exact draws, block by block, after the windows of the warm-up.

    Parameters
    ----------
    whitening
        Coordinates to begin with.
    around
        Where chains begin, in turn.
    draws
        Of all chains together.

    Raises
    ------
    BudgetSpent
        When the budget ends; what was before that has been yielded.
    Stopped
        When several times the `expected_cost` are spent, `AdaptedHMC.most_cost`; the same.
    """
    expected = expected_cost(archive.dim, draws, tuning)
    exact = _Exact(archive, expected, archive.spent.units + int(tuning.most_cost * expected))
    potential = exact.whitened(whitening)
    each = around.repeated(tuning.chains)
    positions = scattered_starts(
        archive, whitening, each, lambda at: potential(at)[0], rng, spread=tuning.spread, tries=tuning.tries
    )
    start, step = (positions, *potential(positions)), _first_step(archive.dim)
    # Where noise decides the acceptance, no step leads to the target, and the step would shrink without end.
    acceptance = tuning.acceptance if archive.noise < tuning.noisy else None
    for window, transitions in enumerate(tuning.warm_up):
        chains = run_chains(
            exact.whitened(whitening),
            start,
            transitions=transitions,
            step_size=step,
            rng=rng,
            tuning=tuning.trajectories,
            adapt_to=acceptance,
        )
        start, step = _end(chains), chains.step_size
        yield Stretch(_block(chains, whitening), warm_up=True)
        if window < len(tuning.warm_up) - 1:
            old, whitening = whitening, _by_draws(whitening, chains.draws[:, transitions // 3 :], tuning.shrinkage)
            start = _transferred(old, whitening, start)
    for _ in range(0, draws, tuning.chains * tuning.block):
        chains = run_chains(
            exact.whitened(whitening),
            start,
            transitions=tuning.block,
            step_size=step,
            rng=rng,
            tuning=tuning.trajectories,
        )
        start = _end(chains)
        yield Stretch(_block(chains, whitening), warm_up=False)


def _block(chains: Chains, whitening: Whitening) -> Exact:
    x = whitening.unwhiten(chains.draws.reshape(-1, chains.draws.shape[-1])).reshape(chains.draws.shape)
    return Exact(x, chains.potentials, chains.acceptance)


def _first_step(dim: int) -> float:
    return float(0.5 * dim**-0.25)


@dataclass(frozen=True, eq=False)
class _Exact:
    """The exact potential, until so many units are spent."""

    archive: Archive
    expected: int
    most: int

    def whitened(self, whitening: Whitening) -> BatchPotential:
        """At whitened positions."""

        def potential(z: Array) -> tuple[Array, Array]:
            if self.archive.spent.units > self.most:
                raise Stopped(
                    f"{STAGE} takes far more than the {self.expected} units that were expected, because its steps have "
                    "to be short; other parameters may make it easier"
                )
            values, gradients = np.full(len(z), np.inf), np.zeros(z.shape)
            for row, one in enumerate(self.archive.evaluate(whitening.unwhiten(z), STAGE)):
                if one.gradient is not None:
                    values[row], gradients[row] = one.value, whitening.slopes(one.gradient[None])[0]
            return values, gradients

        return potential


def _end(chains: Chains) -> tuple[Array, Array, Array]:
    return chains.draws[:, -1], chains.potentials[:, -1], chains.last_gradients


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
