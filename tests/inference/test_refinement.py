"""Emulators that are fitted to the runs that check them."""

import numpy as np
import pytest

from rnshmc.inference.stages.decision import Decision, Tally, decide
from rnshmc.inference.surrogate.uncertainty import doubt
from rnshmc.inference.surrogate.weights import measured_shift
from rnshmc.inference.tuning import DEFAULT
from rnshmc.random import stream
from tests.inference.clouds import AIM, cloud


def test_open_moments_are_the_smaller_of_what_the_process_and_the_draws_leave_open() -> None:
    rng = stream(5, "refinement")
    draws, checked = rng.standard_normal((6400, 2)), rng.standard_normal((100, 2))
    differences = 0.3 * rng.standard_normal(100)
    assert cloud(draws, checked, differences, base=np.ones(100)).open_moments < 1e-30
    rough = np.exp(0.1 * rng.standard_normal((9, 1)) * draws[:640, 0])
    vague = cloud(draws, checked, differences, base=np.ones(100), by_path=rough / rough.sum(axis=1, keepdims=True))
    _, noise = measured_shift(*vague.measuring_weights(), np.column_stack((checked, (checked**2 - 1.0) / np.sqrt(2.0))))
    assert 1e-4 < vague.open_moments < 2.0 * noise.max()


def test_processes_that_expect_too_much_are_believed_less() -> None:
    """Eight surprises of mean square 1 / 4, all below the surrogate, and four that are counted as expected."""
    seen = [np.full(4, -0.5), np.full(4, -0.5)]
    assert doubt(seen) == 1.0
    assert doubt(seen, believed=4.0) == pytest.approx((8 * 0.5 + 4.0) / 12)
    assert doubt([], believed=4.0) == 1.0


@pytest.mark.parametrize(
    ("variance", "used", "expected"),
    [(0.2, 60, Decision.EXAMINE), (0.5, 60, Decision.BATCH), (0.2, 39, Decision.BATCH)],
)
def test_training_on_outputs_ends_as_soon_as_draws_can_be_reweighted(
    variance: float, used: int, expected: Decision
) -> None:
    tally = Tally(dim=20, informed=20, learnt="outputs", aim=AIM, most_rows=9000, rows=1, used=used, variance=variance)
    assert decide(tally, DEFAULT.training) is expected
