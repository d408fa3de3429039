"""From a start to draws and expectations: the algorithm behind `rnshmc.sample`.

    descend    to a mode, each gradient a secant of the Hessian
    probe      the directions not seen yet: coordinates whitened, d + 1 training points
    train      surrogate, its draws, exact values and gradients there, again
    look out   exact values further out than its draws, and training where it misses something
    check      exact values at draws of the finished surrogate: corrections, exact draws

and adapted HMC, or an ensemble without gradients, where the surrogate is no good, three times.
"""

from collections.abc import Callable

import numpy as np

from rnshmc.errors import FitError, ParameterError
from rnshmc.inference.exact.archive import Archive, Progress
from rnshmc.inference.exact.evaluations import Evaluations
from rnshmc.inference.exact.trouble import Stopped
from rnshmc.inference.result.findings import Findings
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.result.verdict import MUCH_LACKING
from rnshmc.inference.stages.adapted import adapted_hmc
from rnshmc.inference.stages.correction import check, draw_surrogate, metropolis, surrogate_of
from rnshmc.inference.stages.descent import Mode, descend
from rnshmc.inference.stages.ensemble import stretch_moves
from rnshmc.inference.stages.noise import NOISY, noise_of
from rnshmc.inference.stages.probing import settle
from rnshmc.inference.stages.training import FIRST_BATCH, train
from rnshmc.inference.surrogate.posterior import MOST_ROWS
from rnshmc.types import Array

LEAST_EFFICIENCY = 0.2
"""Of the importance weights of a surrogate that is used."""
ATTEMPTS = 3
"""Times that a surrogate is trained, from the coordinates of the mode on: each costs a few percent of adapted HMC."""
PRECISION = 0.5
"""Expectations are corrected to the precision of this many independent draws for each draw that was asked for."""


def run(
    evaluations: Evaluations,
    starts: Array,
    *,
    draws: int,
    rng: np.random.Generator,
    progress: Callable[[Progress], None] = lambda _: None,
) -> Outcome:
    """Draws and expectations of the posterior, for few exact evaluations.

    When the budget is spent, and after Ctrl-C, the outcome holds what there is.

    Parameters
    ----------
    evaluations
        The exact potential, and what is known of it already.
    starts
        Starting points, shape (k, d), or (d,) for one.
    draws
        Number of draws in the outcome. It sets the precision, too: corrected expectations aim at the errors of
        ``draws`` / 2 independent draws.
    rng
        Draws everything.
    progress
        Is told of each batch of evaluations.

    Raises
    ------
    ParameterError
        If ``starts`` has a wrong shape, ``draws`` is less than 1, or the potential cannot be evaluated at the start.
    """
    starts = np.atleast_2d(np.asarray(starts, dtype=np.float64))
    if starts.shape[1:] != (evaluations.dim,) or not len(starts) or not np.isfinite(starts).all():
        raise ParameterError(f"starts: expected finite numbers of shape (k, {evaluations.dim}), got {starts.shape}")
    if draws < 1:
        raise ParameterError(f"draws: expected at least 1, got {draws}")
    archive = Archive(evaluations, progress)
    findings = Findings(archive, draws)
    try:
        _run(archive, findings, starts, draws=draws, rng=rng)
        findings.finished = True
    except Stopped as error:
        findings.warnings.append(f"It stopped before its end: {error}")
    except KeyboardInterrupt:
        findings.warnings.append("It stopped before its end: it was interrupted")
    return findings.outcome()


def _run(archive: Archive, findings: Findings, starts: Array, *, draws: int, rng: np.random.Generator) -> None:
    for start in starts:
        findings.add_mode(descend(archive, start))
    best = min(findings.modes, key=lambda mode: mode.value)
    settled = settle(archive, best, rng)
    findings.replace_mode(best, settled)
    findings.whitening = settled.whitening
    reason = _no_surrogate(archive, findings.modes)
    if reason is None:
        reason = _with_surrogate(archive, findings, draws=draws, rng=rng)
    if reason is None:
        return
    findings.method, findings.reason = ("adapted HMC" if archive.has_gradient else "ensemble"), reason
    walk = adapted_hmc if archive.has_gradient else stretch_moves
    centres = np.array([mode.whitening.centre for mode in findings.modes])
    for block in walk(archive, findings.whitening, centres, draws=draws, rng=rng):
        findings.add_block(*block)


def _no_surrogate(archive: Archive, modes: list[Mode]) -> str | None:
    """Why a surrogate is not even tried; None if it is."""
    if len(modes) > 1:
        return f"the starts led to {len(modes)} different modes, and one surrogate serves one mode"
    rows = (archive.dim + 1 if archive.has_gradient else 1) * (archive.dim + 1 + FIRST_BATCH)
    if rows > MOST_ROWS:
        return f"{archive.dim} dimensions are too many for the surrogate"
    return None


def _with_surrogate(archive: Archive, findings: Findings, *, draws: int, rng: np.random.Generator) -> str | None:
    """Train, check and draw; the reason if the surrogate turned out to be no good, each time that it was tried."""
    # Whitened by a surrogate that ran off, points are where nothing is to be learnt: coordinates of the mode again.
    whitening, reason = findings.whitening, None
    for _ in range(ATTEMPTS):
        findings.whitening = whitening
        reason = _attempt(archive, findings, draws=draws, rng=rng)
        # What warns here is noise, and a noisy potential is learnt no better the next time.
        if reason is None or findings.warnings:
            break
        findings.reason = reason
    return reason


def _attempt(archive: Archive, findings: Findings, *, draws: int, rng: np.random.Generator) -> str | None:
    aim = PRECISION * draws
    try:
        trained = train(archive, findings.whitening, aim=aim, rng=rng)
    except FitError as error:
        return f"no surrogate could be fitted: {error}"
    noise = noise_of(archive, trained.posterior, rng)
    if noise > 0.5 * NOISY:
        findings.warnings.append(f"The potential is noisy: its values differ by {noise:.2g} between neighbours")
    if not trained.good:
        spread = np.sqrt(trained.variance)
        return f"the surrogate is too far from the posterior (relative error of its weights {spread:.2f})"
    findings.whitening = trained.posterior.whitening
    findings.method, findings.reason = "surrogate", "the surrogate is close to the posterior"
    surrogate_draws = draw_surrogate(trained.posterior, trained.positions, rng)
    findings.surrogate_draws = surrogate_draws
    checked = check(archive, trained.posterior, surrogate_draws, aim=aim, variance=trained.variance, rng=rng)
    findings.surrogate = surrogate_of(trained.posterior, surrogate_draws, checked, trained.tails, aim=aim, rng=rng)
    findings.exact = metropolis(checked, rng)
    weights = findings.surrogate.weights
    if weights.heavy or weights.efficiency < LEAST_EFFICIENCY:
        return (
            f"the importance weights of the surrogate's draws are too uneven (efficiency {weights.efficiency:.2f}, "
            f"Pareto k {weights.pareto_k:.2f})"
        )
    if findings.surrogate.lacking > MUCH_LACKING:
        return f"its tails may lack {findings.surrogate.lacking:.0%} of the standard deviation of a mean or variance"
    findings.rows = resampled(findings.surrogate, findings.whitening, draws, rng)
    return None
