"""The next step of training: a pure function of a few numbers."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np

from rnshmc.inference.tuning import Training, Tuning
from rnshmc.inference.tuning_result import Judging
from rnshmc.inference.tuning_shared import BATCH, FEW, ROUNDS

Learnt = Literal["gradients", "values", "outputs"]
WORTH = 4.0 / 3.0
"""Exact values for corrections, relative to training points, up to which training ends: where sd(U - V) falls as
n^-0.75, the sum of both is smallest there."""
GOOD_VARIANCE = float(np.expm1(Judging.sd_good**2))
"""Variance of the importance weights of normal U - V with the sd `Judging.sd_good`."""


class Decision(Enum):
    """The next step."""

    BATCH = "evaluate at draws of the surrogate, and fit again"
    EXAMINE = "find where the surrogate is uncertain, most of all in its tails"
    FILL = "evaluate where it is too uncertain, and fit again"
    ACCEPT = "the surrogate is good enough"
    GIVE_UP = "more points do not make it good enough"


@dataclass(frozen=True)
class Tally:
    """The numbers that decide."""

    dim: int
    """Number of parameters d."""
    informed: int
    """Number of directions that the surrogate learns."""
    learnt: Learnt
    """Kind of training data: value and gradient, the value, or the outputs of a run."""
    aim: float
    """Number of independent draws whose errors are the goal."""
    most_rows: int
    rows: int
    """Equations of the largest system that can be solved, ``most_rows``, and of a training point, at least."""
    used: int
    """Training points of the surrogate."""
    tried: int = 0
    """Points evaluated in training."""
    probed: int = 0
    """Training points that do not count towards the maximum, because they were there before training."""
    variance: float = np.inf
    """Variance of the importance weights at draws before they became training points; inf before any."""
    missing: float = 0.0
    """Mass on the shoulders that the surrogate misses, relative to its own."""
    at_wall: float = 0.0
    """Share of its draws at its wall."""
    looks: int = 0
    """Number of looks at exact values further out."""
    final: bool = False
    """Whether there were exact values since the largest system is full."""
    left: int | None = None
    """Number of points where the last examination found too much open; None if there was none since the last fit."""
    filled: int = 0
    """Points that were evaluated where too much was open."""

    @property
    def filling(self) -> float:
        """Points that were evaluated where too much was open, relative to all others."""
        return self.filled / max(self.used - self.filled, 1)


def decide(tally: Tally, tuning: Training) -> Decision:
    """The next step.

    Batches, until corrections to the precision aimed at cost less than more training. Where the largest system is full,
    one more shows the effect of the last points on the surrogate. Then points are added where it is uncertain, until
    little is open, or the number of points is at its maximum.
    """
    if tally.left is not None:
        done = tally.left == 0 or tally.looks >= ROUNDS or is_full(tally, tuning)
        return Decision.ACCEPT if done else Decision.FILL
    if is_close(tally, tuning) and tally.at_wall < tuning.at_wall and tally.missing < tuning.usable:
        return Decision.EXAMINE
    if is_many(tally, tuning) or (is_full(tally, tuning) and tally.final) or is_hopeless(tally, tuning):
        return Decision.GIVE_UP
    return Decision.BATCH


def is_close(tally: Tally, tuning: Training) -> bool:
    """Whether corrections need fewer exact values than further training is worth."""
    if tally.learnt == "outputs":
        # Further runs, at draws of the surrogate, both check and train it.
        return tally.variance <= GOOD_VARIANCE and tally.used >= tuning.fewest + tally.dim
    terms = (tally.dim + 1) * (tally.dim + 2) if tally.learnt == "values" else tally.informed
    needed = tuning.shrunk * tally.aim * tally.variance
    return needed <= WORTH * tally.used and tally.used >= tuning.fewest + terms


def is_full(tally: Tally, tuning: Training) -> bool:
    """Whether the number of training points is at its maximum, or the largest system is full."""
    return is_many(tally, tuning) or tally.used * tally.rows + tally.most_rows // 20 > tally.most_rows


def is_many(tally: Tally, tuning: Training) -> bool:
    """Whether the number of training points is at its maximum."""
    return max(tally.used - tally.probed, tally.tried) >= _most_points(tally.learnt, tuning)


def most_known(dim: int, learnt: Learnt, tuning: Tuning) -> int:
    """Number of known points used for training: as many as a surrogate takes, less a few batches."""
    rows = tuning.fitting.rows_of(dim) if learnt == "gradients" else 1
    most = min(_most_points(learnt, tuning.training), tuning.fitting.most_rows // rows)
    return int(tuning.training.known * most)


def _most_points(learnt: Learnt, tuning: Training) -> int:
    return {"gradients": tuning.most_points, "values": tuning.most_values, "outputs": tuning.most_runs}[learnt]


def is_hopeless(tally: Tally, tuning: Training) -> bool:
    """Whether the surrogate is far off after many points."""
    return tally.tried >= tuning.hopeless * (tally.dim + FEW) and tally.variance > tuning.sound


def batch_size(tally: Tally, tuning: Training) -> int:
    """Draws of the surrogate to evaluate next."""
    if not np.isfinite(tally.variance):
        return BATCH
    # Known runs of a model are no reason for many more.
    most = max(BATCH, tally.tried) if tally.learnt == "outputs" else tuning.chains
    return max(BATCH, tally.informed // 4, min(tally.used // 8, most, tuning.chains))


def fill_size(tally: Tally) -> int:
    """Points to evaluate next where moments or tails are open; each time, all are fitted again."""
    return max(BATCH, tally.used // 16)


def lenience(tally: Tally, tuning: Training) -> float:
    """Factor by which tails may lack more than at first: it grows with the points already spent on them."""
    return 1.0 + (tuning.lenient - 1.0) * min(1.0, tally.filling)


def checks_for(aim: float, variance: float, tuning: Training) -> int:
    """Number of exact values for corrections to a precision of ``aim`` draws, with weights of some variance."""
    return max(Judging.telling, int(np.ceil(tuning.shrunk * aim * min(variance, 1.0))))
