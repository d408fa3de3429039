"""Sample with `rnshmc.sample`, and keep its draws as a chain."""

import hashlib
import json
import logging
from pathlib import Path

from rnshmc.files import sha256
from rnshmc.inference.call import sample
from rnshmc.inference.exact.stored_evaluations import read_all
from rnshmc.random import stream
from rnshmc.run.job import job
from rnshmc.run.registry import load_target
from rnshmc.run.timing import busy_s
from rnshmc.store.automatic import automatic_chain
from rnshmc.store.chains import write_chain
from rnshmc.store.clock import kept_stopwatch
from rnshmc.store.provenance import provenance, read_origin

log = logging.getLogger("rnshmc.sample_auto")
spec = snakemake.params.spec
data, output, chain = Path(snakemake.input.data), Path(snakemake.output.chain), f"chain{spec['chain']}"
folder = output.parents[3] / "checkpoints" / spec["problem"] / spec["sampler"]

with job(snakemake.log[0]):
    # The file name depends on all inputs, so that evaluations of another version of a model are not reused.
    shaped = json.dumps({**spec, "code": snakemake.params.code, "data": sha256(data)}, sort_keys=True)
    kept = folder / f"{chain}-{hashlib.sha256(shaped.encode()).hexdigest()[:16]}"
    evaluations, target = kept.with_suffix(".jsonl"), load_target(spec["target"], data)
    with kept_stopwatch(kept.with_suffix(".json")) as watch:
        start, busy = watch.read(), busy_s()
        result = sample(
            target,
            spec.get("start", [0.0] * target.dim),
            draws=spec["iterations"],
            names=spec.get("names"),
            seed=int(stream(spec["seed"], spec["problem"], spec["sampler"], chain).integers(2**31)),
            filepath=evaluations,
            progress_bar=False,
        )
        cost = watch.read()
    wall, cpu = (cost[name] - start[name] for name in ("wall_s", "cpu_s"))
    log.info("%s, %s, %s:\n%s", spec["problem"], spec["sampler"], chain, result)
    stored = automatic_chain(
        result,
        read_all(evaluations),
        settings=spec,
        cost={**cost, "other_cores": max(0.0, (busy_s() - busy - cpu) / wall)},
        origin=read_origin(data),
        provenance=provenance(data_hashes={str(data): sha256(data)}),
    )
    write_chain(output, stored)
    for file in folder.glob(f"{chain}-*.json*"):
        file.unlink()
