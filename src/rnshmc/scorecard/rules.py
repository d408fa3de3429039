"""When a number of a paper counts as reproduced: a stated rule for each kind of number."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate

Apart = Literal["another machine", "by construction", "contradictory in print", "searched", "repeat"]
Kind = Literal["within", "near", "factor", "cost", "gain", "at_least", "at_most", Apart]
Verdict = Literal["reproduced", "differs", "better than printed", "not judged", Apart]
Source = Literal["", "paper", "ours"]

APART: tuple[Apart, ...] = get_args(Apart)
"""Why a number is compared in no run; rules and verdicts of the same names."""
KINDS: tuple[Kind, ...] = get_args(Kind)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
ONE_SIDED: tuple[Kind, ...] = ("at_least", "at_most")
WIDENED: tuple[Kind, ...] = ("within", "near")
"""Rules with a bound that standard errors can widen."""
OF_SECONDS: tuple[Kind, ...] = ("factor", "cost", "gain")
"""Rules about ratios of seconds, which vary between runs."""
SIGMAS = 2.0
"""Numbers differ if they are further apart than this many standard errors of their difference."""


@dataclass(frozen=True)
class Rule:
    """A rule that compares our number with the published one.

    A number is not judged if it neither shows nor refutes what the paper prints: if it breaks the rule of a printed
    number by no more than `SIGMAS` standard errors, or is that close to the bound of a statement, on either side. With
    ``within`` and ``near`` the error is that of the difference, of the published number and of ours, and may widen a
    bound by at most `slack`, so that noise alone reproduces nothing. Raises `ParameterError` if there is no such kind,
    or a bound, a slack or its source is missing or out of place.
    """

    kind: Kind
    """- ``within``: their difference is at most `bound`, or `SIGMAS` standard errors and at most `bound` + `slack`. -
    ``near``: their difference is at most `bound` times the published number, or their ratio is within `SIGMAS` relative
    standard errors and within a factor 1 + `bound` + `slack`. - ``factor``: neither is more than `bound` times the
    other. - ``cost``, ``gain``: the same, for seconds and speed-ups of a method that a paper proposes. One that is
    cheaper than that is better than printed, which counts for neither side. - ``at_least``, ``at_most``: ours is on the
    stated side of `bound`. For statements in words. - one of `APART`: not compared, and why."""
    bound: float = math.nan
    slack: float = math.nan
    """Parameters of the kind; NaN where it has none."""
    bound_by: Source = ""
    """Source of a one-sided bound: the ``paper`` ("faster than" means a ratio above 1), or a threshold of ``ours`` for
    a statement in words ("comparable acceptance")."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(f"rule: there is no {self.kind!r}; there are {', '.join(KINDS)}")
        if math.isnan(self.bound) != (self.kind in APART):
            raise ParameterError(f"bound: {self.kind!r} needs {'none' if self.kind in APART else 'a number'}")
        if math.isnan(self.slack) != (self.kind not in WIDENED) or self.slack < 0:
            raise ParameterError(f"slack: {self.kind!r} needs {'a number from 0' if self.kind in WIDENED else 'none'}")
        if self.bound_by not in (("paper", "ours") if self.kind in ONE_SIDED else ("",)):
            raise ParameterError("bound_by: 'paper' or 'ours' for at_least and at_most, empty for the others")

    def __str__(self) -> str:
        bound, widest = f"{self.bound:g}", f"{self.bound + self.slack:g}"
        whose = " (our threshold)" if self.bound_by == "ours" else ""
        return {
            "within": f"difference at most {bound}, or {SIGMAS:g} standard errors up to {widest}",
            "near": f"difference at most {self.bound:.0%}, or {SIGMAS:g} standard errors up to a factor "
            f"{1 + self.bound + self.slack:g}",
            **dict.fromkeys(OF_SECONDS, f"ratio within a factor {bound}"),
            "at_least": f"at least {bound}{whose}",
            "at_most": f"at most {bound}{whose}",
        }.get(self.kind, "not compared")

    def verdict(self, printed: float, ours: Estimate, printed_error: float = math.nan) -> Verdict:
        """The verdict on the published number and ours; unknown standard errors are NaN.

        One-sided rules ignore the published number; its standard error is that of `rnshmc.scorecard.noise`.
        """
        if self.kind in APART:
            return self.kind
        if self.kind in ONE_SIDED:
            return self._of_statement(ours)
        if self.kind == "within":
            distance, error = abs(ours.value - printed), math.hypot(_known(ours.error), _known(printed_error))
            bound, widest = self.bound, self.bound + self.slack
        elif self.kind == "near":
            distance, error = _logarithmic(printed, ours, printed_error)
            # 15% less is further off in logarithms than 15% more.
            bound = abs(math.log(1 + math.copysign(self.bound, ours.value - printed)))
            widest = math.log(1 + self.bound + self.slack)
        else:
            return self._of_seconds(printed, ours)
        if distance <= max(bound, min(SIGMAS * error, widest)):
            return "reproduced"
        return "not judged" if distance <= SIGMAS * error else "differs"

    def _of_statement(self, ours: Estimate) -> Verdict:
        beyond = ours.value - self.bound if self.kind == "at_least" else self.bound - ours.value
        if abs(beyond) < SIGMAS * _known(ours.error):
            return "not judged"
        return "reproduced" if beyond >= 0 else "differs"

    def _of_seconds(self, printed: float, ours: Estimate) -> Verdict:
        distance, error = _logarithmic(printed, ours, math.nan)
        beyond = distance - math.log(self.bound)
        if beyond <= 0:
            return "reproduced"
        if beyond <= SIGMAS * error:
            return "not judged"
        cheaper = {"cost": ours.value < printed, "gain": ours.value > printed}.get(self.kind, False)
        return "better than printed" if cheaper else "differs"


def _logarithmic(printed: float, ours: Estimate, printed_error: float) -> tuple[float, float]:
    """The logarithm of the ratio of two numbers, without its sign, and its error; infinite if their signs differ."""
    if ours.value * printed <= 0:
        return math.inf, 0.0
    error = math.hypot(_known(ours.error / ours.value), _known(printed_error / printed))
    return abs(math.log(ours.value / printed)), error


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else abs(error)
