"""Seconds per draw of `rnshmc.sample`, by its chains: all seconds from the first evaluation on."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rnshmc.files import write_json
from rnshmc.run.job import job
from rnshmc.run.timing import LOADED_CORES
from rnshmc.store.chains import read_chain
from rnshmc.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

with job(snakemake.log[0]):
    chains = [read_chain(Path(path)) for path in snakemake.input.chains]
    phases = [chain.phases["sample"] for chain in chains]
    seconds = [phase["wall_s"] / phase["iterations"] for phase in phases]
    other_cores = max(phase["other_cores"] for phase in phases)
    p10, median, p90 = np.quantile(seconds, [0.1, 0.5, 0.9])
    content = {
        "origin": chains[0].origin,
        "provenance": provenance(),
        "problem": chains[0].settings["problem"],
        "sampler": chains[0].settings["sampler"],
        "iterations": sum(phase["iterations"] for phase in phases),
        "block_iterations": phases[0]["iterations"],
        "s_per_iter_blocks": seconds,
        "s_per_iter": median,
        "s_per_iter_p10": p10,
        "s_per_iter_p90": p90,
        "other_cores": other_cores,
        "loaded": other_cores > LOADED_CORES,
        "blas_threads": 1,
    }
    write_json(Path(snakemake.output.timing), content)
