"""HMC on the exact potential, in coordinates whitened by known curvatures, where the surrogate is not good enough."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from rnshmc.errors import Stopped
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.stages.correction import Exact
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.chains import Chains, run_chains
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning_result import AdaptedHMC, Judging
from rnshmc.inference.tuning_shared import TRIES
from rnshmc.types import Array

STAGE = "adapted HMC"


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
    modes: tuple[Mode, ...],
    rng: np.random.Generator,
    tuning: AdaptedHMC,
    *,
    height: float,
    draws: int,
) -> Iterator[tuple[Exact, bool]]:
    """Exact draws, ``draws`` of all chains together, block by block, each with whether it is warm-up.

    Chains begin around the modes in turn, at most ``height`` above each. Raises Stopped after several times as many
    gradients as the `expected_cost` pays for, `AdaptedHMC.most_cost`; those of an earlier run in the file count.
    """
    expected, requested = expected_cost(archive.dim, draws, tuning), archive.evaluations.requested
    exact = partial(_exact_potential, archive, expected, requested + int(0.5 * tuning.most_cost * expected))
    around = [modes[chain % len(modes)] for chain in range(tuning.chains)]
    positions = scattered_starts(archive, whitening, around, height, lambda at: exact(whitening, at)[0], rng)
    start, step = (positions, *exact(whitening, positions)), _first_step(archive.dim)
    # Where noise decides the acceptance, no step leads to the target, and the step would shrink without end.
    acceptance = tuning.acceptance if archive.noise < Judging.noisy else None
    chains = partial(run_chains, rng=rng, tuning=tuning.trajectories)
    for window, transitions in enumerate(_windows(tuning)):
        found = chains(partial(exact, whitening), start, transitions=transitions, step_size=step, adapt_to=acceptance)
        start, step = found.end, found.step_size
        yield _block(found, whitening), True
        if window < tuning.windows - 1:
            later = found.draws[:, transitions // tuning.left_out :]
            old, whitening = whitening, _by_draws(whitening, later, tuning.shrinkage)
            positions, potentials, slopes = start
            start = whitening.whiten(old.unwhiten(positions)), potentials, whitening.slopes(slopes @ old.factor.T)
    block = tuning.warm_up // tuning.left_out
    for _ in range(0, draws, tuning.chains * block):
        found = chains(partial(exact, whitening), start, transitions=block, step_size=step)
        start = found.end
        yield _block(found, whitening), False


def _exact_potential(archive: Archive, expected: int, most: int, whitening: Whitening, z: Array) -> tuple[Array, Array]:
    """The exact potential and its gradients at whitened positions, until more than ``most`` points were requested."""
    if archive.evaluations.requested > most:
        raise Stopped(
            f"{STAGE} takes far more than the expected {expected} units, because its steps have to be short; "
            "other parameters may help"
        )
    values, gradients = np.full(len(z), np.inf), np.zeros(z.shape)
    for row, one in enumerate(archive.evaluate(whitening.unwhiten(z), STAGE)):
        if one.gradient is not None:
            values[row], gradients[row] = one.value, whitening.slopes(one.gradient[None])[0]
    return values, gradients


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


def scattered_starts(
    archive: Archive,
    whitening: Whitening,
    around: Sequence[Mode],
    height: float,
    values: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Array:
    """Whitened positions of plausible potentials, shape (m, d), scattered around as many modes.

    ``values`` gives exact potentials (k,) at whitened positions (k, d). The first positions are as far from modes
    as draws. One more than ``height`` above its mode is drawn again, nearer to it, `TRIES` times at most: where the
    posterior is steep, a chain that begins far above it moves only by steps too short for all others.
    Where that does not help, as next to a wall, the chain starts at a known point of low potential.
    """
    centres = whitening.whiten(np.array([mode.whitening.centre for mode in around]))
    highest = np.array([mode.value + height for mode in around])
    start, spread = centres + rng.standard_normal(centres.shape), 1.0
    bad = ~(values(start) <= highest)
    for _ in range(TRIES):
        if not bad.any():
            return start
        spread *= 0.5
        start[bad] = centres[bad] + spread * rng.standard_normal(centres[bad].shape)
        bad[bad] = ~(values(start[bad]) <= highest[bad])
    known = archive.training()
    usable = np.flatnonzero(np.isfinite(known.gradients).all(axis=1))
    lowest = usable[np.argsort(known.values[usable], kind="stable")]
    start[bad] = whitening.whiten(known.points[np.resize(lowest, np.count_nonzero(bad))])
    return start
