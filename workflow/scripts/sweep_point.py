"""Make all runs of one point of the sweeps: train a random network on the exploration, and run RNS-HMC with it."""

from pathlib import Path

import pandas as pd

from rnshmc.experiments.sweep import SweepPoint, sweep_run
from rnshmc.run.job import job
from rnshmc.run.registry import load_target
from rnshmc.store.chains import read_chain

spec = snakemake.params.spec

with job(snakemake.log[0]):
    target = load_target(spec["target"], Path(snakemake.input.data))
    rows = []
    for exploration in snakemake.input.explorations:
        chain = read_chain(Path(exploration))
        row = sweep_run(
            target,
            chain.draws,
            chain.stats,
            point=SweepPoint(**spec["point"]),
            run=chain.settings["run"],
            step_size=chain.settings["step_size"],
            n_steps=tuple(chain.settings["n_steps"]),
            **spec["settings"],
        )
        rows.append(row)
    pd.DataFrame(rows).to_csv(snakemake.output.point, index=False)
