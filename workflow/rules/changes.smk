"""Decisions about reruns (docs/workflow.md), and messages about failed jobs. Included last, since it inspects all rules."""

from snakemake.logging import logger

from rnshmc.rerun.aside import put_aside, put_back
from rnshmc.run.failures import check_writable

# Each run has its own: two may run at the same time.
ASIDE = Path(".snakemake/rnshmc-aside", config["run"])


# The profile omits the trigger `code`, which uses file times of scripts; digests replace it.
for rule_ in internals.own_rules(workflow):
    internals.complete(rule_, code, "../../environment.yml")

# Before Snakemake looks for changes, restore results that a killed run was replacing, unless another run is doing so now.
if internals.is_main_process(workflow) and not internals.is_locked():
    put_back(ASIDE, Path.cwd())


logger.addHandler(internals.JobErrors(logger, ASIDE))


onstart:
    check_writable(Path(RESULTS))
    check_writable(Path(LOGS))
    put_aside(internals.replaced_outputs(workflow), ASIDE, Path.cwd())


onsuccess:
    put_back(ASIDE, Path.cwd())


onerror:
    put_back(ASIDE, Path.cwd())
