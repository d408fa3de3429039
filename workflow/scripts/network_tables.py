"""Paper B's tables, from the chains of a run and the timings."""

from pathlib import Path
from typing import TYPE_CHECKING

from rnshmc.report.table_text import busy_note, readable_network_table, to_markdown
from rnshmc.results.network_metrics import network_chain
from rnshmc.results.network_tables import (
    network_agreement,
    network_table,
    network_table_standard_errors,
)
from rnshmc.run.job import job
from rnshmc.store.chains import read_chain
from rnshmc.store.timing import Timing

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

titles = snakemake.params.spec["titles"]

with job(snakemake.log[0]):
    # One chain at a time: all of them together may not fit into memory.
    metrics = [network_chain(read_chain(Path(path))) for path in snakemake.input.chains]
    timings = [Timing.read(Path(path)) for path in snakemake.input.timing]
    table = network_table(metrics, timings)
    readable = readable_network_table(table, titles)
    table.to_csv(snakemake.output.table, index=False)
    Path(snakemake.output.table_md).write_text(to_markdown(readable) + busy_note(readable), encoding="utf-8")
    network_table_standard_errors(metrics, timings).to_csv(snakemake.output.table_se, index=False)
    network_agreement(metrics).to_csv(snakemake.output.agreement, index=False)
