"""What is run again, and when (docs/workflow.md). Included last, for it looks at every rule."""

import hashlib

from snakemake.logging import logger

from rnshmc.rerun.records import restore_records, save_records

RECORDS = Path(RESULTS, "records.json")

# The profile leaves out the trigger `code`, which goes by the times of scripts: digests among the parameters take its
# place. Those of scripts come from `code`; that of a shell command is added here, so that no rule can forget it.
# What a rule runs in is the same for all.
for rule_ in workflow.rules:
    if not rule_.norun and rule_.conda_env is None:
        rule_.conda_env = "../../environment.yml"
    if rule_.shellcmd is not None:
        rule_.set_params(command=hashlib.sha256(rule_.shellcmd.encode()).hexdigest())

# Before Snakemake looks for changes, results that were copied here get back the records that came with them.
if workflow.is_main_process:
    restore_records(RECORDS, Path.cwd())


def leave_records():
    """Write what Snakemake knows of this run's files, for whoever copies them; the run itself does not need it."""
    try:
        save_records(RECORDS, [Path(RESULTS), Path(RAW), Path(PROCESSED)], Path.cwd())
    except OSError as error:
        logger.warning(f"{RECORDS} is not up to date, copies of the results may run again: {error}")


onsuccess:
    leave_records()


onerror:
    leave_records()
