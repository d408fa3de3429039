"""Decisions about reruns (docs/workflow.md), and messages about failed jobs. Included last, since it inspects all rules."""

import hashlib

from snakemake.logging import logger

from rnshmc.rerun.aside import put_aside, put_back
from rnshmc.run.failures import check_writable, explain

# Each run has its own: two may run at the same time.
ASIDE = Path(".snakemake/rnshmc-aside", config["run"])


def complete(rule_):
    """Add the digest of its code to a rule's parameters, and an environment and a log if it has none."""
    name, command = internals.script_name(rule_), internals.shell_command(rule_)
    if name is not None and not internals.has_param(rule_, "code"):
        internals.set_param(rule_, "code", code(f"scripts/{name}"))
    if command is not None:
        internals.set_param(rule_, "command", hashlib.sha256(command.encode()).hexdigest())
    internals.set_environment(rule_, "../../environment.yml")
    internals.set_log(rule_)


# The profile omits the trigger `code`, which uses file times of scripts; digests replace it.
for rule_ in internals.own_rules(workflow):
    complete(rule_)

# Before Snakemake looks for changes, restore results that a killed run was replacing, unless another run is doing so now.
if internals.is_main_process(workflow) and not internals.is_locked():
    put_back(ASIDE, Path.cwd())


def explain_job(rule, outputs, logs, error, shell):
    """The message about a failed job of this run."""
    return explain(rule, outputs, logs, error, quiet_log=shell, kept=ASIDE.exists())


logger.addHandler(internals.JobErrors(logger, explain_job))


onstart:
    check_writable(Path(RESULTS))
    check_writable(Path(LOGS))
    put_aside(internals.replaced_outputs(workflow), ASIDE, Path.cwd())


onsuccess:
    put_back(ASIDE, Path.cwd())


onerror:
    put_back(ASIDE, Path.cwd())
