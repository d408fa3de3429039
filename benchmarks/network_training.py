"""Why NNg-HMC's acceptance is sometimes below paper B's: acceptance when one setting changes at a time.

The first row of each problem has the settings of the run "paper"; each other row changes the named one. With another
number of steps, the network has about as many pairs, from more or fewer iterations. HMC's acceptance is that of the
exploration after burn-in. Errors are standard errors over explorations, each with its own network and chain; with only
one, over ten parts of its chain, which excludes the variation between trainings.

The logistic regression has 20000 rows instead of 50000, and its step grows with the width of its posterior. Takes about
half an hour of a busy core; no bound.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from rnshmc.datasets.synthetic import simulate_garch, simulate_normal_logistic
from rnshmc.diagnostics.acceptance import with_empty
from rnshmc.random import stream
from rnshmc.run.phases import StepRange, exploit, explore
from rnshmc.run.recording import GradientPairs, GradientRecording
from rnshmc.surrogates.gradient_network import BATCH_SIZE, GradientNetwork
from rnshmc.targets.garch import Garch
from rnshmc.targets.gaussian import Gaussian, spread_gaussian
from rnshmc.targets.logistic import LogisticRegression
from rnshmc.types import Array, Potential

SEED = 20170913
ROWS, PAPER_ROWS = 20000, 50000
PARTS = 10

Posterior = Callable[[str], tuple[Potential, Array]]
"""Target and start, by the name of the simulated data set."""


@dataclass(frozen=True)
class Dynamics:
    """A posterior, the leapfrog settings on it, and how long HMC explores it."""

    posterior: Posterior
    step_size: float
    n_steps: StepRange
    discard: int
    explored: int
    """Iterations after those discarded, of which a network may see the first few only."""
    data: str = "data"


@dataclass(frozen=True)
class Training:
    """What a network sees, and how it is trained."""

    collected: int
    hidden_units: int
    epochs: int
    blocks: int = 1
    batch_size: int = BATCH_SIZE
    standardised_targets: bool = False


class Row(NamedTuple):
    """A setting, and in what it differs from the first."""

    change: str
    dynamics: Dynamics
    training: Training


class Problem(NamedTuple):
    """A problem of paper B, with its printed acceptance of HMC and of NNg-HMC."""

    name: str
    paper: tuple[float, float]
    iterations: int
    repeats: int
    rows: tuple[Row, ...]


class Exploration(NamedTuple):
    """What HMC leaves: acceptance probabilities, where it ended, and gradients on its way."""

    accept_prob: Array
    end: Array
    pairs: GradientPairs


def gaussian(data: str) -> tuple[Potential, Array]:
    """The Gaussian of Fig. 3, from a draw of N(0, I)."""
    target, _ = converged_gaussian(data)
    return target, stream(SEED, "network training", "start").standard_normal(target.dim)


def converged_gaussian(data: str) -> tuple[Gaussian, Array]:
    """The same from a draw of it."""
    variances = stream(SEED, "nng_fig3", "variances" if data == "data" else data)
    target = spread_gaussian(variances, dim=30, smallest=0.1, largest=1000.0, between=(1.0, 100.0))
    return target, target.sample(stream(SEED, "network training", "start"), 1)[0]


def logistic(data: str) -> tuple[Potential, Array]:
    """Logistic regression in 200 dimensions, from the origin."""
    simulated = simulate_normal_logistic(ROWS, 200, stream(SEED, "lr_200", data))
    return LogisticRegression(simulated.X, simulated.y, prior_sd=10.0**0.5), np.zeros(200)


def distant_logistic(data: str) -> tuple[Potential, Array]:
    """The same from a draw of N(0, I)."""
    target, _ = logistic(data)
    return target, stream(SEED, "network training", "start").standard_normal(target.dim)


def garch(data: str) -> tuple[Potential, Array]:
    """The GARCH(2, 1) model, from where the run starts."""
    series = simulate_garch(1000, alpha=[0.015, 0.1, 0.2], beta=[0.6], rng=stream(SEED, "garch", data))
    return Garch(series.arrays["y"], orders=(2, 1), prior_sd=10.0), np.array([0.05, 0.1, 0.1, 0.5])


def more_training(dynamics: Dynamics, training: Training) -> tuple[Row, ...]:
    """The setting of the run, more of each thing that training has, and standardised gradients."""
    return (
        Row("as configured", dynamics, training),
        Row("pairs x 2", dynamics, replace(training, collected=2 * training.collected)),
        Row("pairs x 4", dynamics, replace(training, collected=4 * training.collected)),
        Row("epochs x 4", dynamics, replace(training, epochs=4 * training.epochs)),
        Row("hidden units / 2", dynamics, replace(training, hidden_units=training.hidden_units // 2)),
        Row("hidden units x 2", dynamics, replace(training, hidden_units=2 * training.hidden_units)),
        Row("standardised gradients", dynamics, replace(training, standardised_targets=True)),
    )


def gaussian_problem() -> Problem:
    run = Dynamics(gaussian, step_size=0.5, n_steps=(1, 99), discard=0, explored=400)
    training = Training(collected=100, hidden_units=100, epochs=10, batch_size=20)
    rows = (
        *more_training(run, training),
        Row("50 when converged", replace(run, posterior=converged_gaussian), replace(training, collected=50)),
        Row("batches of 32", run, replace(training, batch_size=BATCH_SIZE)),
        Row("100 steps always", replace(run, n_steps=(100, 100)), replace(training, collected=50)),
        Row("step 0.55", replace(run, step_size=0.55), training),
        Row("other variances", replace(run, data="other"), training),
    )
    return Problem("Gaussian of Fig. 3", (0.7, 0.5), iterations=1000, repeats=4, rows=rows)


def logistic_problem() -> Problem:
    step_size = 0.01 * (PAPER_ROWS / ROWS) ** 0.5
    run = Dynamics(logistic, step_size=step_size, n_steps=(1, 19), discard=100, explored=1600)
    training = Training(collected=400, hidden_units=50, epochs=150, blocks=8)
    rows = (
        *more_training(run, training),
        Row("20 steps always", replace(run, n_steps=(20, 20), explored=200), replace(training, collected=200)),
        Row("batches of 20", run, replace(training, batch_size=20)),
        Row("from N(0, I) on", replace(run, posterior=distant_logistic, discard=0), replace(training, batch_size=20)),
    )
    return Problem("Logistic regression, 200 dimensions", (0.8, 0.6), iterations=500, repeats=1, rows=rows)


def garch_problem() -> Problem:
    run = Dynamics(garch, step_size=0.002, n_steps=(1, 14), discard=1000, explored=4000)
    training = Training(collected=1000, hidden_units=50, epochs=50)
    rows = (
        *more_training(run, training),
        Row("15 steps always", replace(run, n_steps=(15, 15)), replace(training, collected=500)),
        Row("1 to 7 steps", replace(run, n_steps=(1, 7)), replace(training, collected=2000)),
        Row("step 0.001", replace(run, step_size=0.001), training),
        Row("another series", replace(run, data="other"), training),
    )
    return Problem("GARCH", (0.72, 0.70), iterations=9000, repeats=3, rows=rows)


@cache
def exploration(dynamics: Dynamics, repeat: int) -> Exploration:
    """The exploration of one repeat, the same for every training."""
    target, start = dynamics.posterior(dynamics.data)
    recording = GradientRecording(target.dim, start=dynamics.discard)
    phase = explore(
        target,
        start=start,
        step_size=dynamics.step_size,
        n_steps=dynamics.n_steps,
        iterations=dynamics.discard + dynamics.explored,
        rng=stream(SEED, "network training", "explore", f"repeat{repeat}"),
        recording=recording,
    )
    pairs = recording.pairs().of_sound_trajectories(phase.stats)
    return Exploration(phase.stats["accept_prob"][dynamics.discard :], phase.draws[-1], pairs)


def chain(row: Row, iterations: int, repeat: int) -> Array:
    """Acceptance probabilities of NNg-HMC, shape (iterations,)."""
    explored, dynamics, training = exploration(row.dynamics, repeat), row.dynamics, row.training
    pairs = explored.pairs.between(dynamics.discard, dynamics.discard + training.collected)
    network = GradientNetwork.fit(
        pairs.q,
        pairs.gradients,
        rng=stream(SEED, "network training", "network", f"repeat{repeat}"),
        hidden_units=training.hidden_units,
        epochs=training.epochs,
        blocks=training.blocks,
        batch_size=training.batch_size,
        standardised_targets=training.standardised_targets,
    )
    phase = exploit(
        dynamics.posterior(dynamics.data)[0],
        network,
        sampler="nng_hmc",
        start=explored.end,
        step_size=dynamics.step_size,
        n_steps=dynamics.n_steps,
        iterations=iterations,
        rng=stream(SEED, "network training", "chain", f"repeat{repeat}"),
    )
    return phase.stats["accept_prob"]


def mean_and_error(chains: list[Array], n_steps: StepRange) -> str:
    """Acceptance as paper B counts it, trajectories of no step among the others."""
    parts = chains if len(chains) > 1 else np.array_split(chains[0], PARTS)
    means = [with_empty(float(part.mean()), n_steps) for part in parts]
    return f"{np.mean(means):7.2f} +- {np.std(means, ddof=1) / len(means) ** 0.5:.2f}"


def line(row: Row, problem: Problem) -> str:
    repeats = range(1, problem.repeats + 1)
    hmc = [exploration(row.dynamics, repeat).accept_prob for repeat in repeats]
    network = [chain(row, problem.iterations, repeat) for repeat in repeats]
    found = [mean_and_error(chains, row.dynamics.n_steps) for chains in (hmc, network)]
    return f"  {row.change:24}{found[0]:>16}{found[1]:>16}"


def main() -> None:
    for problem in (gaussian_problem(), garch_problem(), logistic_problem()):
        print(f"{problem.name}\n  {'':24}{'HMC':>16}{'NNg-HMC':>16}")
        print(f"  {'paper':24}{problem.paper[0]:16.2f}{problem.paper[1]:16.2f}")
        for row in problem.rows:
            print(line(row, problem), flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1, user_api="blas"):
        main()
