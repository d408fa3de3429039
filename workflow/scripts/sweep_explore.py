"""Run exact HMC from the origin on a model of the sweeps, to train all surrogates of this dimension and run."""

import json
from pathlib import Path

import numpy as np

from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.run.job import job
from rnshmc.run.phases import explore
from rnshmc.run.registry import load_target
from rnshmc.store.chains import StoredChain, write_chain
from rnshmc.store.provenance import provenance, read_origin

spec = snakemake.params.spec
data = Path(snakemake.input.data)

with job(snakemake.log[0]):
    step_size = json.loads(Path(snakemake.input.step_size).read_text(encoding="utf-8"))["step_size"]
    target = load_target(spec["target"], data)
    phase = explore(
        target,
        start=np.zeros(target.dim),
        step_size=step_size,
        n_steps=tuple(spec["n_steps"]),
        iterations=spec["iterations"],
        rng=stream(spec["seed"], "sweep", f"d{spec['d']}", f"run{spec['run']}", "explore"),
    )
    stored = StoredChain(
        draws=phase.draws,
        stats=phase.stats,
        settings={**spec, "step_size": step_size},
        phases={"explore": phase.timing},
        origin=read_origin(data),
        provenance=provenance(data_hashes={str(data): sha256(data)}),
    )
    write_chain(Path(snakemake.output.chain), stored)
