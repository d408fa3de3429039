"""Make the table of the mesh study after checking that numbers of ranks agree on every mesh."""

import math
from pathlib import Path

import numpy as np
import pandas as pd

from rnshmc.experiments.mesh_study import SAMPLERS, Solutions, Solved, mesh_table
from rnshmc.experiments.scaling import agreement
from rnshmc.results.metrics import read_convergence, read_metrics
from rnshmc.results.tables import unmixed_cells
from rnshmc.run.job import job

TOLERANCE = 1e-10
"""Maximum relative difference between numbers of ranks."""

spec = snakemake.params.spec

with job(snakemake.log[0]):
    files = {Solved(*point): Path(path) for point, path in zip(spec["points"], snakemake.input.solutions, strict=True)}
    for cells, solver in dict.fromkeys((point.cells, point.solver) for point in files):
        on_ranks = {
            point.ranks: path for point, path in files.items() if (point.cells, point.solver) == (cells, solver)
        }
        agreement(f"{cells} x {cells} cells, {solver}", on_ranks, tolerance=TOLERANCE)
    metrics = read_metrics(snakemake.input.metrics)
    unmixed = {sampler for _, sampler in unmixed_cells(metrics, read_convergence(snakemake.input.metrics))}
    ess = {
        sampler: np.mean([chain.ess_min / chain.draws for chain in metrics if chain.sampler == sampler])
        for sampler in SAMPLERS
    }
    table = mesh_table(
        {point: Solutions.load(path) for point, path in files.items()},
        {point: pd.read_csv(path) for point, path in zip(files, snakemake.input.seconds, strict=True)},
        {sampler: math.nan if sampler in unmixed else float(ess[sampler]) for sampler in SAMPLERS},
    )
    table.to_csv(snakemake.output.table, index=False, float_format="%.6g")
