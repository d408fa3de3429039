"""Execute a notebook and turn it into a page of the report."""

from pathlib import Path

import papermill

from rnshmc.report.notebook_page import notebook_page
from rnshmc.run.job import job

spec = snakemake.params.spec
run, title = spec["parameters"]["run"], spec["parameters"]["title"]

with job(snakemake.log[0]):
    files = {name: snakemake.input[name] for name in spec["files"]}
    papermill.execute_notebook(
        snakemake.input.notebook,
        snakemake.output.notebook,
        parameters={
            **spec["parameters"],
            **{name: found if isinstance(found, str) else list(found) for name, found in files.items()},
        },
        kernel_name="python3",
        progress_bar=False,
    )
    page = notebook_page(
        Path(snakemake.output.notebook),
        Path(snakemake.input.template).parent.parent,
        title=f"{title} – rnshmc, run “{run}”",
        index_title=f"Report of the run “{run}”",
        index_href="index.html",
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
