"""Reference posterior moments of a problem from a long exact run."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.diagnostics.reference import ReferenceSettings, run_reference
from rnshmc.files import sha256
from rnshmc.run.job import job
from rnshmc.run.registry import load_target
from rnshmc.store.origin import read_origin
from rnshmc.store.provenance import provenance
from rnshmc.store.reference import write_reference

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

log = logging.getLogger("rnshmc.reference")
spec = snakemake.params.spec
data = Path(snakemake.input.data)

with job(snakemake.log[0]):
    settings = ReferenceSettings(**{**spec["reference"], "n_steps": tuple(spec["reference"]["n_steps"])})

    def report(draws: int, error: float) -> None:
        """Say how far the run has come."""
        log.info("%s: %d draws per chain, Monte Carlo error %.4f sd", spec["problem"], draws, error)

    found = run_reference(
        load_target(spec["target"], data), settings, seed=spec["seed"], problem=spec["problem"], progress=report
    )
    write_reference(
        Path(snakemake.output.reference),
        found,
        origin=read_origin(data),
        settings=spec,
        provenance=provenance(data_hashes={str(data): sha256(data)}),
    )
