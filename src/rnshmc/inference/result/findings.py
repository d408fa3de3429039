"""What a run has found so far, and the outcome made of it."""

from collections import Counter
from dataclasses import replace

import numpy as np
from scipy.special import ndtr

from rnshmc.diagnostics.summary import MIN_DRAWS, summarise
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.outcome import Estimate, Method, ModeFound, Outcome, Surrogate
from rnshmc.inference.stages.correction import RHAT_CHAINS, Exact, largest_rhat
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.types import Array

FLAT = 1e-7
"""Curvature, relative to the median one, below which a direction counts as not informed."""


class Findings:
    """Filled in by the stages as they end, so that an interruption leaves what there is.

    Parameters
    ----------
    archive
        All evaluations of the run.
    draws
        As many as were asked for.
    """

    def __init__(self, archive: Archive, draws: int) -> None:
        self._archive, self._draws = archive, draws
        self._blocks: list[tuple[Array, Array, float]] = []
        self.modes: list[Mode] = []
        self.whitening: Whitening = Whitening(np.zeros(archive.dim), np.eye(archive.dim))
        self.surrogate_draws: Array | None = None
        self.surrogate: Surrogate | None = None
        self.exact: Exact | None = None
        self.rows: tuple[Array, bool] | None = None
        self.method: Method = "none"
        self.reason = "the run ended before there were draws"
        self.finished = False
        self.warnings: list[str] = []

    def add_mode(self, mode: Mode) -> None:
        """Keep a mode unless it is known: nearer to a known one than draws are."""
        reach = 2.0 + 0.5 * np.sqrt(self._archive.dim)
        for known in self.modes:
            if np.linalg.norm(known.whitening.whiten(mode.whitening.centre[None])) < reach:
                return
        self.modes.append(mode)

    def replace_mode(self, mode: Mode, better: Mode) -> None:
        """Keep another one in the place of a mode that turned out to be none."""
        self.modes = [known for known in self.modes if known is not mode]
        self.add_mode(better)

    def add_block(self, draws: Array, potentials: Array, acceptance: float) -> None:
        """Keep a block of exact draws."""
        self._blocks.append((draws, potentials, acceptance))

    def outcome(self) -> Outcome:
        """All that was found."""
        exact = self._exact()
        surrogate = self.surrogate if self.method == "surrogate" else None
        mean, variance = _moments(exact.draws, surrogate)
        rhat = largest_rhat(
            exact.draws if surrogate is None or self.surrogate_draws is None else self.surrogate_draws[:RHAT_CHAINS]
        )
        error = _normal_error(self.surrogate)
        rows, corrected = self._rows(exact)
        outcome = Outcome(
            rows=rows,
            corrected=corrected,
            draws=exact.draws,
            potentials=exact.potentials,
            surrogate=surrogate,
            mean=mean,
            variance=variance,
            method=self.method,
            reason=self.reason,
            spent=self._archive.spent,
            by_stage=dict(self._archive.by_stage),
            surrogate_error=error,
            efficiency=self.surrogate.weights.efficiency if self.surrogate else np.nan,
            pareto_k=self.surrogate.weights.pareto_k if self.surrogate else np.nan,
            acceptance=exact.acceptance,
            predicted_acceptance=float(2.0 * ndtr(-error / np.sqrt(2.0))) if surrogate else np.nan,
            rhat=rhat,
            modes=tuple(ModeFound(mode.whitening.centre, mode.value, mode.converged) for mode in self.modes),
            uninformed=_flat(self.whitening),
            failures=dict(Counter(one.failure or "" for one in self._archive.failures)),
            finished=self.finished,
            warnings=(),
        )
        return _warned(outcome, self.warnings)

    def _exact(self) -> Exact:
        if self._blocks:
            draws, potentials, acceptance = zip(*self._blocks, strict=True)
            return Exact(np.concatenate(draws, 1), np.concatenate(potentials, 1), float(np.mean(acceptance)))
        if self.exact is not None and self.method == "surrogate":
            return self.exact
        return Exact(np.empty((0, 0, self._archive.dim)), np.empty((0, 0)), np.nan)

    def _rows(self, exact: Exact) -> tuple[Array, bool]:
        """The draws that were asked for, or fewer where it stopped before, and whether they are the surrogate's."""
        if self.rows is not None and self.method == "surrogate":
            return self.rows
        states = exact.draws.transpose(1, 0, 2).reshape(-1, self._archive.dim)
        return states[: self._draws], False


def _moments(draws: Array, surrogate: Surrogate | None) -> tuple[Estimate, Estimate]:
    if surrogate is not None:
        return surrogate.mean(), surrogate.variance()
    dim = draws.shape[2]
    unknown = Estimate(np.full(dim, np.nan), np.full(dim, np.nan))
    if draws.shape[1] < MIN_DRAWS:
        return unknown, unknown
    centred = draws - draws.mean(axis=(0, 1))
    return _averaged(draws), _averaged(centred**2)


def _averaged(values: Array) -> Estimate:
    return Estimate(values.mean(axis=(0, 1)), summarise(values).mcse_mean)


def _normal_error(surrogate: Surrogate | None) -> float:
    """sd(U - V) over the checked draws of positive density."""
    if surrogate is None:
        return np.nan
    finite = surrogate.differences[np.isfinite(surrogate.differences)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan


def _flat(whitening: Whitening) -> Array:
    curvatures, directions = np.linalg.eigh(whitening.factor @ whitening.factor.T)
    return np.asarray(directions[:, curvatures < FLAT * np.median(curvatures)].T)


def _warned(outcome: Outcome, so_far: list[str]) -> Outcome:
    """The outcome with a sentence for what its numbers do not say; the verdict speaks of these."""
    said = list(so_far)
    if any(not mode.converged for mode in outcome.modes):
        said.append("A descent did not come to a mode: the potential may be noisy, flat, or without a minimum")
    return replace(outcome, warnings=tuple(said))
