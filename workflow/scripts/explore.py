"""Run exact HMC from a problem's start: burn-in of all samplers and training set of all surrogates."""

from pathlib import Path

from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics, explore
from rnshmc.run.progress import report_progress
from rnshmc.run.recording import GradientRecording
from rnshmc.run.registry import load_target
from rnshmc.run.start import start_point
from rnshmc.store.chains import StoredChain, write_chain
from rnshmc.store.provenance import provenance, read_origin

spec = snakemake.params.spec
data = Path(snakemake.input.data)
chain, output = f"chain{spec['chain']}", Path(snakemake.output.chain)
kept = output.parents[2] / "checkpoints" / spec["problem"] / "explore" / f"{chain}.npz"

with job(snakemake.log[0]):
    shaped = {**spec, "code": snakemake.params.code}
    checkpoint = Checkpoint.of_job(kept, shaped, reads=snakemake.input, **snakemake.config["checkpoint"])
    target = load_target(spec["target"], data)
    recording = GradientRecording(target.dim, start=spec["recorded_from"]) if "recorded_from" in spec else None
    with report_progress(f"{spec['problem']}, exploration, {chain}") as progress:
        phase = explore(
            target,
            start=start_point(spec, target.dim),
            iterations=spec["iterations"],
            rng=stream(spec["seed"], spec["problem"], "explore", chain),
            **dynamics(spec["hmc"]),
            recording=recording,
            progress=progress,
            checkpoint=checkpoint,
        )
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
