"""Run exact HMC in coordinates whitened at the mode, for nearly independent training states of a surrogate."""

from pathlib import Path

from rnshmc.files import sha256
from rnshmc.random import stream
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.job import job
from rnshmc.run.phases import dynamics
from rnshmc.run.progress import report_progress
from rnshmc.run.registry import load_target
from rnshmc.run.start import start_point
from rnshmc.run.whitened import explore_whitened
from rnshmc.store.chains import StoredChain, write_chain
from rnshmc.store.provenance import provenance, read_origin

spec = snakemake.params.spec
data = Path(snakemake.input.data)
chain, output = f"chain{spec['chain']}", Path(snakemake.output.chain)
kept = output.parents[3] / "checkpoints" / spec["problem"] / f"explore_{spec['surrogate']}" / f"{chain}.npz"

with job(snakemake.log[0]):
    shaped = {**spec, "code": snakemake.params.code}
    checkpoint = Checkpoint.of_job(kept, shaped, reads=snakemake.input, **snakemake.config["checkpoint"])
    with report_progress(f"{spec['problem']}, whitened exploration, {chain}") as progress:
        target = load_target(spec["target"], data)
        phase = explore_whitened(
            target,
            start=start_point(spec, target.dim),
            iterations=spec["iterations"],
            rng=stream(spec["seed"], spec["problem"], "explore", spec["surrogate"], chain),
            **dynamics(spec["whitened"]),
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
    write_chain(output, stored)
    checkpoint.remove()
