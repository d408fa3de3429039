"""Solves distributed over ranks: mpiexec -n RANKS python scaling_ensemble.py --spec S --data D --output O --seconds
T."""

import argparse
import json
import sys
from pathlib import Path

import pandas as pd
from mpi4py import MPI

from rnshmc.errors import RnshmcError
from rnshmc.experiments import ensemble
from rnshmc.experiments.scaling import measure
from rnshmc.run.registry import load_target
from rnshmc.targets.ensemble import together
from rnshmc.targets.forward_data import ForwardData


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--spec", type=json.loads, required=True, help="settings as a JSON object")
    parser.add_argument("--data", type=Path, required=True, help="output file of the forward model")
    parser.add_argument("--output", type=Path, required=True, help="npz file of evaluations to write")
    parser.add_argument("--seconds", type=Path, required=True, help="CSV file of measured seconds to write")
    arguments = parser.parse_args()
    spec, comm = arguments.spec, MPI.COMM_WORLD
    names = {"seed": spec["seed"], "problem": spec["problem"]}
    potential = together(comm, lambda: load_target(spec["target"], arguments.data))
    prior_sd = together(comm, lambda: ForwardData.load(arguments.data)).prior_sd
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
        ensemble.Evaluations(states, *evaluated, differences).save(arguments.output)
        pd.concat([solves, checks]).to_csv(arguments.seconds, index=False)


if __name__ == "__main__":
    try:
        main()
    except RnshmcError as error:
        sys.exit(f"{Path(__file__).name}: {error}")
