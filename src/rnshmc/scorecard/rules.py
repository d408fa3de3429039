"""When a number of a paper counts as reproduced: a stated rule for each kind of number."""

import math
from dataclasses import dataclass
from typing import Literal, get_args

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate

Verdict = Literal["reproduced", "differs", "not comparable"]

Kind = Literal["within", "near", "factor", "at_least", "at_most", "never"]

SIGMAS = 3.0
"""Two numbers whose difference is at most so many combined standard errors are not said to differ."""


@dataclass(frozen=True)
class Rule:
    """A rule that compares our number with the published one.

    Attributes
    ----------
    kind
        - ``within``: their difference is at most `bound`.
        - ``near``: their difference is at most `bound` times the published number, or `SIGMAS` combined standard
          errors.
        - ``factor``: neither is more than `bound` times the other.
        - ``at_least``, ``at_most``: ours is on the stated side of `bound`; for statements in words.
        - ``never``: not compared, such as seconds of another machine.
    bound
        What the kind says; without meaning for ``never``.

    Raises
    ------
    ParameterError
        If there is no such kind.
    """

    kind: Kind
    bound: float = math.nan

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ParameterError(f"rule: there is no {self.kind!r}; there are {', '.join(get_args(Kind))}")

    def __str__(self) -> str:
        bound = f"{self.bound:g}"
        return {
            "within": f"difference at most {bound}",
            "near": f"difference at most {self.bound:.0%} or {SIGMAS:g} combined standard errors",
            "factor": f"ratio within a factor {bound}",
            "at_least": f"ours at least {bound}",
            "at_most": f"ours at most {bound}",
            "never": "not compared",
        }[self.kind]

    def verdict(self, paper: Estimate, ours: Estimate) -> Verdict:
        """What the rule says of the published number and ours; a standard error that is not known is NaN."""
        if self.kind == "never":
            return "not comparable"
        return "reproduced" if self._holds(paper, ours) else "differs"

    def _holds(self, paper: Estimate, ours: Estimate) -> bool:
        difference = abs(ours.value - paper.value)
        match self.kind:
            case "within":
                return difference <= self.bound
            case "near":
                noise = SIGMAS * math.hypot(paper.error, ours.error)
                return difference <= self.bound * abs(paper.value) or difference <= noise
            case "factor":
                return 1 / self.bound <= ours.value / paper.value <= self.bound
            case "at_least":
                return ours.value >= self.bound
            case _:
                return ours.value <= self.bound


_RIEMANNIAN = ("rmhmc", "rns_rmhmc")
_ACCEPTANCE = {"lr_simulated": 0.03, "bank": 0.03, "pde": 0.05}
_RIEMANNIAN_ACCEPTANCE = {"lr_simulated": 0.04, "bank": 0.04}
_ACCEPTANCE_ELSEWHERE = 0.10
"""The projection of a9a and the observations of the elliptic problem are not the published ones."""


def table1_rule(problem: str, sampler: str, quantity: str) -> Rule:
    """The rule for a cell of Table 1.

    Acceptance: within 0.04 in the Riemannian rows of simulated LR and Bank Marketing, within 0.03 in the other rows of
    these two, within 0.05 in those of the elliptic problem, within 0.10 elsewhere. Effective sample sizes: within 15%,
    or three combined standard errors. Speed-ups: within a factor of two. Seconds, and what is divided by them, are not
    compared: the machine and the implementation are others, and a speed-up is their ratio within one run.
    """
    if quantity == "ap":
        bounds = _RIEMANNIAN_ACCEPTANCE if sampler in _RIEMANNIAN else _ACCEPTANCE
        return Rule("within", bounds.get(problem, _ACCEPTANCE_ELSEWHERE))
    if quantity.startswith("ess_"):
        return Rule("near", 0.15)
    return Rule("factor", 2.0) if quantity == "speedup" else Rule("never")


def network_rule(table: int, quantity: str) -> Rule:
    """The rule for a cell of Tables 1, 2, 3 and 5 of paper B.

    Acceptance: within 0.05 in Tables 1 and 2, within 0.10 in Tables 3 and 5, whose data were prepared in a way that is
    not published. Effective sample sizes: within 15%, or three combined standard errors. Speed-ups: within a factor of
    two. Seconds, and what is divided by them, are not compared, as in `table1_rule`.
    """
    if quantity == "ap":
        return Rule("within", 0.05 if table in (1, 2) else 0.10)
    if "ess_" in quantity and not quantity.endswith("_per_s"):
        return Rule("near", 0.15)
    return Rule("factor", 2.0) if quantity == "speedup" else Rule("never")
