"""Step size of HMC for a given acceptance."""

import numpy as np
from scipy.linalg import eigvalsh

from rnshmc.kernels.hmc import HMC
from rnshmc.run.phases import StepRange
from rnshmc.types import RiemannianPotential

_DECAY = 0.6
"""Exponent of the gain t^-0.6, between 1/2 and 1 as Polyak-Juditsky averaging requires."""


def tune_step_size(
    potential: RiemannianPotential,
    *,
    n_steps: StepRange,
    acceptance: float,
    iterations: int,
    rng: np.random.Generator,
) -> float:
    """Tune the step size of exact HMC by stochastic approximation along one chain from the origin.

    With a_t the acceptance probability of iteration t, from t = 1,

        log eps_(t+1) = log eps_t + t^-0.6 (a_t - acceptance),

    and the result is the geometric mean of eps over the second half (Robbins and Monro 1951; Polyak and Juditsky 1992;
    Andrieu and Thoms 2008, section 5). The acceptance probability there differs from the one asked for by about sd(a) /
    sqrt(iterations / 2). The first step is 1 / sqrt(lambda) with lambda the largest eigenvalue of the metric at the
    origin: half of what leapfrog is stable at. ``acceptance`` is the mean acceptance probability asked for.
    """
    start = np.zeros(potential.dim)
    log_steps = np.empty(iterations + 1)
    log_steps[0] = -0.5 * np.log(eigvalsh(potential.metric(start))[-1])
    state = HMC(potential, potential, step_size=float(np.exp(log_steps[0])), n_steps=n_steps).init(start)
    for t in range(1, iterations + 1):
        kernel = HMC(potential, potential, step_size=float(np.exp(log_steps[t - 1])), n_steps=n_steps)
        state, info = kernel.step(rng, state)
        log_steps[t] = log_steps[t - 1] + t**-_DECAY * (info.accept_prob - acceptance)
    return float(np.exp(log_steps[iterations // 2 + 1 :].mean()))
