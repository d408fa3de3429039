"""Regenerates every table and figure: `snakemake --cores 16`."""

from copy import deepcopy
from pathlib import Path

from snakemake.common.configfile import load_configfile
from snakemake.utils import min_version, update_config

min_version("9.17")

# Keys that a config leaves out have the values of the run "paper". If the workflow is used as a module, the config is the
# user's, and a `configfile` here would not be read.
own, config = config, deepcopy(config)
for layer in (load_configfile(Path(workflow.snakefile).parent / "config/config.yaml"), own):
    update_config(config, layer)


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/specs.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/network_experiments.smk"
include: "workflow/rules/mpi.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/report.smk"
include: "workflow/rules/changes.smk"


rule all:
    """Tables, figures, notebooks and the report of a run."""
    default_target: True
    input:
        rules.report.output.page,
        SCORECARD_OUTPUTS,
        rules.provenance.output,
        EXPERIMENT_OUTPUTS,
        FIGURE_OUTPUTS,
