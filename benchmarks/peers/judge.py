"""What a run is worth: its units until the goal, and whether what it says of itself is true."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from peers.measures import GOAL, Moments, equivalent_draws, units_to_goal

TRUTHFUL = 5.0
"""Squared errors may be so many times those that a run's own effective draws imply. They scatter as a chi-square
variable over its degrees of freedom, which are the dimension where coordinates are independent: a factor 5 in 4
dimensions happens once in 2000 runs."""
USABLE = 100.0
"""Independent draws whose errors a result called good has to reach where its peer gives no number: a tenth of a
standard deviation in the means. From fewer own draws nothing is extrapolated."""


@dataclass(frozen=True)
class Verdict:
    """One run against the reference."""

    peer: str
    problem: str
    seed: int
    units: int
    failed: int
    draws_mean: float
    """Independent draws whose errors are those of the run's means; 0 without a result."""
    draws_variance: float
    units_mean: float
    """Units until errors of the means are those of `GOAL` draws; infinite if that cannot be told or was not reached."""
    units_variance: float
    overhead_s: float
    """Seconds of processor time outside the potential until the run's end."""
    overhead_at_goal_s: float
    """The same until `GOAL` is reached in both, at the rate of the run."""
    evaluation_s: float
    """Seconds in the potential for each unit."""
    says: str
    says_good: bool
    honest: bool
    """Whether a result called good is good; true of every result that is not called good."""
    version: str

    @property
    def units_goal(self) -> float:
        """Units until both errors are those of `GOAL` draws."""
        return max(self.units_mean, self.units_variance)


def judge(run: dict[str, Any], reference: Moments, known: tuple[float, float]) -> Verdict:
    """The verdict on a run that `peers.run` has left.

    Parameters
    ----------
    run
        What the run left.
    reference, known
        Reference moments, and the independent draws that their own errors are worth, for means and for variances.
    """
    outcome = run["outcome"]
    if outcome is None:
        real, goal, honest = (0.0, 0.0), [np.inf, np.inf], True
        says, good = run["ended"], False
    else:
        real = equivalent_draws(np.array(outcome["mean"]), np.array(outcome["variance"]), reference)
        own, warmup = outcome["own_draws"], outcome["warmup_units"]
        true = [_true(*three) for three in zip(real, own, known, strict=True)]
        goal = [_units(run["units"], warmup, *three) for three in zip(real, own, true, strict=True)]
        good, says = outcome["says_good"], outcome["says"]
        honest = not good or all(true)
    at_goal = max(goal) / run["units"] if run["units"] and np.isfinite(max(goal)) else np.nan
    return Verdict(
        peer=run["peer"],
        problem=run["problem"],
        seed=run["seed"],
        units=run["units"],
        failed=run["failed"],
        draws_mean=real[0],
        draws_variance=real[1],
        units_mean=goal[0],
        units_variance=goal[1],
        overhead_s=run["overhead_s"],
        overhead_at_goal_s=run["overhead_s"] * at_goal,
        evaluation_s=run["target_s"] / max(run["units"], 1),
        says=says,
        says_good=good,
        honest=honest,
        version=run["version"],
    )


def _true(real: float, own: float, known: float) -> bool:
    """Whether errors bear out a run's own effective draws, those of the reference allowed for."""
    return real >= USABLE if np.isnan(own) else 1.0 / real <= TRUTHFUL * (1.0 / own + 1.0 / known)


def _units(spent: int, warmup: float, real: float, own: float, true: bool) -> float:
    """Extrapolated from a run's own effective draws where its errors bear them out; otherwise reached or not."""
    if not np.isnan(warmup) and own >= USABLE and true:
        return units_to_goal(spent, warmup, own)
    return float(spent) if real >= GOAL else np.inf
