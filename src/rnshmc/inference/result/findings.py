"""What a run has found so far, and the outcome made of it."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import ndtr

from rnshmc.diagnostics.summary import MIN_DRAWS
from rnshmc.inference.bend import STRAIGHT, Bend
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.averages import average
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import UNKNOWN
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.outcome import Method, ModeFound, Outcome
from rnshmc.inference.result.uninformed import flat_directions
from rnshmc.inference.stages.correction import Checked, Exact, largest_rhat
from rnshmc.inference.stages.descent import Mode
from rnshmc.inference.stages.training import Trained
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.emulated import EmulatedPotential
from rnshmc.inference.surrogate.subspace import SubspaceKernel
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class Found:
    """Replaced by each stage, so that an interruption leaves the last one.

    Attributes
    ----------
    starts
        Number of starts that were descended from.
    quiet
        How many since one led to a mode that may count, and was not known.
    modes, early
        The different modes that they led to, and the number of points without density on the way there.
    left_out
        Modes among them that have next to nothing of the posterior.
    parts
        What was found of each mode where they are several, and each has a surrogate.
    whitening
        Coordinates of the lowest mode, or of the surrogate that was used.
    begun
        Coordinates in which a surrogate begins to be trained.
    bends, kept
        Bends that were taken, one after the other, and what stays of the current one.
    unbent
        Number of gradients at the last search that found no other bend.
    trained
        The latest surrogate.
    surrogate_draws
        Its draws in x, (chains, n, d).
    surrogate_rhat
        Largest R-hat of these chains in the coordinates of x behind the bend; NaN where nobody asked for it.
    checked, beyond, passed_over
        Draws among them with exact values; numbers of points without density among them, and of random failures.
    surrogate, mixture
        Ingredients of corrected expectations; of several modes, the latter.
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
    refused, wall
        Whether the latest surrogate is not good enough; a bound that ends the run so that the coordinates have it.
    outlying
        Part of a variance that draws lack far out, see `rnshmc.inference.outlying`.
    doubts
        Sentences on what was doubtful on the way.
    """

    starts: int = 0
    quiet: int = 0
    early: int = 0
    modes: tuple[Mode, ...] = ()
    left_out: tuple[Mode, ...] = ()
    parts: tuple["Found", ...] = ()
    whitening: Whitening | None = None
    begun: Whitening | None = None
    bends: int = 0
    kept: Bend = STRAIGHT
    unbent: int = 0
    trained: Trained | None = None
    surrogate_draws: Array | None = None
    surrogate_rhat: float = np.nan
    checked: Checked | None = None
    surrogate: Corrected | None = None
    mixture: Mixture | None = None
    log_evidence: Estimate = UNKNOWN
    beyond: int = 0
    passed_over: int = 0
    exact: Exact | None = None
    rows: tuple[Array, bool] | None = None
    blocks: tuple[tuple[Array, Array, float], ...] = ()
    method: Method = "none"
    reason: str = "the run ended before there were draws"
    refused: bool = False
    wall: Wall | None = None
    outlying: float = 0.0
    doubts: tuple[str, ...] = ()

    @property
    def lowest(self) -> Mode:
        """The mode of the lowest potential."""
        return min(self.modes, key=lambda mode: mode.value)

    def with_mode(self, mode: Mode, below: float = np.inf) -> "Found":
        """With one more mode, unless it is known: nearer to a known one than draws are, and not so far below it.

        One that is so far below takes the place of those that are as near to it, for they were on the way to it.
        """
        if any(known.near(mode.whitening.centre, mode.value, below) for known in (*self.modes, *self.left_out)):
            return self
        others = (one for one in self.modes if not (mode.near(one.whitening.centre) and one.value > mode.value + below))
        return replace(self, modes=(*others, mode))

    def forgetting_the_surrogate(self) -> "Found":
        """Before another one is trained: what was checked is of the last one."""
        empty = replace(self, surrogate_draws=None, surrogate_rhat=np.nan, checked=None, surrogate=None, exact=None)
        return replace(empty, log_evidence=UNKNOWN, refused=False, beyond=0, passed_over=0)

    def straightened(self, bend: Bend) -> "Found":
        """In coordinates without the bend, behind which everything was found; curvatures there are not known."""
        if not bend.layers:
            return self
        return replace(
            self,
            surrogate=self.surrogate and self.surrogate.moved(bend.forward),
            mixture=self.mixture and self.mixture.moved(bend.forward),
            checked=self.checked and self.checked.straightened(bend),
            exact=self.exact and self.exact.straightened(bend),
            rows=self.rows and (bend.forward(self.rows[0]), self.rows[1]),
            blocks=tuple(Exact(*block).straightened(bend).parts for block in self.blocks),
            whitening=None,
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
    found = replace(found, exact=found.exact and found.exact.whole(archive)).straightened(archive.bend)
    behind = found.mixture or found.surrogate
    surrogate = behind if found.method == "surrogate" else None
    exact = (found.exact if surrogate is not None else found.chains()) or Exact.none(dim)
    rhat = _rhat_behind(found, exact, tuning)
    mixed = not rhat > tuning.judging.apart
    if surrogate is not None:
        surrogate = surrogate.with_errors(known=mixed)
    mean, variance = _moments(exact.draws, surrogate, mixed=mixed)
    rows, corrected = _rows(found, exact, draws)
    checks = None if behind is None or not len(behind.checked) else behind
    error = archive.surrogate_error if checks is None and surrogate is not None else _normal_error(checks)
    reasons, known = archive.failures
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
        quiet=found.quiet,
        modes=_modes(found, surrogate, archive.bend),
        left_out=_left_out(found, archive.bend),
        uninformed=flat_directions(found.whitening, archive, tuning.judging),
        failures=dict(reasons),
        known=known,
        floored=archive.floored,
        beyond=found.beyond,
        passed_over=found.passed_over,
        outlying=found.outlying,
        noise=archive.noise,
        wall=found.wall,
        emulated=_emulated(found),
        learnt=_learnt(found),
        bend=archive.bend,
        doubts=(*doubts, *found.doubts),
        stopped=stopped,
    )


def _emulated(found: Found) -> EmulatedPotential | None:
    """The emulator behind the surrogate in use."""
    if found.method != "surrogate" or found.trained is None:
        return None
    kernel = found.trained.posterior.kernel
    return kernel if isinstance(kernel, EmulatedPotential) else None


def _learnt(found: Found) -> int | None:
    """Number of directions of the process behind the surrogate in use, where they are not all."""
    used = [one.trained for one in found.parts or (found,) if one.trained is not None]
    kernels = [one.posterior.kernel for one in used if isinstance(one.posterior.kernel, SubspaceKernel)]
    return max(kernel.process.dim for kernel in kernels) if kernels and found.method == "surrogate" else None


def _modes(found: Found, surrogate: Corrected | Mixture | None, bend: Bend) -> tuple[ModeFound, ...]:
    shares = surrogate.shares if isinstance(surrogate, Mixture) else Estimate(*np.full((2, len(found.modes)), np.nan))
    each = zip(found.modes, shares.value, shares.standard_error, strict=True)
    return tuple(_mode(mode, Estimate(share, error), bend) for mode, share, error in each)


def _left_out(found: Found, bend: Bend) -> tuple[ModeFound, ...]:
    """With shares by Hessians at the modes, whose errors are not known."""
    most = max((mode.log_mass for mode in found.modes), default=0.0)
    shares = (Estimate(np.exp(np.array(one.log_mass - most)), np.array(np.nan)) for one in found.left_out)
    return tuple(_mode(one, share, bend) for one, share in zip(found.left_out, shares, strict=True))


def _mode(mode: Mode, share: Estimate, bend: Bend) -> ModeFound:
    return ModeFound(bend.forward(mode.whitening.centre[None])[0], mode.value, mode.converged, share)


def _rhat_behind(found: Found, exact: Exact, tuning: Tuning) -> float:
    """Largest R-hat of the chains whose agreement matters: those of the surrogates where they make the draws."""
    drawn = [
        (one.surrogate_rhat, one.surrogate_draws) for one in found.parts or (found,) if one.surrogate_draws is not None
    ]
    if found.method != "surrogate" or not drawn:
        return largest_rhat(exact.draws)
    most = tuning.correction.rhat_chains
    return max(largest_rhat(draws[:most]) if np.isnan(rhat) else rhat for rhat, draws in drawn)


def _rows(found: Found, exact: Exact, draws: int) -> tuple[Array, bool]:
    """The draws that were asked for, or fewer where the run stopped early, and whether they are the surrogate's."""
    if found.rows is not None and found.method == "surrogate":
        return found.rows
    states = exact.draws.transpose(1, 0, 2).reshape(-1, exact.draws.shape[2])
    return states[:draws], False


def _moments(draws: Array, surrogate: Corrected | Mixture | None, *, mixed: bool) -> tuple[Estimate, Estimate]:
    """Means and variances; without standard errors where chains are not mixed."""
    if surrogate is not None:
        return surrogate.mean(), surrogate.variance()
    dim = draws.shape[2]
    unknown = Estimate(np.full(dim, np.nan), np.full(dim, np.nan))
    if draws.shape[1] < MIN_DRAWS:
        return unknown, unknown
    mean = average(draws, mixed=mixed)
    return mean, average((draws - mean.value) ** 2, mixed=mixed)


def _normal_error(surrogate: Corrected | Mixture | None) -> float:
    """sd(U - V) over the checked draws of positive density."""
    return np.nan if surrogate is None else _sd(surrogate.differences)


def _sd(differences: Array) -> float:
    finite = differences[np.isfinite(differences)]
    return float(np.std(finite, ddof=1)) if len(finite) > 1 else np.nan
