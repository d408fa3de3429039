"""Fit a surrogate to the states of an exploration, or to the gradients along its trajectories."""

from pathlib import Path

import numpy as np

from rnshmc.files import write_json
from rnshmc.random import stream
from rnshmc.run.checkpoint import Stopwatch
from rnshmc.run.job import job
from rnshmc.run.recording import GradientPairs
from rnshmc.run.registry import fit
from rnshmc.store.chains import read_chain
from rnshmc.targets.forward_data import ForwardData

spec = snakemake.params.spec

OF_TRAINING = ("type", "states", "whitened", "from_prior")

with job(snakemake.log[0]):
    exploration = read_chain(Path(snakemake.input.exploration))
    discard, end = spec["discard"], spec["training_end"]
    if snakemake.input.gradients:
        pairs = GradientPairs.load(snakemake.input.gradients).between(discard, end)
        pairs = pairs.of_sound_trajectories(exploration.stats)
        states, observed = pairs.q, pairs.gradients
    else:
        states, observed = exploration.draws[discard:end], exploration.stats["potential"][discard:end]
        if snakemake.input.prior:
            from_prior = ForwardData.load(snakemake.input.prior).prior_training_set()
            states, observed = (np.concatenate(pair) for pair in zip(from_prior, (states, observed), strict=True))
    watch = Stopwatch()
    surrogate = fit(
        spec["surrogate"]["type"],
        states,
        observed,
        settings={key: value for key, value in spec["surrogate"].items() if key not in OF_TRAINING},
        rng=stream(spec["seed"], spec["problem"], "surrogate", spec["name"], f"chain{spec['chain']}"),
    )
    report = {
        **watch.read(),
        **spec["surrogate"],
        "origin": exploration.origin,
        **surrogate.report(),
        "training_states": len(states),
    }
    surrogate.save(Path(snakemake.output.surrogate))
    write_json(Path(snakemake.output.report), report)
