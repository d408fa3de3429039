"""Reference posterior moments of a problem from a long exact run."""

from pathlib import Path

from rnshmc.diagnostics.reference import ReferenceSettings, run_reference
from rnshmc.files import sha256
from rnshmc.run.checkpoint import Checkpoint
from rnshmc.run.job import job
from rnshmc.run.phases import start_point
from rnshmc.run.registry import load_target
from rnshmc.store.provenance import provenance, read_origin
from rnshmc.store.reference import write_reference

spec = snakemake.params.spec
data, output = Path(snakemake.input.data), Path(snakemake.output.reference)
kept = output.parents[1] / "checkpoints" / spec["problem"] / "reference.npz"

with job(snakemake.log[0]):
    # The stopping rule does not affect the draws: a run with too few batches can continue with more.
    shaping = {key: value for key, value in spec["reference"].items() if key not in ("tolerance", "max_batches")}
    shaped = {**spec, "reference": shaping, "code": snakemake.params.code}
    checkpoint = Checkpoint.of_job(kept, shaped, reads=snakemake.input, **snakemake.config["checkpoint"])
    settings = ReferenceSettings(**{**spec["reference"], "n_steps": tuple(spec["reference"]["n_steps"])})
    target = load_target(spec["target"], data)
    found = run_reference(
        target,
        settings,
        start=start_point(spec, target.dim),
        seed=spec["seed"],
        problem=spec["problem"],
        checkpoint=checkpoint,
    )
    write_reference(
        output,
        found,
        origin=read_origin(data),
        settings=spec,
        provenance=provenance(data_hashes={str(data): sha256(data)}),
    )
    checkpoint.remove()
