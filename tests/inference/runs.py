"""Whole runs on known densities: the algorithm without its call, the verdict, and bounds on its errors."""

from dataclasses import replace

import numpy as np

from rnshmc.inference.algorithm import run
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.result.verdict import judge
from rnshmc.inference.tuning import DEFAULT, Tuning
from rnshmc.random import stream
from rnshmc.types import Array, Potential
from tests.conftest import z_bound
from tests.inference.conftest import evaluations_of_potential

BRIEF = replace(DEFAULT, correction=replace(DEFAULT.correction, doublings=0))
"""The chains on a rough surrogate are not continued until they agree: which takes seconds, and decides nothing here."""
ONE_ATTEMPT = replace(BRIEF, attempts=1)
UNBENT = replace(
    ONE_ATTEMPT,
    bending=replace(DEFAULT.bending, most_dim=0),
    fitting=replace(DEFAULT.fitting, rough=0.0),
)
"""Without bends, and with points far up trusted as others are, a twisted Gaussian has no surrogate."""
HOPELESS = replace(DEFAULT, attempts=1, training=replace(DEFAULT.training, hopeless=0.0, sound=0.0, fewest=500))
"""No surrogate is good enough, whatever the density."""
NARROW = replace(DEFAULT, fitting=replace(DEFAULT.fitting, most_rows=1000))
"""Two hundred dimensions are too many for a surrogate."""


def sampled(
    potential: Potential,
    start: object,
    *,
    draws: int = 1000,
    seed: int = 1,
    tuning: Tuning = DEFAULT,
    **settings: object,
) -> Outcome:
    archive = Archive.of(evaluations_of_potential(potential, **settings))
    return run(archive, np.asarray(start, dtype=float), draws=draws, rng=stream(seed, "algorithm"), tuning=tuning)


def verdict_of(outcome: Outcome) -> str:
    return str(judge(outcome, [f"x{i}" for i in range(len(outcome.mean.value))]))


def within(outcome: Outcome, mean: float | Array, variance: float | Array, *, draws: int = 100) -> None:
    """Assert that errors of means and variances are as stated, and these at most those of independent draws.

    Larger standard errors would excuse any error. The runs here aim at the errors of 500.
    """
    bound = z_bound(2 * len(outcome.mean.value))
    for found, exact, unit in (
        (outcome.mean, mean, np.sqrt(variance)),
        (outcome.variance, variance, np.sqrt(2.0) * np.asarray(variance)),
    ):
        assert np.all(np.abs(found.value - exact) < bound * found.standard_error)
        assert np.all(found.standard_error < unit / np.sqrt(draws))
