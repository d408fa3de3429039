"""Seconds per draw of `rnshmc.sample` from its chains, including all time since the first evaluation."""

from pathlib import Path

import numpy as np

from rnshmc.files import write_json
from rnshmc.run.job import job
from rnshmc.run.timing import Timing
from rnshmc.store.chains import read_chain
from rnshmc.store.provenance import provenance

with job(snakemake.log[0]):
    chains = [read_chain(Path(path)) for path in snakemake.input.chains]
    phases = [chain.phases["sample"] for chain in chains]
    timing = Timing(
        np.array([phase["wall_s"] / phase["iterations"] for phase in phases]),
        other_cores=max(phase["other_cores"] for phase in phases),
    )
    content = {
        "origin": chains[0].origin,
        "provenance": provenance(),
        "problem": chains[0].settings["problem"],
        "blas_threads": 1,
        "samplers": [
            {
                "sampler": chains[0].settings["sampler"],
                "block_iterations": phases[0]["iterations"],
                **timing.report(),
            }
        ],
    }
    write_json(Path(snakemake.output.timing), content)
