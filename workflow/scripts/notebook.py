"""Execute a notebook and turn it into a page of the report."""

from pathlib import Path

import papermill

from rnshmc.report.limits import limits
from rnshmc.report.notebook_page import notebook_page
from rnshmc.results.tables import read_results
from rnshmc.run.job import job
from rnshmc.scorecard.published import most_draws, read_published

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
    opening = ""
    if compared := [Path(path) for path in snakemake.input.compared]:
        results, draws = read_results(compared[0]), most_draws(read_published(compared[1:]), spec["titles"])
        opening = limits(results, spec["titles"], draws).opening
    page = notebook_page(
        Path(snakemake.output.notebook),
        Path(snakemake.input.template).parent.parent,
        title=title,
        run=run,
        opening=opening,
    )
    Path(snakemake.output.page).write_text(page, encoding="utf-8")
