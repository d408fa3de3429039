"""Fit a surrogate to the states of an exploration, or to the gradients along its trajectories."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.fit import fit, fit_gradients
from rnshmc.run.job import job
from rnshmc.run.recording import GradientPairs
from rnshmc.store.chains import read_chain
from rnshmc.targets.forward_data import ForwardData

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

OF_TRAINING = ("type", "states", "whitened", "from_prior")
how = {
    "surrogate": spec["surrogate"]["type"],
    "settings": {key: value for key, value in spec["surrogate"].items() if key not in OF_TRAINING},
    "rng": stream(spec["seed"], spec["problem"], "surrogate", spec["name"], f"chain{spec['chain']}"),
}

with job(snakemake.log[0]):
    exploration = read_chain(Path(snakemake.input.exploration))
    discard, end = spec["discard"], spec["training_end"]
    gradients = snakemake.input.gradients
    pairs = None
    if gradients:
        pairs = GradientPairs.load(gradients).between(discard, end).of_sound_trajectories(exploration.stats)
    wall, cpu = time.perf_counter(), time.process_time()
    if pairs is not None:
        surrogate = fit_gradients(pairs.q, pairs.gradients, **how)
    else:
        states, potentials = exploration.draws[discard:end], exploration.stats["potential"][discard:end]
        if snakemake.input.prior:
            from_prior = ForwardData.load(snakemake.input.prior).prior_training_set()
            states, potentials = (np.concatenate(pair) for pair in zip(from_prior, (states, potentials), strict=True))
        surrogate = fit(states, potentials, discard=0, **how)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    report = {
        **spec["surrogate"],
        "origin": exploration.origin,
        **surrogate.report(),
        "training_states": len(states) if pairs is None else len(pairs),
        "wall_s": wall,
        "cpu_s": cpu,
    }
    surrogate.save(Path(snakemake.output.surrogate))
    write_json(Path(snakemake.output.report), report)
