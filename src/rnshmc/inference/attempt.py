"""One surrogate: trained, checked and drawn from; and what a run that stopped early makes of it."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.coordinates import found_bend, gone_over, straightened, unexplained
from rnshmc.inference.job import Job, suffices, teachable
from rnshmc.inference.refinement import refine, unchecked
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.correcting import corrected_by
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.evidence import log_evidence
from rnshmc.inference.result.findings import Found
from rnshmc.inference.result.resampling import resampled
from rnshmc.inference.stages.correction import (
    Checked,
    check,
    choose,
    draw_surrogate,
    largest_rhat,
    metropolis,
    without_density,
    without_random_failures,
)
from rnshmc.inference.stages.descent import far_below
from rnshmc.inference.stages.noise import measure_noise
from rnshmc.inference.stages.probing import descend_again, settle
from rnshmc.inference.stages.training import Trained, train
from rnshmc.inference.surrogate.influence import Influence
from rnshmc.inference.surrogate.posterior import SurrogatePosterior
from rnshmc.inference.surrogate.tails import Tails
from rnshmc.inference.tuning import Tuning
from rnshmc.types import Array


def attempts(job: Job, found: Found) -> Iterator[Found]:
    """What is found by training surrogates, until one is good enough; the last has rows then."""
    found = replace(found, begun=found.whitening)
    tuning = job.tuning
    for more in reversed(range(job.tuning.attempts)):
        begun, known = found.begun, len(job.archive.training().values)
        # A surrogate that diverged distorts the whitening: each attempt starts from the mode's.
        for tried in attempt(replace(job, tuning=tuning), replace(found, whitening=found.begun)):
            found = tried
            yield found
            if _of_no_use(job, found):
                found = replace(found, refused=True, reason="training came upon a far lower mode than it began at")
                yield found
                break
        # Noise is fitted no better by another surrogate.
        if found.rows is not None or job.archive.noise > job.tuning.judging.noisy:
            return
        last = not more or _better_taught(job, found)
        if last and not suffices(job):
            return
        # Outputs of a model are as smooth far up as elsewhere, and their emulators are fitted to all runs.
        if not job.archive.emulating:
            found = replace(lowered(job, straightened(job, found)), refused=True)
            yield found
            tried_again, tuning = tuning is not job.tuning, job.tuning.again(known=len(job.archive.training().values))
            # One that was full of known points from the first fit on, and did not help, would be made once more.
            full = len(job.archive.training().values) - known < 2 * tuning.training.first_batch
            last = last or (tried_again and full and found.begun is begun)
        if last:
            return


def _better_taught(job: Job, found: Found) -> bool:
    """Whether exact chains come before another surrogate: they tell where the posterior is, which the last did not."""
    if (
        found.trained is None
        or job.archive.emulating
        or not teachable(job)
        or len(found.modes) > 1
        or not suffices(job)
    ):
        return False
    return not found.trained.variance < job.tuning.teaching.far


def lowered(job: Job, found: Found) -> Found:
    """With the mode found by a new descent, where training found a potential far below the current mode."""
    lowest = _below(job, found)
    if lowest is None:
        return found
    [mode], tuning = found.modes, job.tuning
    ended = descend_again(job.archive, mode.whitening.moved(lowest), tuning)
    mode = settle(job.archive, ended, job.rng, tuning)
    return replace(found, modes=(mode,), whitening=mode.whitening, begun=mode.whitening)


def _of_no_use(job: Job, found: Found) -> bool:
    """Whether training goes on around a mode that has no mass: even draws are far below it."""
    training = found.trained is not None and not found.trained.good and not found.refused
    return training and not job.archive.emulating and _below(job, found, 0.5 * job.archive.dim) is not None


def _below(job: Job, found: Found, further: float = 0.0) -> Array | None:
    """The point of the lowest potential, (d,), where that is far below the only mode, and lower still by so much."""
    known, tuning = job.archive.slopes(), job.tuning
    if len(found.modes) > 1 or job.archive.part is not None or not len(known.values):
        return None
    [mode], best = found.modes, int(np.argmin(known.values))
    least = far_below(job.archive, tuning) + further
    return None if known.values[best] > mode.value - least else np.asarray(known.points[best])


def attempt(job: Job, found: Found) -> Iterator[Found]:
    """Train a surrogate, check it and draw; the last one has rows if it is good enough, and else the reason.

    Where it is wrong, and a bend explains the gradients so far better, training begins anew in bent coordinates.
    """
    found = found.forgetting_the_surrogate()
    assert found.whitening is not None
    try:
        for trained in train(job.archive, found.whitening, job.rng, job.tuning, aim=job.aim):
            found = replace(found, trained=trained)
            yield found
            if unexplained(job, found, trained):
                better = found_bend(job, found, trained)
                if better is not None:
                    # At once: what was found is in other coordinates than the archive's, should the run end here.
                    bent = gone_over(job, found, better)
                    yield bent
                    yield from attempt(job, bent)
                    return
                found = replace(found, unbent=len(job.archive.slopes().points))
        measure_noise(job.archive, trained.posterior, job.rng, job.tuning.noise)
        if not trained.good:
            yield replace(found, refused=True, reason=_too_far(trained))
            return
        for checked in checked_surrogate(job, found, trained):
            found = checked
            yield found
        assert found.surrogate is not None
        refused = _refused(found, found.surrogate, job.tuning)
        if refused is None:
            yield with_rows(job, found)
        else:
            yield replace(found, method="none", refused=True, reason=refused)
    except (FitError, np.linalg.LinAlgError) as error:
        yield replace(found, method="none", refused=True, reason=f"no surrogate could be fitted: {error}")


def checked_surrogate(job: Job, found: Found, trained: Trained) -> Iterator[Found]:
    """With exact values at draws of a surrogate, and in the end all that they correct."""
    posterior = trained.posterior
    drawn = draw_surrogate(posterior, trained.positions, job.rng, job.tuning.correction)
    found = replace(found, whitening=posterior.whitening, surrogate_draws=drawn)
    if job.archive.emulating:
        for refined in refine(job.archive, trained, drawn, job.rng, job.tuning, aim=job.aim):
            kept = without_random_failures(refined.checked, drawn, job.tuning.correction)
            found = replace(
                found,
                trained=replace(trained, posterior=refined.posterior),
                surrogate_draws=refined.draws,
                checked=kept,
                passed_over=len(refined.checked.values) - len(kept.values),
                surrogate=refined.surrogate,
                log_evidence=_evidence(job, trained.posterior, drawn, kept, trained.tails, refined.surrogate),
                exact=metropolis(kept, job.rng, job.tuning.correction),
            )
            yield found
        assert found.surrogate_draws is not None
        behind = _behind(job, found, posterior, drawn)
        found = replace(found, surrogate_rhat=_rhat(found.surrogate_draws, job.tuning), beyond=len(behind))
    else:
        archive, known, early = job.archive, trained.variance, found.early
        rounds = check(archive, posterior, drawn, job.rng, job.tuning, aim=job.aim, variance=known, early=early)
        found = replace(found, surrogate_rhat=_rhat(drawn, job.tuning))
        # Where the chains are apart, a few tell the next attempt what they fell into.
        apart = found.surrogate_rhat > job.tuning.judging.apart
        for checked in islice(rounds, 1) if apart else rounds:
            found = replace(found, checked=checked)
            yield found
        chosen = (
            None if apart else choose(archive, posterior, drawn, checked, job.rng, job.tuning.correction, aim=job.aim)
        )
        found = _corrected(job, found, trained, drawn, checked, chosen)
    yield replace(found, method="surrogate", reason="the surrogate is close to the posterior")


def with_rows(job: Job, found: Found) -> Found:
    """With as many draws as were asked for."""
    assert found.surrogate is not None
    assert found.whitening is not None
    return replace(found, rows=resampled(found.surrogate, found.whitening, job.draws, job.rng, job.tuning.resampling))


def salvaged(job: Job, found: Found) -> Found:
    """What a run that stopped early allows without another evaluation: its chains, or else its latest surrogate."""
    chains = found.chains()
    if found.rows is not None or (chains is not None and not largest_rhat(chains.draws) > job.tuning.judging.apart):
        return found
    if found.trained is None:
        return found
    try:
        if found.surrogate is None:
            found = _unfinished(job, found, found.trained)
        return with_rows(job, replace(found, method="surrogate", blocks=()))
    except (FitError, np.linalg.LinAlgError):
        return found


def _unfinished(job: Job, found: Found, trained: Trained) -> Found:
    """Corrected by the exact values that there are, if any."""
    drawn, checked = found.surrogate_draws, found.checked
    if drawn is None or checked is None:
        brief = replace(job.tuning.correction, doublings=0)
        drawn = draw_surrogate(trained.posterior, trained.positions, job.rng, brief)
        checked = Checked.none(job.archive.dim)
        whitening = trained.posterior.whitening
        found = replace(found, whitening=whitening, surrogate_draws=drawn, surrogate_rhat=np.nan)
    return _corrected(job, found, trained, drawn, checked)


def _corrected(
    job: Job,
    found: Found,
    trained: Trained,
    drawn: Array,
    checked: Checked,
    chosen: tuple[Influence, Checked] | None = None,
) -> Found:
    posterior, process = trained.posterior, job.tuning.process
    kept = without_random_failures(checked, drawn, job.tuning.correction)
    found = replace(found, passed_over=len(checked.values) - len(kept.values))
    if found.passed_over:
        checked, chosen = kept, chosen and (chosen[0], chosen[1].where(np.flatnonzero(~chosen[1].failed)))
    behind = _behind(job, found, posterior, drawn)
    tails = trained.tails.joined(_excess(behind, len(checked.values)))
    if job.archive.served(job.tuning.training.fewest) and np.isnan(job.archive.surrogate_error):
        surrogate = unchecked(job.archive, trained, drawn, job.rng, job.tuning, aim=job.aim)
    else:
        surrogate = corrected_by(posterior, drawn, checked, tails, job.rng, process, aim=job.aim, chosen=chosen)
    evidence = _evidence(job, trained.posterior, drawn, checked, tails, surrogate)
    exact = metropolis(checked, job.rng, job.tuning.correction)
    return replace(found, checked=checked, surrogate=surrogate, log_evidence=evidence, exact=exact, beyond=len(behind))


def _behind(job: Job, found: Found, posterior: SurrogatePosterior, drawn: Array) -> Array:
    """Points where the surrogate expects draws and there is no density; failures at random are none of them."""
    tuning, failed = job.tuning.correction, not found.passed_over
    return without_density(job.archive, posterior, drawn, tuning, found.early, failed=failed)


def _excess(behind: Array, checks: int) -> Tails:
    """What a surrogate may have in excess at points without density: the mass of one of so many checked draws."""
    return Tails(behind, np.full(len(behind), 1.0 / max(len(behind) * checks, 1)))


def _evidence(
    job: Job, posterior: SurrogatePosterior, drawn: Array, checked: Checked, tails: Tails, surrogate: Corrected
) -> Estimate:
    """By the surrogate that the checked draws are of."""
    expected = surrogate.paths.expected_variance
    return log_evidence(posterior, drawn, checked.differences, tails, job.rng.spawn(1)[0], expected=expected)


def _refused(found: Found, surrogate: Corrected, tuning: Tuning) -> str | None:
    """Why a surrogate that was checked is not used; None if it is."""
    weights, lacking, limits = surrogate.weights, surrogate.lacking, tuning.correction
    if len(surrogate.checked) and (weights.heavy or weights.efficiency < limits.least_efficiency):
        return (
            f"the importance weights of the surrogate's draws are too uneven (efficiency {weights.efficiency:.2f}, "
            f"Pareto k {weights.pareto_k:.2f})"
        )
    if lacking > tuning.judging.much_lacking:
        return f"its tails may lack {lacking:.0%} of the standard deviation of a mean or variance"
    rhat = found.surrogate_rhat
    if rhat > tuning.judging.apart:
        return f"the surrogate's chains are in different places (R-hat {rhat:.2f})"
    if len(surrogate.checked) > 1 and not surrogate.open_moments <= limits.much_open:
        error = np.sqrt(surrogate.open_moments)
        return f"the surrogate leaves errors of {error:.1g} standard deviations to means or variances"
    return None


def _rhat(drawn: Array, tuning: Tuning) -> float:
    """Of as many of the surrogate's chains as a verdict looks at."""
    return largest_rhat(drawn[: tuning.correction.rhat_chains])


def _too_far(trained: Trained) -> str:
    spread = np.sqrt(trained.variance)
    how = f"relative error of its weights {spread:.2f}" if np.isfinite(spread) else "none of its draws was near"
    return f"the surrogate is too far from the posterior ({how})"
