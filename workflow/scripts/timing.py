"""Time a problem's samplers one after another, each continuing a finished chain."""

from pathlib import Path
from typing import Any

from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics, make_kernel
from rnshmc.run.registry import load_driver, load_target
from rnshmc.run.timing import Timing, time_kernel
from rnshmc.store.chains import read_chain
from rnshmc.store.provenance import provenance, read_origin

spec, data = snakemake.params.spec, Path(snakemake.input.data)
# Surrogates of the samplers that have one, in the order of the samplers.
surrogates = iter(snakemake.input.surrogates)


def measure(sampler: dict[str, Any], chain: str) -> Timing:
    """Time one sampler from the end of its chain."""
    driver = load_driver(sampler["surrogate"], Path(next(surrogates))) if "surrogate" in sampler else None
    kernel, counter = make_kernel(
        load_target(sampler["target"], data), driver, sampler=sampler["recipe"], **dynamics(sampler["settings"])
    )
    return time_kernel(
        kernel,
        kernel.init(read_chain(Path(chain)).draws[-1]),
        blocks=sampler["blocks"],
        block_iterations=sampler["block_iterations"],
        # The same stream for every sampler: similar samplers have the same trajectory lengths, whose noise cancels in
        # speed-ups.
        rng=stream(spec["seed"], spec["problem"], "timing"),
        counter=counter,
    )


with job(snakemake.log[0], blas_threads=spec["blas_threads"]):
    measured = [
        {key: sampler[key] for key in ("sampler", "block_iterations")} | measure(sampler, chain).report()
        for sampler, chain in zip(spec["samplers"], snakemake.input.chains, strict=True)
    ]
    content = {
        "origin": read_origin(data),
        "provenance": provenance(),
        "problem": spec["problem"],
        "blas_threads": spec["blas_threads"],
        "samplers": measured,
    }
    write_json(Path(snakemake.output.timing), content)
