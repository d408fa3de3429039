"""Reference posterior moments from a long exact run of a sampler that is not under test."""

import logging
from dataclasses import dataclass

import numpy as np

from rnshmc.diagnostics.summary import summarise
from rnshmc.errors import ParameterError
from rnshmc.kernels.transition import State
from rnshmc.random import stream
from rnshmc.run.chain import run_phase
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.whitened import WhitenedHMC
from rnshmc.types import Array, Potential

_log = logging.getLogger(__name__)
WARMUP = 200
"""Warm-up iterations of a reference chain, which starts from a draw of the Laplace approximation."""


@dataclass(frozen=True)
class ReferenceSettings:
    """Settings of a reference run (`reference` in config/README.md)."""

    tolerance: float
    chains: int
    batch: int
    max_batches: int
    step_size: float
    n_steps: tuple[int, int]


@dataclass(frozen=True)
class Reference:
    """Posterior moments with their Monte Carlo errors, arrays of shape (dim,)."""

    mean: Array
    sd: Array
    mcse_mean: Array
    mcse_sd: Array
    ess_bulk: Array
    draws: int
    """Draws per chain."""
    chains: int

    @property
    def error(self) -> float:
        """Largest Monte Carlo error of a mean or standard deviation, in posterior standard deviations."""
        return float(np.max(np.maximum(self.mcse_mean, self.mcse_sd) / self.sd))


def run_reference(
    potential: Potential,
    settings: ReferenceSettings,
    *,
    start: Array,
    seed: int,
    problem: str,
    checkpoint: Checkpoint | None = None,
) -> Reference:
    """Estimate posterior moments to a tolerance by HMC with the Hessian at the mode as mass matrix.

    The search for the mode begins at ``start``, shape (dim,). The checkpoint has a part for each batch of each chain;
    its spec has to identify potential and settings. Raises `ParameterError` if the tolerance is not met after
    ``settings.max_batches`` batches; `CheckpointError` if a checkpoint is damaged, or belongs to another run.
    """
    whitened = WhitenedHMC.of(potential, start=start, step_size=settings.step_size, n_steps=settings.n_steps)
    kernel, counter = whitened.kernel, whitened.counter
    names = [f"chain{k}" for k in range(1, settings.chains + 1)]
    streams = [stream(seed, problem, "reference", name) for name in names]

    def advance(state: State, rng: np.random.Generator, iterations: int, part: str) -> tuple[State, Array]:
        kept = checkpoint and checkpoint.part(part)
        state, phase = run_phase(kernel, state, iterations=iterations, rng=rng, counter=counter, checkpoint=kept)
        return state, phase.draws

    starts = [whitened.laplace_draw(rng) for rng in streams]
    states = [
        advance(kernel.init(q), rng, WARMUP, f"{name}.warmup")[0]
        for name, q, rng in zip(names, starts, streams, strict=True)
    ]
    draws = np.empty((settings.chains, 0, potential.dim))
    for k in range(settings.max_batches):
        batches = [
            advance(state, rng, settings.batch, f"{name}.batch{k + 1}")
            for name, state, rng in zip(names, states, streams, strict=True)
        ]
        states = [state for state, _ in batches]
        draws = np.concatenate([draws, np.stack([batch for _, batch in batches])], axis=1)
        found = _estimate(draws)
        _log.info("%s: %d draws per chain, Monte Carlo error %.4f sd", problem, found.draws, found.error)
        if found.error <= settings.tolerance:
            return found
    raise ParameterError(
        f"reference of {problem}: Monte Carlo error {found.error:.3f} posterior sd after {found.draws} draws of each "
        f"chain, tolerance {settings.tolerance}; raise reference.max_batches or reference.batch"
    )


def _estimate(draws: Array) -> Reference:
    """Moments of ``draws``, shape (chains, n, dim)."""
    summary = summarise(draws)
    pooled = draws.reshape(-1, draws.shape[2])
    return Reference(
        mean=pooled.mean(axis=0),
        sd=pooled.std(axis=0, ddof=1),
        mcse_mean=summary.mcse_mean,
        mcse_sd=summary.mcse_sd,
        ess_bulk=summary.ess_bulk,
        draws=draws.shape[1],
        chains=draws.shape[0],
    )
