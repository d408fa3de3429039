"""Whether to believe a result, in words, with what they rest on."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rnshmc.diagnostics.ess import MIN_DRAWS, geyer_ess
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.weights import USELESS_K

Level = Literal["good", "doubtful", "bad"]

CLOSE = 0.5
"""sd(U - V) up to which a surrogate is close to the exact potential: weights of its draws have efficiency 0.8."""
FAR = 1.5
"""sd(U - V) beyond which corrections rest on a few draws: weights have efficiency 0.1."""
RELIABLE_K = 0.7
"""Shape of the weights' tail up to which they average reliably (Vehtari et al. 2024)."""
FEW = 100.0
"""Effective draws from which on averages over chains are worth printing."""
MIXED = 1.01
"""R-hat up to which chains agree, for the short chains here."""
OPEN, WIDE_OPEN = 0.2, 0.5
"""Share of the posterior's mass that exact values may leave open, and the share from which on they say too little.

Total variation is that where U - V is normal with standard deviation `CLOSE` and `FAR`."""
EVEN = 0.995
"""Efficiency from which on weights are even."""
LACKING, MUCH_LACKING = 0.1, 0.3
"""Part of means and variances, in standard deviations, that tails may lack, and from which on they say too little."""
SURPRISE = 4.0
"""Standard errors between observed and predicted acceptance that are no chance."""
_MEANING = {
    "good": "The result can be trusted, as far as it can see itself.",
    "doubtful": "The result is to be looked at: see what is marked with !.",
    "bad": "The result is not to be used.",
}


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    level: Level
    text: str


@dataclass(frozen=True)
class Verdict:
    """Whether to believe a result, and what that rests on."""

    findings: tuple[Finding, ...]

    @property
    def level(self) -> Level:
        """The worst of the findings."""
        found = {finding.level for finding in self.findings}
        return "bad" if "bad" in found else "doubtful" if "doubtful" in found else "good"

    def __str__(self) -> str:
        signs = {"good": " ", "doubtful": "!", "bad": "!"}
        return "\n".join([_MEANING[self.level], *(f" {signs[f.level]} {f.text}" for f in self.findings)])


def judge(outcome: Outcome, names: Sequence[str]) -> Verdict:
    """The verdict on a run.

    Parameters
    ----------
    outcome
        What the run reports.
    names
        Names of the parameters.
    """
    groups = (_ending, _surrogate, _acceptance, _chains, _modes, _failures)
    found = [finding for group in groups for finding in group(outcome)]
    found += [Finding("doubtful", f"{text}.") for text in outcome.warnings]
    found += _uninformed(outcome, names)
    return Verdict(tuple(found))


def _ending(outcome: Outcome) -> Iterator[Finding]:
    if outcome.method == "none" or outcome.draws.size == 0:
        yield Finding("bad", f"There are no draws: {outcome.reason}.")
    elif not np.isfinite([outcome.mean.value, outcome.variance.value]).all():
        yield Finding("bad", "Means or variances are not finite.")
    elif not outcome.finished:
        yield Finding(
            "doubtful", "It stopped before its end, by Ctrl-C or for its budget; this is what there was then."
        )


def _surrogate(outcome: Outcome) -> Iterator[Finding]:
    if outcome.method in ("adapted HMC", "ensemble"):
        yield Finding("good", f"No surrogate was used, but {outcome.method}: {outcome.reason}.")
        return
    sd, k = outcome.surrogate_error, outcome.pareto_k
    if math.isfinite(sd):
        level: Level = "good" if sd <= CLOSE else "doubtful" if sd <= FAR else "bad"
        yield Finding(
            level,
            f"sd(U - V) = {sd:.2g}: exact minus surrogate potential at draws that the surrogate was not fitted to; "
            f"weights of its draws have efficiency {outcome.efficiency:.2f}.",
        )
    if outcome.surrogate is not None:
        share = outcome.surrogate.paths.open_share
        yield Finding(
            "good" if share <= OPEN else "doubtful" if share <= WIDE_OPEN else "bad",
            f"Exact values leave {share:.1%} of the posterior's mass open, by the surrogate's own covariance: "
            "mostly in its tails, where few points are.",
        )
        yield _tails(outcome.surrogate.lacking)
    # Where all weights are nearly 1, their tail has a shape that says nothing.
    if math.isfinite(k) and outcome.efficiency < EVEN:
        level = "good" if k <= RELIABLE_K else "doubtful" if k < USELESS_K else "bad"
        word = {"good": "reliable", "doubtful": "too small", "bad": "meaningless"}[level]
        yield Finding(level, f"Pareto k = {k:.2f}: standard errors of corrected expectations are {word}.")


