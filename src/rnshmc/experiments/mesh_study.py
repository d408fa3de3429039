"""The elliptic problem on successively finer meshes: discretisation error, cost, and gain of RNS-HMC.

Chains, effective sample sizes and the surrogate are from the problem's own mesh. They are used on every mesh because
the posterior hardly changes; the table reports the change of the potential.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rnshmc.experiments.scaling import measure
from rnshmc.random import stream
from rnshmc.run.chain import run_phase
from rnshmc.run.phases import dynamics
from rnshmc.run.replicated import make_replicated_kernel
from rnshmc.surrogates.storage import Stored
from rnshmc.targets.elliptic import EllipticInverseProblem, boundary_pressure, from_file
from rnshmc.targets.forward_data import ForwardData
from rnshmc.types import Array, Driver

SAMPLERS = ("hmc", "rns_hmc")
ERRORS = ("error_uniform", "error")
LEAPS = 5
"""Number of timed evaluations per timed iteration."""


class Solved(NamedTuple):
    """A mesh, its solver, and the number of ranks that share it."""

    cells: int
    solver: str
    ranks: int


@dataclass(frozen=True)
class MeshRun:
    """Settings on each mesh (`mesh_study` in config/README.md)."""

    seed: int
    model: Mapping[str, Any]
    """Fields of `rnshmc.targets.elliptic_settings.EllipticSettings`, the mesh and the solver among them."""
    samplers: Mapping[str, Mapping[str, Any]]
    """Step size and range of steps of HMC and RNS-HMC."""
    repeats: int
    work: int


@dataclass(frozen=True, eq=False)
class Solutions(Stored):
    """Pressures and potentials on a mesh."""

    points: Array
    """Where the pressure is observed, shape (n, 2)."""
    uniform: Array
    """Pressure there for c = 1, shape (1, n)."""
    pressure: Array
    """Pressure there at m states of the posterior, shape (m, n)."""
    potential: Array
    """U there, shape (m, 1)."""


def run_on_mesh(
    comm: Any, data: Path, surrogate: Driver, states: Array, run: MeshRun
) -> tuple[Solutions, pd.DataFrame]:
    """Solve at the given states, and time evaluations and iterations. Collective.

    Returns the solutions, and the seconds in the columns of `rnshmc.experiments.scaling.COLUMNS`, of which ``what`` is
    value, value_and_grad, hmc or rns_hmc, and ``size`` the evaluations or iterations of a repeat. The surrogate drives
    RNS-HMC. Evaluations are timed at one state of the posterior after the other; chains start at the first.
    """
    target = from_file(data, comm=comm, **run.model)
    uniform = target.model.predict(np.zeros(target.dim))
    found = [(target.model.predict(state), [target.value(state)]) for state in states]
    pressure, potential = map(np.array, zip(*found, strict=True))
    evaluations = max(1, run.work // run.model["cells"] ** 2)
    iterations = max(1, evaluations // LEAPS)
    # All states in one round: repeating an evaluation at the same state would cost nothing.
    around = itertools.cycle(states)
    seconds = []
    for evaluate in (target.value, target.value_and_grad):
        unit: dict[str, Any] = {"what": evaluate.__name__, "size": evaluations, "unit": "evaluations"}
        work = _evaluations(evaluate, around, evaluations)
        seconds.append(measure(comm, work, **unit, repeats=run.repeats)[1])
    for sampler, driver in zip(SAMPLERS, (None, surrogate), strict=True):
        unit = {"what": sampler, "size": iterations, "unit": "iterations"}
        work = _iterations(comm, target, driver, sampler, states[0], run, iterations)
        seconds.append(measure(comm, work, **unit, repeats=run.repeats)[1])
    solutions = Solutions(ForwardData.load(data).points, uniform[None], pressure, potential)
    return solutions, pd.concat(seconds, ignore_index=True)


def mesh_table(
    solutions: Mapping[Solved, Solutions],
    seconds: Mapping[Solved, pd.DataFrame],
    ess_per_iteration: Mapping[str, float],
) -> pd.DataFrame:
    """One row for each mesh, solver and number of ranks.

    Columns of `Solved` and `nodes`; `error_uniform`, the largest error of the pressure for c = 1, whose closed form is
    known, and `error`, that at the states against the finest mesh (NaN there), each with its order between the next
    coarser mesh and this one; `potential_shift`, standard deviation over the states of the potential minus that on the
    coarsest mesh; seconds for each evaluation and iteration, medians over the repeats; `gain`, how many times as many
    effective samples a second RNS-HMC has as HMC; `loaded`, whether anything was timed under load.
    ``ess_per_iteration`` is the minimum effective sample size over the coordinates, per iteration, of HMC and of
    RNS-HMC.
    """
    coarsest, finest = (solutions[extreme(solutions)] for extreme in (min, max))
    top = max(solved.cells for solved in solutions)
    rows = []
    for solved in sorted(solutions):
        here = solutions[solved]
        exact = uniform_pressure(here.points)
        timed = seconds[solved].groupby("what")
        per = {what: float((part["seconds"] / part["size"]).median()) for what, part in timed}
        ess_per_s = {sampler: ess_per_iteration[sampler] / per[sampler] for sampler in SAMPLERS}
        rows.append(
            {
                **solved._asdict(),
                "nodes": (solved.cells + 1) ** 2,
                "error_uniform": np.abs(here.uniform - exact).max(),
                "error": np.abs(here.pressure - finest.pressure).max() if solved.cells < top else np.nan,
                "potential_shift": (here.potential - coarsest.potential).std(ddof=1),
                "value_s": per["value"],
                "value_and_grad_s": per["value_and_grad"],
                **{f"{sampler}_s_per_iter": per[sampler] for sampler in SAMPLERS},
                "gain": ess_per_s["rns_hmc"] / ess_per_s["hmc"],
                "loaded": bool(seconds[solved]["loaded"].any()),
            }
        )
    return _with_orders(pd.DataFrame(rows))


def uniform_pressure(points: Array) -> Array:
    """The pressure at points (n, 2) for c = 1: a cosine series in x1, and the given values at x2 = 0 and 1."""
    x1, x2 = points.T
    k = np.pi * np.arange(1, 200, 2)[:, None]
    series = 0.5 - np.sum(4.0 * np.cos(k * x1) / k**2 * np.sinh(k * (0.5 - x2)) / np.sinh(k / 2), axis=0)
    return np.where(np.abs(x2 - 0.5) == 0.5, boundary_pressure(x1, x2), series)


def _evaluations(evaluate: Callable[[Array], Any], states: Iterator[Array], count: int) -> Callable[[], None]:
    """Make the given number of evaluations, cycling through the states."""

    def work() -> None:
        for state in itertools.islice(states, count):
            evaluate(state)

    return work


def _iterations(
    comm: Any,
    target: EllipticInverseProblem,
    driver: Driver | None,
    sampler: str,
    start: Array,
    run: MeshRun,
    count: int,
) -> Callable[[], None]:
    """Run further iterations of a chain with the mean number of steps, since they are too few to average it."""
    settings = dynamics(run.samplers[sampler])
    middle = sum(settings["n_steps"]) / 2
    settings["n_steps"] = (math.floor(middle), math.ceil(middle))
    kernel, counter = make_replicated_kernel(target, driver, comm, sampler=sampler, **settings)
    state, rng = kernel.init(start), stream(run.seed, "mesh study", sampler)

    def work() -> None:
        nonlocal state
        state, _ = run_phase(kernel, state, iterations=count, rng=rng, counter=counter)

    return work


def _with_orders(table: pd.DataFrame) -> pd.DataFrame:
    """Add the order of convergence of each error, within a solver and number of ranks."""
    groups = table.groupby(["solver", "ranks"])
    refinement = np.log(table["cells"] / groups["cells"].shift())
    orders = {f"{error}_order": np.log(groups[error].shift() / table[error]) / refinement for error in ERRORS}
    return table.assign(**orders)
