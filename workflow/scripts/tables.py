"""The tables of a run, from the metrics of its chains, the timings, the fits and the reference runs."""

from pathlib import Path

from rnshmc.report.escaping import in_markdown
from rnshmc.report.table_text import (
    busy_note,
    readable_network_table,
    readable_table1,
    to_latex,
    to_markdown,
    unmixed_note,
)
from rnshmc.results.agreement import agreement_table
from rnshmc.results.metrics import read_convergence, read_metrics
from rnshmc.results.tables import diagnostics_table, matching_table, results_tables, unmixed_cells
from rnshmc.results.timings import all_timings
from rnshmc.results.views import read_views, view
from rnshmc.run.job import job
from rnshmc.store.reference import read_reference

spec, output = snakemake.params.spec, snakemake.output
READABLE = {"table1": readable_table1, "nng_tables": readable_network_table}

with job(snakemake.log[0]):
    metrics = read_metrics(snakemake.input.metrics)
    timings = all_timings(snakemake.input.timing, metrics)
    references = {Path(path).stem: read_reference(Path(path)) for path in snakemake.input.reference}
    convergence = read_convergence(snakemake.input.metrics)
    unmixed = unmixed_cells(metrics, convergence)
    results, errors = results_tables(metrics, timings, spec["papers"], unmixed)
    results.to_csv(output.results, index=False)
    errors.to_csv(output.results_se, index=False)
    views = read_views(Path(snakemake.input.views))
    for name, problems in spec["views"].items():
        table = view(results, views[name], problems)
        table.to_csv(output[name], index=False)
        view(errors, views[name], problems).to_csv(output[f"{name}_se"], index=False)
        readable = READABLE[name](table, spec["titles"])
        notes = busy_note(readable) + unmixed_note(table, spec["titles"])
        Path(output[f"{name}_md"]).write_text(to_markdown(readable.map(in_markdown)) + notes, encoding="utf-8")
        Path(output[f"{name}_tex"]).write_text(to_latex(readable), encoding="utf-8")
    diagnostics_table(metrics, convergence).to_csv(output.diagnostics, index=False)
    agreement_table(metrics, references, unmixed).to_csv(output.agreement, index=False)
    matching_table(map(Path, snakemake.input.matching)).to_csv(output.potential_matching, index=False)
