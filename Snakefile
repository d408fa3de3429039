"""Regenerates every table and figure: `snakemake --cores 16`."""

from snakemake.utils import min_version, validate

min_version("9.17")


configfile: "config/config.yaml"


validate(config, "workflow/schemas/config.schema.yaml")


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/data.smk"
include: "workflow/rules/sample.smk"
include: "workflow/rules/experiments.smk"
include: "workflow/rules/network_experiments.smk"
include: "workflow/rules/mpi.smk"
include: "workflow/rules/aggregate.smk"
include: "workflow/rules/figures.smk"
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
