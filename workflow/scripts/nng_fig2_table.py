"""HMC and NNg-HMC on a banana-shaped distribution: gradients, draws, trajectories, acceptance."""

from typing import TYPE_CHECKING

from rnshmc.experiments.network_banana import NetworkBanana, run_network_banana
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    found = run_network_banana(NetworkBanana(seed=spec["seed"], **spec["settings"]), settings=spec["surrogate"])
    for name, table in found._asdict().items():
        table.to_csv(snakemake.output[name], index=False, float_format="%.6g")
