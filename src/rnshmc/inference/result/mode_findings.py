"""Findings on the modes of a posterior, and where they were searched for."""

from collections.abc import Iterator

import numpy as np

from rnshmc.inference.result.finding import Finding
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.tuning_result import Judging


def searched(outcome: Outcome) -> str:
    """Where no problem was found, as the end of a sentence: in which modes, and whether others were searched for."""
    count, starts = len(outcome.modes), outcome.starts
    if outcome.surveyed:
        return f"in the {f'{count} modes' if count > 1 else 'one mode'} that a search over drawn starts found"
    if count > 1:
        return f"in the {count} modes that {starts} starts found"
    if starts > 1:
        return f"in the one mode that {starts} starts found"
    return "in the one mode that was looked at; other modes were not searched for"


def mode_findings(outcome: Outcome, limits: Judging) -> Iterator[Finding]:
    """How many modes there are, what each has of the posterior, and whether there may be more."""
    count, starts = len(outcome.modes), "One start" if outcome.starts == 1 else f"{outcome.starts} starts"
    if outcome.surveyed:
        starts = f"{outcome.surveyed} runs of a search over drawn starts"
    if count > 1:
        yield _shares(outcome, starts, limits)
    elif count == 1:
        yield _one(outcome, starts)
    for mode in outcome.left_out:
        below = f"a log density {mode.value - min(one.value for one in outcome.modes):.3g} below the highest"
        text = f"A mode with {below} has about {mode.share.value:.0e} of its mass and is left out."
        yield Finding("good", text if mode.converged else f"A descent stopped before it found a mode, with {below}.")
    if any(not mode.converged for mode in outcome.modes):
        text = "A descent found no mode: the potential may be noisy, flat, or without a minimum"
        yield Finding("doubtful", f"{text}. Is the target the log density, and not minus the log density?")


def _one(outcome: Outcome, starts: str) -> Finding:
    """Whether there may be others than the only mode that counts."""
    others = sum(mode.converged for mode in outcome.left_out)
    ended = outcome.starts - (len(outcome.left_out) - others)
    text = f"{starts} found one mode" + (" with a share that matters" if others else "")
    if ended < outcome.starts:
        text = f"{ended} of {outcome.starts} starts found a mode; the others stopped before one"
    # Where each start has a mode of its own, the next one may have, too.
    lonely = ended == others + 1 and not outcome.surveyed
    if outcome.starts == 1 and not outcome.surveyed:
        text = f"{text}; other modes were not searched for (x0 takes several starts as rows)"
    elif lonely and ended > 2:
        text = f"{ended} starts found as many modes, of which one has a share that matters; there may be better ones"
    # Where no surrogate is good enough, the posterior is not near a normal one, and more modes are likely.
    unsure = lonely and (outcome.refused or ended > 2)
    return Finding("doubtful" if unsure or 2 * ended <= outcome.starts else "good", f"{text}.")


def _shares(outcome: Outcome, starts: str, limits: Judging) -> Finding:
    """What is known of the shares of several modes."""
    text = f"{starts} found {len(outcome.modes)} modes"
    if np.isfinite([mode.share.value for mode in outcome.modes]).all():
        shares = ", ".join(f"{mode.share.value:.3f} +- {mode.share.standard_error:.2g}" for mode in outcome.modes)
        text = f"{text}; their shares of the posterior are {shares}"
        # Of n starts in a row, none is among those of a share above 3 / n, by 95%.
        unseen = min(3.0 / max(outcome.quiet, 1), 1.0)
        if unseen <= limits.unseen or outcome.surveyed:
            return Finding("good", f"{text}.")
        last = f"the last {outcome.quiet} starts found no new one, so at most {unseen:.0%} of starts find another"
        return Finding("doubtful", f"{text}. There may be others: {last if unseen < 1.0 else 'too few starts looked'}.")
    values = np.array([mode.value for mode in outcome.modes])
    heights = ", ".join(f"{height:.3g}" for height in values.min() - values)
    mixed = outcome.surrogate is None and outcome.rhat <= limits.rhat_good
    text = f"{text}, with log densities {heights} relative to the highest"
    return Finding("doubtful" if mixed else "bad", f"{text}; the share of each in the result may be wrong.")
