"""Measure how well a surrogate matches the exact potential on held-out states."""

import json
from dataclasses import asdict
from pathlib import Path

from rnshmc.files import write_json
from rnshmc.run.job import job
from rnshmc.run.registry import load_surrogate
from rnshmc.store.chains import read_chain
from rnshmc.surrogates.matching import potential_matching

spec = snakemake.params.spec

with job(snakemake.log[0]):
    # Exact HMC continues after the exploration: its kept draws, with their exact potentials, are held out.
    chain = read_chain(Path(snakemake.input.chain))
    surrogate = load_surrogate(spec["surrogate"], Path(snakemake.input.surrogate))
    match = potential_matching(surrogate.predict(chain.draws), chain.stats["potential"])
    fit = json.loads(Path(snakemake.input.report).read_text(encoding="utf-8"))
    content = {
        "problem": spec["problem"],
        "surrogate": spec["name"],
        "chain": spec["chain"],
        "origin": chain.origin,
        "train_residual_sd": fit["train_residual_sd"],
        **asdict(match),
    }
    write_json(Path(snakemake.output.matching), content)
