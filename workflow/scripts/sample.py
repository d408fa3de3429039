"""Continue an exploration with a named sampler and keep the draws."""

import json
from pathlib import Path

from rnshmc.random import stream
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics, exploit
from rnshmc.run.progress import log_progress
from rnshmc.run.registry import load_driver, load_target
from rnshmc.store.chains import StoredChain, read_chain, write_chain
from rnshmc.store.provenance import provenance
from rnshmc.types import AdaptiveDriver

spec = snakemake.params.spec
chain, output = f"chain{spec['chain']}", Path(snakemake.output.chain)
kept = output.parents[3] / "checkpoints" / spec["problem"] / spec["sampler"] / f"{chain}.npz"

with job(snakemake.log[0]):
    shaped = {**spec, "code": snakemake.params.code}
    checkpoint = Checkpoint.of_job(kept, shaped, reads=snakemake.input, **snakemake.config["checkpoint"])
    exploration = read_chain(Path(snakemake.input.exploration))
    phases, explored = dict(exploration.phases), spec["explored"]
    warmup = exploration.draws[:explored]
    driver = None
    if "surrogate" in spec:
        driver = load_driver(spec["surrogate"], Path(snakemake.input.surrogate))
        phases["fit"] = json.loads(Path(snakemake.input.fit_report).read_text(encoding="utf-8"))
    phase = exploit(
        load_target(spec["target"], Path(snakemake.input.data)),
        driver,
        sampler=spec["recipe"],
        start=warmup[-1],
        iterations=spec["iterations"],
        rng=stream(spec["seed"], spec["problem"], spec["sampler"], chain),
        **dynamics(spec["settings"]),
        progress=log_progress(f"{spec['problem']}, {spec['sampler']}, {chain}"),
        checkpoint=checkpoint,
    )
    if isinstance(driver, AdaptiveDriver):
        phases["learnt"] = driver.report()
    stored = StoredChain(
        draws=phase.draws,
        stats=phase.stats,
        settings={**spec, "explore": exploration.settings},
        phases={**phases, "sample": phase.timing},
        origin=exploration.origin,
        provenance=provenance(data_hashes=exploration.provenance["data"]),
        warmup=warmup,
        warmup_stats={name: values[:explored] for name, values in exploration.stats.items()},
    )
    write_chain(output, stored)
    checkpoint.remove()
