"""Whether to trust a result, in words, with the evidence.

Each check is a function from an outcome to findings; a new line of the verdict is a new check in `_CHECKS`. Its limits
are in `rnshmc.inference.tuning_result.Judging`.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from rnshmc.diagnostics.importance import tail_shape
from rnshmc.diagnostics.summary import MIN_DRAWS, effective_sizes
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.findings import LIMITS, Finding, Level, mode_findings, searched, warp_findings
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.surrogate.weights import EVEN, USELESS_K, reliable_k
from rnshmc.inference.tuning_shared import BAD, MANY, SURPRISE, TOLERATED

HEADS = {
    "good": "No problem found",
    "doubtful": "Check the lines marked ! before you use this result.",
    "bad": "Do not use this result; see the lines marked !.",
}


@dataclass(frozen=True)
class Verdict:
    """Whether to trust a result, and the evidence; the first line of a good one reports where it was `searched`."""

    findings: tuple[Finding, ...]
    searched: str = ""

    @property
    def level(self) -> Level:
        """The worst level of the findings."""
        return _worst(finding.level for finding in self.findings)

    def with_findings(self, further: Iterable[Finding]) -> "Verdict":
        """Append further findings."""
        return replace(self, findings=(*self.findings, *further))

    def __str__(self) -> str:
        head = HEADS[self.level] + (f"{self.searched}." if self.level == "good" else "")
        return "\n".join([head, *(f" {' ' if f.level == 'good' else '!'} {f.text}" for f in self.findings)])


def judge(outcome: Outcome, names: Sequence[str], *, coordinates: Sequence[str] | None = None) -> Verdict:
    """The verdict on a run, in the names of its parameters and of their unconstrained coordinates (None: the same)."""
    found = [finding for check in _CHECKS for finding in check(outcome)]
    bends = warp_findings(outcome.bend, coordinates or names)
    return Verdict((*found, *bends, *_uninformed(outcome, names)), searched(outcome))


def _ending(outcome: Outcome) -> Iterator[Finding]:
    if outcome.method == "none" or (outcome.draws.size == 0 and outcome.surrogate is None):
        yield Finding("bad", f"There are no draws: {outcome.reason}.")
    elif not np.isfinite([outcome.mean.value, outcome.variance.value]).all():
        yield Finding("bad", "Means or variances are not finite.")
    if outcome.stopped is not None:
        yield Finding("doubtful", f"The run stopped early: {outcome.stopped}. This result uses its evaluations so far.")


def _method(outcome: Outcome) -> Iterator[Finding]:
    if outcome.method not in ("surrogate", "none"):
        yield Finding("good", f"The draws are from {outcome.method}, not from a surrogate: {outcome.reason}.")
    elif outcome.method == "surrogate" and outcome.refused:
        level: Level = "doubtful" if outcome.gradients else "bad"
        yield Finding(level, f"The surrogate is used although it is not good enough: {outcome.reason}.")


def _surrogate(outcome: Outcome) -> Iterator[Finding]:
    if outcome.surrogate is None and outcome.method != "surrogate":
        return
    sd = outcome.surrogate_error
    if not math.isfinite(sd):
        yield Finding("bad", "sd(U - V) is unknown: no draw of the surrogate has a finite exact potential.")
        return
    level = _level(sd, LIMITS.sd_good, LIMITS.sd_bad)
    left_out = outcome.surrogate.left_out if isinstance(outcome.surrogate, Corrected) else 0
    if left_out >= LIMITS.telling:
        text = f"sd(U - V) = {sd:.2g} at {left_out} stored runs, each left out in turn"
        yield Finding(level, f"{text}; none was made at draws of this posterior.")
        return
    if outcome.surrogate is not None and not len(outcome.surrogate.checked):
        text = f"sd(U - V) = {sd:.2g} at the last training points; the final surrogate was not checked or corrected."
        yield Finding(_worst([level, "doubtful"]), text)
        return
    checks = outcome.surrogate.checked if isinstance(outcome.surrogate, Corrected) and not outcome.roughest else ()
    if len(checks) >= MANY and outcome.efficiency >= math.exp(-(LIMITS.sd_good**2)):
        # Weights are as even as those of normal differences with a good sd: the sd then comes from draws of negligible
        # weight, where V is too low.
        level = "good" if sd <= LIMITS.sd_bad else "doubtful"
    yield Finding(
        level,
        f"sd(U - V) = {sd:.2g}: exact minus surrogate potential at draws that were not used to fit the surrogate; "
        f"importance weights have efficiency {outcome.efficiency:.2f}.",
    )


def _emulator(outcome: Outcome) -> Iterator[Finding]:
    if outcome.roughest is not None and outcome.surrogate_error > LIMITS.sd_good:
        output, error = outcome.roughest
        text = f"{output[:1].upper()}{output[1:]} has the largest emulation error: {error:.2g} times"
        yield Finding("good", f"{text} the error of its datum.")


def _directions(outcome: Outcome) -> Iterator[Finding]:
    if outcome.learnt is not None:
        text = f"The surrogate learns {outcome.learnt} of {len(outcome.mean.value)} directions: those in which"
        yield Finding("good", f"{text} gradients show that the posterior is not normal.")


def _evidence(outcome: Outcome) -> Iterator[Finding]:
    if outcome.surrogate is None:
        return
    share, lacking = outcome.surrogate.open_share, outcome.surrogate.lacking
    text = f"Unresolved posterior mass: {share:.1%} (from the surrogate's predictive covariance)."
    yield Finding(_level(share, open_share(LIMITS.sd_good), open_share(LIMITS.sd_bad)), text)
    text = f"Unexplored tails may shift a mean or variance by up to {lacking:.1%} of a standard deviation"
    yield Finding(_level(lacking, TOLERATED, BAD * TOLERATED), f"{text}; standard errors include this.")


def _weights(outcome: Outcome) -> Iterator[Finding]:
    # Where sd(U - V) is negligible, so is the tail of the weights.
    if outcome.surrogate is None or not outcome.efficiency < math.exp(-(TOLERATED**2)):
        return
    count, k = len(outcome.surrogate.checked), outcome.pareto_k
    limit = reliable_k(count)
    if math.isnan(limit):
        yield Finding("good", f"The tail of {count} weights cannot be judged: Pareto k needs {MANY} or more.")
    elif math.isfinite(k):
        level = _level(k, limit, USELESS_K)
        word = {"good": "reliable", "doubtful": "too small", "bad": "meaningless"}[level]
        # Nearly even weights average well, whatever the shape of their tail.
        level = "doubtful" if level == "bad" and outcome.efficiency >= EVEN else level
        text = f"standard errors of corrected expectations are {word} ({count} weights: reliable up to {limit:.2f})"
        yield Finding(level, f"Pareto k = {k:.2f}: {text}.")


def _acceptance(outcome: Outcome) -> Iterator[Finding]:
    seen, predicted = outcome.acceptance, outcome.predicted_acceptance
    if not math.isfinite(seen):
        return
    text = f"{seen:.0%} of proposals were accepted"
    if not math.isfinite(predicted):
        yield Finding("good" if seen > TOLERATED else "doubtful", f"{text}.")
        return
    steps = max(outcome.potentials.size, 1)
    error = math.sqrt(max(predicted * (1 - predicted), 1 / steps) / steps)
    if seen < predicted - SURPRISE * error:
        why = "the surrogate is less accurate where the chains go than where it was checked"
        yield Finding("doubtful", f"{text}; sd(U - V) predicts {predicted:.0%}: {why}.")
    else:
        yield Finding("good", f"{text}; sd(U - V) predicts {predicted:.0%}.")


def _chains(outcome: Outcome) -> Iterator[Finding]:
    rhat, which = outcome.rhat, "the surrogate's chains" if outcome.surrogate is not None else "the chains"
    if not math.isnan(rhat):
        level = _level(rhat, LIMITS.rhat_good, LIMITS.rhat_bad)
        what = {
            "good": "agree",
            "doubtful": "have not mixed; they need more draws",
            "bad": "are in different places. Their averages have no standard error",
        }[level]
        yield Finding(level, f"R-hat = {rhat:.3f}: {which} {what}.")
    if outcome.surrogate is None and outcome.draws.shape[1] >= MIN_DRAWS and not rhat > LIMITS.rhat_bad:
        squares = (outcome.draws - outcome.draws.mean(axis=(0, 1))) ** 2
        effective = min(float(effective_sizes(values).min()) for values in (outcome.draws, squares))
        text = f"The smallest effective sample size of a mean or variance is {effective:.0f}"
        yield Finding("good" if effective >= MANY else "doubtful", f"{text}.")
        heaviest = max(tail_shape(column) for column in squares.reshape(-1, squares.shape[2]).T)
        if heaviest > LIMITS.heavy:
            text = f"The squares of one coordinate have a heavy tail (shape {heaviest:.2f}): a few draws determine its"
            yield Finding("doubtful", f"{text} variance, which may be far too small, and so may its standard error.")


def _failures(outcome: Outcome) -> Iterator[Finding]:
    if not outcome.failures:
        return
    count = sum(outcome.failures.values())
    reason, times = max(outcome.failures.items(), key=lambda item: item[1])
    share = count / max(outcome.known, 1)
    if outcome.passed_over:
        effect = f", apparently at random: corrections exclude the {outcome.passed_over} draws among them"
    else:
        effect = " and count as density 0"
    text = f"{count} evaluations failed{effect}; the most frequent reason ({times} times): {reason}"
    yield Finding("doubtful" if share > TOLERATED else "good", text)


def _floor(outcome: Outcome) -> Iterator[Finding]:
    if outcome.floored is not None:
        value, count = outcome.floored
        text = f"The log density is {value:.4g} or less at {count} points, far below all others: these points count as"
        yield Finding("good", f"{text} density 0. Return -inf for impossible points.")


def _edges(outcome: Outcome) -> Iterator[Finding]:
    if not outcome.beyond or outcome.checked is None or outcome.surrogate is None:
        return
    count, drawn = len(outcome.checked.values), int(np.count_nonzero(~np.isfinite(outcome.checked.values)))
    unsure = count < LIMITS.enough or drawn > TOLERATED * count
    yield Finding(
        "doubtful" if unsure else "good",
        f"The density is 0, or was not computed, at {outcome.beyond} points where the surrogate expects draws, and at "
        f"{drawn} of {count} checked draws. The surrogate does not contain this edge; only these draws correct for it.",
    )


def _outlying(outcome: Outcome) -> Iterator[Finding]:
    """Reported only where much is missing: a few directions without any mass are no evidence of the others."""
    if outcome.outlying > TOLERATED:
        yield Finding(
            _level(outcome.outlying, TOLERATED, BAD * TOLERATED),
            f"A variance is too small by at least {outcome.outlying:.2g} standard deviations of a squared normal "
            "variable: exact values far from the mean show mass without draws, as of outliers or a wide component.",
        )


def _target(outcome: Outcome) -> Iterator[Finding]:
    yield from (Finding("doubtful", text) for text in outcome.doubts)
    if outcome.noise > LIMITS.noisy:
        text = f"The log density is noisy: it differs by {outcome.noise:.2g} between neighbouring points"
        yield Finding("doubtful", f"{text}, which neither a surrogate nor a sampler can average out.")


def _uninformed(outcome: Outcome, names: Sequence[str]) -> Iterator[Finding]:
    for direction in outcome.uninformed:
        order = np.argsort(-np.abs(direction))
        main = [i for i in order[:4] if abs(direction[i]) > 0.3] or [order[0]]
        terms = " ".join(f"{direction[i]:+.2f} {names[i]}" for i in main)
        yield Finding("doubtful", f"The density hardly depends on {terms}: only the prior bounds it, if there is one.")


_CHECKS: tuple[Callable[[Outcome], Iterator[Finding]], ...] = (
    _ending,
    _method,
    _surrogate,
    _emulator,
    _directions,
    _evidence,
    _weights,
    _acceptance,
    _chains,
    mode_findings,
    _failures,
    _floor,
    _edges,
    _outlying,
    _target,
)


def open_share(sd: float) -> float:
    """Total variation distance between two densities whose log ratio is normal with a standard deviation."""
    return math.erf(sd / math.sqrt(8.0))


def _level(value: float, good: float, bad: float) -> Level:
    """Good up to one limit, bad beyond the other."""
    return "good" if value <= good else "doubtful" if value <= bad else "bad"


def _worst(levels: Iterable[Level]) -> Level:
    found = set(levels)
    return "bad" if "bad" in found else "doubtful" if "doubtful" in found else "good"
