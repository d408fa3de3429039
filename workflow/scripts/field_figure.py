"""The diffusion field that the chains of the elliptic inverse problem found."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.plots.field import diffusion_fields
from rnshmc.plots.style import save
from rnshmc.results.posterior import ProblemChains
from rnshmc.run.job import job
from rnshmc.run.registry import target_settings
from rnshmc.targets.elliptic_settings import EllipticSettings, from_mapping
from rnshmc.targets.forward_data import ForwardData

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    figure = diffusion_fields(
        ProblemChains.read(map(Path, snakemake.input.chains)),
        ForwardData.load(snakemake.input.forward),
        from_mapping(EllipticSettings, target_settings(spec["target"])),
        spec["title"],
    )
    save(figure, Path(snakemake.output.field), Path(snakemake.output.field_pdf))
