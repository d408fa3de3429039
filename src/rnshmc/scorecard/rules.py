"""When a number of a paper counts as reproduced: a stated rule for each kind of number."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate

Verdict = Literal["reproduced", "differs", "not comparable"]
Kind = Literal["within", "near", "factor", "at_least", "at_most", "never"]
Source = Literal["", "paper", "ours"]

ONE_SIDED: tuple[Kind, ...] = ("at_least", "at_most")
SIGMAS = 2.0
"""Numbers differ if they are further apart than this many standard errors of their difference."""


@dataclass(frozen=True)
class Rule:
    """A rule that compares our number with the published one.

    Monte Carlo error can widen a bound by at most `slack`, so that a rule can fail however noisy a number is. With
    two-sided rules the error is that of the difference, of the published number and of ours.

    Attributes
    ----------
    kind
        - ``within``: their difference is at most `bound`, or `SIGMAS` standard errors and at most `bound` + `slack`.
        - ``near``: their difference is at most `bound` times the published number, or their ratio is within `SIGMAS`
          relative standard errors and within a factor 1 + `bound` + `slack`.
        - ``factor``: neither is more than `bound` times the other.
        - ``at_least``, ``at_most``: ours is on the stated side of `bound`, or on the other side by at most `SIGMAS` of
          its standard errors and at most `slack`. For statements in words.
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
        if math.isnan(self.slack) != (self.kind in ("factor", "never")) or self.slack < 0:
            raise ParameterError(
                f"slack: {self.kind!r} needs {'none' if self.kind in ('factor', 'never') else 'a number from 0'}"
            )
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
        own, both = _known(ours.error), math.hypot(_known(ours.error), _known(printed_error))
        if self.kind in ONE_SIDED:
            holds = self._side(ours.value, min(SIGMAS * own, self.slack))
        elif self.kind == "within":
            distance = abs(ours.value - printed)
            holds = distance <= max(self.bound, min(SIGMAS * both, self.bound + self.slack))
        elif self.kind == "near":
            holds = self._near(printed, ours, printed_error)
        else:
            holds = 1 / self.bound <= ours.value / printed <= self.bound
        return "reproduced" if holds else "differs"

    def _side(self, ours: float, room: float) -> bool:
        return ours >= self.bound - room if self.kind == "at_least" else ours <= self.bound + room

    def _near(self, printed: float, ours: Estimate, printed_error: float) -> bool:
        if abs(ours.value - printed) <= self.bound * abs(printed):
            return True
        if ours.value * printed <= 0:
            return False
        relative = math.hypot(_known(ours.error / ours.value), _known(printed_error / printed))
        return abs(math.log(ours.value / printed)) <= min(SIGMAS * relative, math.log(1 + self.bound + self.slack))


def _known(error: float) -> float:
    return 0.0 if math.isnan(error) else abs(error)
