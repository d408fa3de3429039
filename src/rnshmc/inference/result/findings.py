"""What a run has found so far, and the outcome made of it."""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from rnshmc.diagnostics.summary import MIN_DRAWS, summarise
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.corrected import Corrected, Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.outcome import Method, ModeFound, Outcome
from rnshmc.inference.stages.correction import Checked, Exact, largest_rhat
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Judging, Tuning
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Found:
    """Replaced by each stage, so that an interruption leaves the last one.

    Attributes
    ----------
    starts
        Number of starts that were descended from.
    modes
        The different modes that they led to.
    whitening
        Coordinates of the lowest mode, or of the surrogate that was used.
    trained
        The latest surrogate.
    surrogate_draws
        Its draws in x, (chains, n, d).
    checked
        Draws among them with exact values.
    surrogate
        Ingredients of corrected expectations.
    log_evidence
        log of the integral of exp(-U), by these.
    exact
        Exact draws among those of the surrogate.
    rows
        Draws to return, and whether they are the surrogate's.
    blocks
        Exact draws, their potentials and acceptance, by block, where the surrogate was not good enough.
    method, reason
        What makes the draws, and why.
    refused
        Whether the latest surrogate is not good enough.
    wall
        A bound that was found, and ends the run so that the coordinates can take it up.
    doubts
        Sentences on what was doubtful on the way.
    """

    starts: int = 0
    modes: tuple[Mode, ...] = ()
    whitening: Whitening | None = None
    trained: Trained | None = None
    surrogate_draws: Array | None = None
    checked: Checked | None = None
    surrogate: Corrected | None = None
    log_evidence: Estimate = UNKNOWN
    exact: Exact | None = None
    rows: tuple[Array, bool] | None = None
    blocks: tuple[tuple[Array, Array, float], ...] = ()
    method: Method = "none"
    reason: str = "the run ended before there were draws"
    refused: bool = False
    wall: Wall | None = None
    doubts: tuple[str, ...] = ()

    def with_mode(self, mode: Mode) -> "Found":
        """With one more mode, unless it is known: nearer to a known one than draws are."""
        reach = 2.0 + 0.5 * np.sqrt(len(mode.whitening.centre))
        centres = [known.whitening.whiten(mode.whitening.centre[None]) for known in self.modes]
        if any(np.linalg.norm(centre) < reach for centre in centres):
            return self
        return replace(self, modes=(*self.modes, mode))

    def replacing(self, mode: Mode, better: Mode) -> "Found":
        """With another mode in place of one that turned out to be none, and its coordinates."""
        others = replace(self, modes=tuple(known for known in self.modes if known is not mode))
        return replace(others.with_mode(better), whitening=better.whitening)

    def forgetting_the_surrogate(self) -> "Found":
        """Before another one is trained: what was checked is of the last one."""
        return replace(
            self, surrogate_draws=None, checked=None, surrogate=None, log_evidence=UNKNOWN, exact=None, refused=False
        )

    def chains(self) -> Exact | None:
        """The exact draws of all blocks; None if there are too few to average."""
        if not self.blocks:
            return None
        draws, potentials, acceptance = zip(*self.blocks, strict=True)
        joined = Exact(np.concatenate(draws, 1), np.concatenate(potentials, 1), float(np.mean(acceptance)))
        return joined if joined.draws.shape[1] >= MIN_DRAWS else None


