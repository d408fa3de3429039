"""Execute the notebook of one problem and turn it into a page of the report."""

from pathlib import Path
from typing import TYPE_CHECKING

import papermill

from rnshmc.plots.notebook_page import notebook_page
from rnshmc.run.job import job

if TYPE_CHECKING:
    from snakemake.iocontainers import snakemake

spec = snakemake.params.spec

with job(snakemake.log[0]):
    papermill.execute_notebook(
        snakemake.input.notebook,
        snakemake.output.notebook,
        parameters={
            "run": spec["run"],
            "problem": spec["problem"],
            "title": spec["title"],
            "story": "".join(Path(path).read_text(encoding="utf-8").strip() for path in snakemake.input.story),
            "chain_files": list(snakemake.input.chains),
            "metrics_files": list(snakemake.input.metrics),
            "table1": snakemake.input.table1,
            "paper_table": snakemake.input.paper,
            "forward": "".join(snakemake.input.forward),
        },
        kernel_name="python3",
        progress_bar=False,
    )
    page = notebook_page(
        Path(snakemake.output.notebook),
        Path(snakemake.input.template).parent.parent,
        title=f"{spec['title']} – rnshmc, run “{spec['run']}”",
        index_title=f"Report of the run “{spec['run']}”",
        index_href="index.html",
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
