"""Fit a surrogate to the states of an exploration."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.fit import fit
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    exploration = read_chain(Path(snakemake.input.exploration))
    wall, cpu = time.perf_counter(), time.process_time()
    surrogate = fit(
        exploration.draws,
        exploration.stats["potential"],
        surrogate=spec["surrogate"]["type"],
        discard=spec["discard"],
        settings={key: value for key, value in spec["surrogate"].items() if key != "type"},
        rng=stream(spec["seed"], spec["problem"], "surrogate", spec["name"], f"chain{spec['chain']}"),
    )
    report = {
        **spec["surrogate"],
        "origin": exploration.origin,
        "training_states": len(exploration.draws) - spec["discard"],
        "train_residual_sd": surrogate.train_residual_sd,
        "solver": surrogate.solver,
        "wall_s": time.perf_counter() - wall,
        "cpu_s": time.process_time() - cpu,
    }
    surrogate.save(Path(snakemake.output.surrogate))
    write_json(Path(snakemake.output.report), report)
