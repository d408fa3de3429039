"""Run exact HMC from a problem's start: burn-in of all samplers and training set of surrogates."""

from pathlib import Path

from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics, explore, start_point
from rnshmc.run.progress import log_progress
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import load_target
from rnshmc.run.whitened import explore_whitened
from rnshmc.store.chains import StoredChain, write_chain
from rnshmc.store.provenance import provenance, read_origin

spec = snakemake.params.spec
data, output, chain = Path(snakemake.input.data), Path(snakemake.output.chain), f"chain{spec['chain']}"
# An exploration of one surrogate alone, in whitened coordinates, is named after it.
own = [spec["surrogate"]] if "whitened" in spec else []
results = output.parents[2 + len(own)]
kept = results / "checkpoints" / spec["problem"] / "_".join(["explore", *own]) / f"{chain}.npz"

with job(snakemake.log[0]):
    shaped = {**spec, "code": snakemake.params.code}
    target = load_target(spec["target"], data)
    recording = GradientRecording(target.dim, start=spec["recorded_from"]) if "recorded_from" in spec else None
    checkpoint = Checkpoint.of_job(kept, shaped, reads=snakemake.input, **snakemake.config["checkpoint"])
    how = {
        "start": start_point(spec, target.dim),
        "iterations": spec["iterations"],
        "rng": stream(spec["seed"], spec["problem"], "explore", *own, chain),
        "progress": log_progress(" ".join([f"{spec['problem']}, exploration,", *own, chain])),
        "checkpoint": checkpoint,
    }
    if own:
        phase = explore_whitened(target, **how, **dynamics(spec["whitened"]))
    else:
        phase = explore(target, recording=recording, **how, **dynamics(spec["hmc"]))
    stored = StoredChain(
        draws=phase.draws,
        stats=phase.stats,
        settings=spec,
        phases={"explore": phase.timing},
        origin=read_origin(data),
        provenance=provenance(data_hashes={str(data): sha256(data)}),
    )
    if recording is not None:
        recording.pairs().save(Path(snakemake.output.gradients))
    write_chain(output, stored)
    checkpoint.remove()
