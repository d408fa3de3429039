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

settings = {key: value for key, value in spec["surrogate"].items() if key not in ("type", "states")}

with job(snakemake.log[0]):
    exploration = read_chain(Path(snakemake.input.exploration))
    end = spec["training_end"]
    wall, cpu = time.perf_counter(), time.process_time()
    surrogate = fit(
        exploration.draws[:end],
        exploration.stats["potential"][:end],
        surrogate=spec["surrogate"]["type"],
        discard=spec["discard"],
        settings=settings,
        rng=stream(spec["seed"], spec["problem"], "surrogate", spec["name"], f"chain{spec['chain']}"),
    )
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    report = {
        **spec["surrogate"],
        "origin": exploration.origin,
        **surrogate.report(),
        "training_states": end - spec["discard"],
        "wall_s": wall,
        "cpu_s": cpu,
    }
    surrogate.save(Path(snakemake.output.surrogate))
    write_json(Path(snakemake.output.report), report)
