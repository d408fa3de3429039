"""The figures that compare samplers over all problems of a run."""

from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from rnshmc.plots.adaptive import acceptance_by_training, error_by_time
from rnshmc.plots.comparison import acceptance, efficiency, evaluations
from rnshmc.plots.style import save
from rnshmc.results.metrics import metrics_frame, read_metrics
from rnshmc.results.tables import read_results
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

titles = snakemake.params.spec["titles"]

with job(snakemake.log[0]):
    chains = metrics_frame(read_metrics(snakemake.input.metrics))
    table, errors = read_results(Path(snakemake.input.table1)), read_results(Path(snakemake.input.table1_se))
    figures = {
        "efficiency": efficiency(table, errors, titles),
        "acceptance": acceptance(chains, read_results(Path(snakemake.input.paper)), titles),
        "evaluations": evaluations(chains, titles),
        "fig7": acceptance_by_training(pd.read_csv(snakemake.input.fig7), titles),
        "fig8": error_by_time(pd.read_csv(snakemake.input.fig8), titles),
    }
    for name, figure in figures.items():
        save(figure, Path(snakemake.output[name]), Path(snakemake.output[f"{name}_pdf"]))
