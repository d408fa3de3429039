"""The next step of training follows from a few numbers."""

from dataclasses import replace

import numpy as np
import pytest

from rnshmc.inference.stages.decision import Decision, Tally, batch_size, decide, fill_size, lenience
from rnshmc.inference.tuning import Training

TUNING = Training()
TALLY = Tally(
    dim=10, informed=10, learnt="gradients", aim=1000.0, most_rows=9000, rows=11, used=40, tried=30, variance=0.05
)
"""Forty points, and corrections that need twenty-five exact values."""


@pytest.mark.parametrize(
    ("changes", "decision"),
    [
        ({}, Decision.EXAMINE),
        ({"variance": np.inf}, Decision.BATCH),
        # 500 x 0.11 exact values are more than 1.3 x 40.
        ({"variance": 0.11}, Decision.BATCH),
        ({"used": 29, "variance": 0.0}, Decision.BATCH),
        ({"missing": 1.0}, Decision.BATCH),
        ({"at_wall": 0.01}, Decision.BATCH),
        ({"left": 0}, Decision.ACCEPT),
        ({"left": 3}, Decision.FILL),
        ({"left": 3, "looks": 4}, Decision.ACCEPT),
        ({"left": 3, "tried": 320}, Decision.ACCEPT),
        ({"variance": 1.0, "tried": 320}, Decision.GIVE_UP),
        ({"variance": 5.0, "tried": 180}, Decision.GIVE_UP),
        ({"variance": 3.0, "tried": 180}, Decision.BATCH),
        ({"variance": 1.0, "used": 319}, Decision.BATCH),
        # The effect of the last points is measured before training is given up.
        ({"variance": 1.0, "used": 319, "most_rows": 3600}, Decision.BATCH),
        ({"variance": 1.0, "used": 319, "most_rows": 3600, "final": True}, Decision.GIVE_UP),
        ({"variance": 0.05, "used": 319, "most_rows": 3600, "final": True}, Decision.EXAMINE),
        # Without gradients, a point is one equation, and a quadratic takes (d + 1)(d + 2) and more.
        ({"learnt": "values"}, Decision.BATCH),
        ({"learnt": "values", "used": 200, "tried": 400}, Decision.EXAMINE),
    ],
)
def test_the_next_step(changes: dict[str, float], decision: Decision) -> None:
    assert decide(replace(TALLY, **changes), TUNING) is decision  # type: ignore[arg-type]


def test_batches_grow_with_the_training_set() -> None:
    sizes = [batch_size(replace(TALLY, used=used), TUNING) for used in (20, 100, 2000)]
    assert sizes == [8, 12, 128]
    assert batch_size(replace(TALLY, used=2000, variance=np.inf), TUNING) == 8
    # Of 800 runs that are given, none was made in training.
    assert [batch_size(replace(TALLY, learnt="outputs", used=800, tried=n), TUNING) for n in (0, 8, 40)] == [8, 8, 40]
    assert [fill_size(replace(TALLY, used=used)) for used in (20, 128, 320)] == [8, 8, 20]


@pytest.mark.parametrize(("filled", "factor"), [(0, 1.0), (10, 2.0), (20, 4.0), (30, 4.0)])
def test_tails_may_lack_more_after_many_points_that_did_not_fill_them(filled: int, factor: float) -> None:
    """Of forty points, as many as all others at most count."""
    assert lenience(replace(TALLY, filled=filled), TUNING) == pytest.approx(factor)
