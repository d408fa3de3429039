"""A row of the scorecard before it is judged."""

from dataclasses import dataclass

from rnshmc.scorecard.measured import Measured
from rnshmc.scorecard.rules import Rule

PAPER_B = "B/"
"""How the items of paper B begin; those of paper A have no such mark."""


@dataclass(frozen=True)
class Entry:
    """A published number, what stands beside it, and how the two are compared."""

    item: str
    quantity: str
    paper: float
    measured: Measured | None
    rule: Rule
    remark: str
    chains: int
    """Chains behind the published number."""