def outcome_of(
    found: Found, archive: Archive, tuning: Tuning, *, draws: int, stopped: str | None, doubts: tuple[str, ...]
) -> Outcome:
    """The outcome of a run.

    Parameters
    ----------
    draws
        As many as were asked for.
    stopped
        Why the run stopped early; None if it came to its end.
    doubts
        Sentences on what was doubtful of the target before the run.
    """
    dim = archive.dim
    surrogate = found.surrogate if found.method == "surrogate" else None
    exact = (found.exact if surrogate is not None else found.chains()) or Exact.none(dim)
    rhat = largest_rhat(_chains_behind(found, exact, tuning))
    mixed = not rhat > tuning.judging.apart
    if surrogate is not None:
        surrogate = replace(surrogate, mixed=mixed)
    mean, variance = _moments(exact.draws, surrogate, mixed=mixed)
    rows, corrected = _rows(found, exact, draws)
    checks = None if found.surrogate is None or not len(found.surrogate.checked) else found.surrogate
    error = archive.surrogate_error if checks is None and surrogate is not None else _normal_error(checks)
    # Proposals are draws of the surrogate that was checked, which a later one may have replaced.
    of_proposals = _sd(found.checked.differences) if checks is not None and found.checked is not None else error
    return Outcome(
        rows=rows,
        corrected=corrected,
        draws=exact.draws,
        potentials=exact.potentials,
        surrogate=surrogate,
        mean=mean,
        variance=variance,
        log_evidence=UNKNOWN if surrogate is None or not mixed else found.log_evidence,
        method=found.method,
        reason=found.reason,
        spent=archive.spent,
        by_stage=dict(archive.by_stage),
        refused=found.refused,
        surrogate_error=error,
        efficiency=checks.weights.efficiency if checks else np.nan,
        pareto_k=checks.weights.pareto_k if checks else np.nan,
        checked=found.checked,
        training=np.array(archive.training_errors).reshape(-1, 2),
        acceptance=exact.acceptance,
        predicted_acceptance=float(2.0 * ndtr(-of_proposals / np.sqrt(2.0))) if surrogate else np.nan,
        rhat=rhat,
        mixed=mixed,
        starts=found.starts,
        modes=tuple(ModeFound(mode.whitening.centre, mode.value, mode.converged) for mode in found.modes),
        uninformed=_flat(found.whitening, archive, tuning.judging),
        failures=dict(Counter(one.failure or "" for one in archive.failures)),
        noise=archive.noise,
        wall=found.wall,
        emulated=_emulated(found),
        doubts=(*doubts, *found.doubts),
        stopped=stopped,
    )


def _emulated(found: Found) -> EmulatedPotential | None:
    """The emulator behind the surrogate in use."""
    if found.method != "surrogate" or found.trained is None:
        return None
    kernel = found.trained.posterior.kernel
    return kernel if isinstance(kernel, EmulatedPotential) else None


def _chains_behind(found: Found, exact: Exact, tuning: Tuning) -> Array:
    """The chains whose agreement matters: those of the surrogate where it makes the draws."""
    if found.method == "surrogate" and found.surrogate_draws is not None:
        return found.surrogate_draws[: tuning.correction.rhat_chains]
    return exact.draws


def _rows(found: Found, exact: Exact, draws: int) -> tuple[Array, bool]:
    """The draws that were asked for, or fewer where the run stopped early, and whether they are the surrogate's."""
    if found.rows is not None and found.method == "surrogate":
        return found.rows
    states = exact.draws.transpose(1, 0, 2).reshape(-1, exact.draws.shape[2])
    return states[:draws], False


def _moments(draws: Array, surrogate: Corrected | None, *, mixed: bool) -> tuple[Estimate, Estimate]:
    """Means and variances; without standard errors where chains are not mixed."""
    if surrogate is not None:
        return surrogate.mean(), surrogate.variance()
    dim = draws.shape[2]
    unknown = Estimate(np.full(dim, np.nan), np.full(dim, np.nan))
    if draws.shape[1] < MIN_DRAWS:
        return unknown, unknown
    centred = draws - draws.mean(axis=(0, 1))
    return _averaged(draws, mixed=mixed), _averaged(centred**2, mixed=mixed)


def _averaged(values: Array, *, mixed: bool) -> Estimate:
    mean = values.mean(axis=(0, 1))
    return Estimate(mean, summarise(values).mcse_mean if mixed else np.full(mean.shape, np.nan))


def _normal_error(surrogate: Corrected | None) -> float:
    """sd(U - V) over the checked draws of positive density."""
    return np.nan if surrogate is None else _sd(surrogate.differences)


def _sd(differences: Array) -> float:
    finite = differences[np.isfinite(differences)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan


def _flat(whitening: Whitening | None, archive: Archive, limits: Judging) -> Array:
    """Directions of curvature far below the median one, along which slopes are far below what it lets expect.

    The curvature alone may be small for the units of a parameter. Slopes at typical points are about its root.
    """
    known = archive.slopes()
    if whitening is None or not len(known.points):
        return np.zeros((0, archive.dim))
    curvatures, directions = np.linalg.eigh(whitening.factor @ whitening.factor.T)
    chosen = curvatures < limits.flat * np.median(curvatures)
    slopes = np.median(np.abs(known.gradients @ directions), axis=0) / np.sqrt(np.maximum(curvatures, 0.0))
    return np.asarray(directions[:, chosen & ~(slopes > limits.sloping)].T)
