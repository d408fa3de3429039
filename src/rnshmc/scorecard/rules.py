"""When a number of a paper counts as reproduced: a stated rule for each kind of number."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate

Verdict = Literal["reproduced", "differs", "not judged", "not comparable"]
Kind = Literal["within", "near", "factor", "no_less", "no_more", "at_least", "at_most", "never"]
Source = Literal["", "paper", "ours"]

ONE_SIDED: tuple[Kind, ...] = ("at_least", "at_most")
WIDENED: tuple[Kind, ...] = ("within", "near")
"""Rules with a bound that standard errors can widen."""
SIGMAS = 2.0
"""Numbers differ if they are further apart than this many standard errors of their difference."""


@dataclass(frozen=True)
class Rule:
    """A rule that compares our number with the published one.

    A number is not judged if it neither shows nor refutes what the paper prints: if it breaks the rule of a printed
    number by no more than `SIGMAS` standard errors, or is that close to the bound of a statement, on either side. With
    two-sided rules the error is that of the difference, of the published number and of ours, and may widen a bound by
    at most `slack`, so that noise alone reproduces nothing.

    Attributes
    ----------
    kind
        - ``within``: their difference is at most `bound`, or `SIGMAS` standard errors and at most `bound` + `slack`.
        - ``near``: their difference is at most `bound` times the published number, or their ratio is within `SIGMAS`
          relative standard errors and within a factor 1 + `bound` + `slack`.
        - ``factor``: neither is more than `bound` times the other.
        - ``no_less``, ``no_more``: ours is at least, or at most, `bound` times the published number. For the cost of a
          method that a paper proposes: one that is cheaper than printed passes.
        - ``at_least``, ``at_most``: ours is on the stated side of `bound`. For statements in words.
        - ``never``: not compared, such as seconds of another machine.
    bound, slack
        Parameters of the kind; NaN where it has none.
    bound_by
        Source of a one-sided bound: the ``paper`` ("faster than" means a ratio above 1), or a threshold of ``ours`` for
        a statement in words ("comparable acceptance").

    Raises
    ------
    ParameterError
        If there is no such kind, or a bound, a slack or its source is missing or out of place.
    """

    kind: Kind
    bound: float = math.nan
    slack: float = math.nan
    bound_by: Source = ""

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ParameterError(f"rule: there is no {self.kind!r}; there are {', '.join(get_args(Kind))}")
        if math.isnan(self.bound) != (self.kind == "never"):
            raise ParameterError(f"bound: {self.kind!r} needs {'none' if self.kind == 'never' else 'a number'}")
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
            "factor": f"ratio within a factor {bound}",
            "no_less": f"at least {bound} times the printed number",
            "no_more": f"at most {bound} times the printed number",
            "at_least": f"at least {bound}{whose}",
            "at_most": f"at most {bound}{whose}",
            "never": "not compared",
        }[self.kind]

    def verdict(self, printed: float, ours: Estimate, printed_error: float = math.nan) -> Verdict:
        """The verdict on the published number and ours; unknown standard errors are NaN.

        Parameters
        ----------
        printed
            The published number; ignored by one-sided rules.
        ours
            Our number and its standard error.
        printed_error
            Standard error of the published number (`rnshmc.scorecard.noise`).
        """
        if self.kind == "never":
            return "not comparable"
        if self.kind in ONE_SIDED and abs(ours.value - self.bound) < SIGMAS * _known(ours.error):
            return "not judged"
        if self._holds(printed, ours, printed_error):
            return "reproduced"
        return "not judged" if self._is_open(printed, ours, printed_error) else "differs"

    def _holds(self, printed: float, ours: Estimate, printed_error: float) -> bool:
        if self.kind == "at_least":
            return ours.value >= self.bound
        if self.kind == "at_most":
            return ours.value <= self.bound
        if self.kind in ("factor", "no_less", "no_more"):
            return self._beyond(ours.value / printed) <= 0
        if self.kind == "within":
            room = min(SIGMAS * math.hypot(_known(ours.error), _known(printed_error)), self.bound + self.slack)
            return abs(ours.value - printed) <= max(self.bound, room)
        if abs(ours.value - printed) <= self.bound * abs(printed):
            return True
        distance, error = _logarithmic(printed, ours, printed_error)
        return distance <= min(SIGMAS * error, math.log(1 + self.bound + self.slack))

    def _beyond(self, ratio: float) -> float:
        """How far a ratio is outside the limits of a rule about ratios; not positive inside."""
        too_low, too_high = (1 / self.bound if self.kind == "factor" else self.bound) - ratio, ratio - self.bound
        return {"factor": max(too_low, too_high), "no_less": too_low, "no_more": too_high}[self.kind]

    def _is_open(self, printed: float, ours: Estimate, printed_error: float) -> bool:
        """Whether a broken rule about a printed number is within the error of its limit or of the difference."""
        if self.kind in ("factor", "no_less", "no_more"):
            return self._beyond(ours.value / printed) <= SIGMAS * _known(ours.error) / abs(printed)
        if self.kind == "within":
            return abs(ours.value - printed) <= SIGMAS * math.hypot(_known(ours.error), _known(printed_error))
        if self.kind == "near":
            distance, error = _logarithmic(printed, ours, printed_error)
            return distance <= SIGMAS * error
        return False


def _logarithmic(printed: float, ours: Estimate, printed_error: float) -> tuple[float, float]:
    """The logarithm of the ratio of two numbers, without its sign, and its error; infinite if their signs differ."""
    if ours.value * printed <= 0:
        return math.inf, 0.0
    error = math.hypot(_known(ours.error / ours.value), _known(printed_error / printed))
    return abs(math.log(ours.value / printed)), error


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else abs(error)
