"""A tuned step size gives the requested acceptance at any scale of the problem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rnshmc.datasets.simulate import simulate_logistic
from rnshmc.experiments.step_size import tune_step_size
from rnshmc.random import stream
from rnshmc.run.phases import explore
from rnshmc.targets.gaussian import Gaussian
from rnshmc.targets.logistic import LogisticRegression
from tests.conftest import z_bound

N_STEPS = (1, 6)
MEAN = np.array([1.0, -2.0, 0.5])


def tuned(potential: Gaussian, *, acceptance: float = 0.7, iterations: int = 100) -> float:
    return tune_step_size(
        potential, n_steps=N_STEPS, acceptance=acceptance, iterations=iterations, rng=stream(1, "tuning")
    )


@pytest.mark.parametrize("acceptance", [0.6, 0.8])
def test_hmc_accepts_the_share_that_was_asked_for(acceptance: float) -> None:
    data = simulate_logistic(200, 8, stream(1, "data"))
    target = LogisticRegression(data.X, data.y, prior_sd=10.0)
    step_size = tune_step_size(
        target, n_steps=N_STEPS, acceptance=acceptance, iterations=3000, rng=stream(1, "step size")
    )
    chain = explore(
        target, start=np.zeros(8), step_size=step_size, n_steps=N_STEPS, iterations=3500, rng=stream(1, "chain")
    )
    # Acceptance probabilities have standard deviations of about 0.3: an error of 0.3 / sqrt(1500) = 0.008 from the
    # tuning and of 0.3 / sqrt(3000) = 0.006 from the check, 0.010 together. Over 12 seeds the spread is 0.012
    # and 0.005.
    assert_allclose(chain.stats["accept_prob"][500:].mean(), acceptance, atol=z_bound() * 0.012)


def test_the_step_scales_with_the_target() -> None:
    # With q = c x the same momenta move x through the same trajectories at steps c times as long.
    unit = tuned(Gaussian(MEAN, np.diag([1.0, 2.0, 3.0])))
    wide = tuned(Gaussian(50.0 * MEAN, 2500.0 * np.diag([1.0, 2.0, 3.0])))
    assert_allclose(wide, 50.0 * unit, rtol=1e-9)
