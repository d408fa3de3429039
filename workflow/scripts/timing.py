"""Seconds per iteration of a sampler, alone on the machine, continuing a finished chain."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics, make_kernel
from rnshmc.run.registry import load_driver, load_target
from rnshmc.run.timing import time_kernel
from rnshmc.store.chains import read_chain
from rnshmc.store.origin import read_origin
from rnshmc.store.provenance import provenance

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0], blas_threads=spec["blas_threads"]):
    target = load_target(spec["target"], Path(snakemake.input.data))
    driver = load_driver(spec["surrogate"], Path(snakemake.input.surrogate)) if "surrogate" in spec else None
    kernel, counter = make_kernel(
        target,
        driver,
        sampler=spec["recipe"],
        **dynamics(spec["settings"]),
    )
    timing = time_kernel(
        kernel,
        kernel.init(read_chain(Path(snakemake.input.chain)).draws[-1]),
        blocks=spec["blocks"],
        block_iterations=spec["block_iterations"],
        # The same stream for every sampler: those that draw alike have the same trajectory lengths, whose noise then
        # cancels in speed-ups.
        rng=stream(spec["seed"], spec["problem"], "timing"),
        counter=counter,
    )
    p10, median, p90 = np.quantile(timing.s_per_iter_blocks, [0.1, 0.5, 0.9])
    content = {
        "origin": read_origin(Path(snakemake.input.data)),
        "provenance": provenance(),
        "problem": spec["problem"],
        "sampler": spec["sampler"],
        "iterations": spec["blocks"] * spec["block_iterations"],
        "block_iterations": spec["block_iterations"],
        "s_per_iter_blocks": timing.s_per_iter_blocks.tolist(),
        "s_per_iter": median,
        "s_per_iter_p10": p10,
        "s_per_iter_p90": p90,
        "other_cores": timing.other_cores,
        "loaded": timing.loaded,
        "blas_threads": spec["blas_threads"],
    }
    write_json(Path(snakemake.output.timing), content)