def _tails(lacking: float) -> Finding:
    return Finding(
        "good" if lacking <= LACKING else "doubtful" if lacking <= MUCH_LACKING else "bad",
        f"Tails may lack up to {lacking:.1%} of the standard deviation of a mean or variance; standard errors are "
        "widened by that.",
    )


def _acceptance(outcome: Outcome) -> Iterator[Finding]:
    seen, predicted = outcome.acceptance, outcome.predicted_acceptance
    if not math.isfinite(seen):
        return
    if not math.isfinite(predicted):
        yield Finding("good" if seen > 0.1 else "doubtful", f"{seen:.0%} of proposals were accepted.")
        return
    steps = outcome.potentials.size
    error = math.sqrt(max(predicted * (1 - predicted), 1 / max(steps, 1)) / max(steps, 1))
    text = f"{seen:.0%} of proposals were accepted; sd(U - V) predicts {predicted:.0%}"
    if abs(seen - predicted) > SURPRISE * error:
        yield Finding("doubtful", f"{text}: the surrogate is worse where chains go than where it was checked.")
    else:
        yield Finding("good", f"{text}.")


def _chains(outcome: Outcome) -> Iterator[Finding]:
    if outcome.surrogate is None and outcome.draws.shape[1] >= MIN_DRAWS:
        effective = float(np.sum([geyer_ess(chain) for chain in outcome.draws], axis=0).min())
        level: Level = "good" if effective >= FEW else "doubtful"
        yield Finding(level, f"The draws are worth {effective:.0f} independent ones, in the worst coordinate.")
    if math.isnan(outcome.rhat):
        return
    if outcome.rhat <= MIXED:
        yield Finding("good", f"R-hat = {outcome.rhat:.2f}: the chains agree.")
    else:
        yield Finding("doubtful", f"R-hat = {outcome.rhat:.2f}: the chains disagree; they need more draws.")


def _modes(outcome: Outcome) -> Iterator[Finding]:
    if len(outcome.modes) > 1:
        values = np.array([mode.value for mode in outcome.modes])
        heights = ", ".join(f"{height:.3g}" for height in values.min() - values)
        yield Finding(
            "doubtful",
            f"The starts led to {len(outcome.modes)} modes, with log densities {heights} relative to the highest; the "
            "share of each in the result may be wrong.",
        )


def _failures(outcome: Outcome) -> Iterator[Finding]:
    if not outcome.failures:
        return
    count = sum(outcome.failures.values())
    reason, times = max(outcome.failures.items(), key=lambda item: item[1])
    share = count / max(outcome.spent.values, 1)
    yield Finding(
        "doubtful" if share > 0.1 else "good",
        f"{count} evaluations failed and count as density 0; most often ({times}): {reason}",
    )


def _uninformed(outcome: Outcome, names: Sequence[str]) -> Iterator[Finding]:
    for direction in outcome.uninformed:
        order = np.argsort(-np.abs(direction))
        main = [i for i in order[:4] if abs(direction[i]) > 0.3] or [order[0]]
        terms = " ".join(f"{direction[i]:+.2f} {names[i]}" for i in main)
        yield Finding("doubtful", f"The density hardly depends on {terms}: only the prior bounds it, if there is one.")
