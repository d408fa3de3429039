"""Solves distributed over ranks: mpiexec -n RANKS python scaling_ensemble.py --spec S --data D --output O ..."""

from pathlib import Path
from typing import Any

import pandas as pd
from mpi4py import MPI

from rnshmc.experiments import ensemble
from rnshmc.experiments.scaling import measure
from rnshmc.run.mpi import run_script
from rnshmc.run.registry import load_target
from rnshmc.targets.ensemble import together
from rnshmc.targets.forward_data import ForwardData


def main(spec: dict[str, Any], data: Path, output: Path, seconds: Path) -> None:
    comm = MPI.COMM_WORLD
    names = {"seed": spec["seed"], "problem": spec["problem"]}
    potential = together(comm, lambda: load_target(spec["target"], data))
    prior_sd = together(comm, lambda: ForwardData.load(data)).prior_sd
    states = ensemble.prior_states(spec["states"], potential.dim, prior_sd=prior_sd, **names)
    along = ensemble.directions(spec["checked"], potential.dim, **names)
    together(comm, lambda: potential.value_and_grad(states[0]))
    evaluated, solves = measure(
        comm,
        lambda: ensemble.values_and_gradients(comm, potential, states),
        what=f"{spec['problem']}: potentials and gradients",
        size=len(states),
        unit="states",
        repeats=spec["repeats"],
    )
    differences, checks = measure(
        comm,
        lambda: ensemble.central_differences(comm, potential, states[: len(along)], along),
        what=f"{spec['problem']}: finite differences",
        size=2 * len(ensemble.STEPS) * len(along),
        unit="solves",
        repeats=spec["repeats"],
    )
    if evaluated is not None and differences is not None:
        ensemble.Evaluations(states, *evaluated, differences).save(output)
        pd.concat([solves, checks]).to_csv(seconds, index=False)


if __name__ == "__main__":
    run_script(main, __doc__, "data", "output", "seconds")
