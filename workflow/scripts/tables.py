"""The tables of a run, from the metrics and draws of its chains, the timings, the fits and the reference runs."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.report.table_text import busy_note, readable_table1, to_latex, to_markdown
from rnshmc.results.matching import matching_table
from rnshmc.results.metrics import read_metrics
from rnshmc.results.posterior import ProblemChains
from rnshmc.results.tables import agreement_table, diagnostics_table, table1, table1_standard_errors
from rnshmc.run.job import job
from rnshmc.store.reference import read_reference
from rnshmc.store.timing import Timing

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

titles = snakemake.params.spec["titles"]

with job(snakemake.log[0]):
    metrics = read_metrics(snakemake.input.metrics)
    timings = [Timing.read(Path(path)) for path in snakemake.input.timing]
    references = {Path(path).stem: read_reference(Path(path)) for path in snakemake.input.reference}
    draws = {}
    for problem in titles:
        paths = [path for path in map(Path, snakemake.input.chains) if path.parts[-3] == problem]
        chains = ProblemChains.read(paths)
        draws.update({(problem, sampler): chains.draws(sampler) for sampler in chains.chains})

    table = table1(metrics, timings)
    readable = readable_table1(table, titles)
    table.to_csv(snakemake.output.table1, index=False)
    Path(snakemake.output.table1_md).write_text(to_markdown(readable) + busy_note(readable), encoding="utf-8")
    Path(snakemake.output.table1_tex).write_text(to_latex(readable), encoding="utf-8")
    table1_standard_errors(metrics, timings).to_csv(snakemake.output.table1_se, index=False)
    diagnostics_table(metrics, draws).to_csv(snakemake.output.diagnostics, index=False)
    agreement_table(metrics, references).to_csv(snakemake.output.agreement, index=False)
    matches = matching_table(map(Path, snakemake.input.matching))
    matches.to_csv(snakemake.output.potential_matching, index=False)
