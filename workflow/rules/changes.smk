"""What is run again, and when (docs/workflow.md), and messages about failed jobs. Included last: it looks at all rules."""

import hashlib
import logging
import threading

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from rnshmc.rerun.aside import put_aside, put_back
from rnshmc.rerun.records import restore_records, save_records
from rnshmc.run.failures import check_writable, explain

RECORDS = Path(RESULTS, "records.json")
# Of each run its own: two may work at the same time.
ASIDE = Path(".snakemake/rnshmc-aside", config["run"])

# What is the same for all rules that do not say otherwise. The profile leaves out the trigger `code`, which goes by the
# times of scripts: digests among the parameters take its place, that of a script (with the registry entries that it loads,
# where the rule names them) and that of a shell command. A log is called like the first output. All rules run in one
# environment. The rules of a workflow that has this one as a module are left alone.
for rule_ in workflow.modifier.rules:
    if rule_.norun:
        continue
    if rule_.conda_env is None:
        rule_.conda_env = "../../environment.yml"
    if rule_.script is not None and "code" not in rule_.params.keys():
        rule_.set_params(code=code(f"scripts/{Path(rule_.script).name}"))
    if rule_.shellcmd is not None:
        rule_.set_params(command=hashlib.sha256(rule_.shellcmd.encode()).hexdigest())
    if not rule_.log:
        rule_.log_modifier = rule_.output_modifier
        rule_.set_log(Path("logs", str(rule_.output[0]).removeprefix("results/")).with_suffix(".log"))

# Before Snakemake looks for changes, results that a killed run was to replace are put back, unless another run is replacing
# them now, and results that were copied here get back the records that came with them.
if workflow.is_main_process:
    if not any(Path(".snakemake/locks").glob("*")):
        put_back(ASIDE, Path.cwd())
    restore_records(RECORDS, Path.cwd())


class Explainer(logging.Handler):
    """Adds to the log what there is to say of each failed job; the error that it ended with was logged before.

    The profile leaves out Snakemake's own page on such a job, and with it the job's name.
    """

    def __init__(self):
        super().__init__(logging.ERROR)
        self.before = threading.local()

    def emit(self, record):
        if getattr(record, "event", None) == LogEvent.JOB_ERROR:
            error = f"{getattr(self.before, 'text', '')} {record.aux}"
            quiet = record.shellcmd is not None
            logger.error(
                explain(record.rule_name, record.output, record.log, error, quiet_log=quiet, kept=ASIDE.exists())
            )
        else:
            self.before.text = record.getMessage()


logger.addHandler(Explainer())


onstart:
    check_writable(Path(RESULTS))
    check_writable(Path(LOGS))
    put_aside((path for job in workflow.dag.needrun_jobs() for path in job.output), ASIDE, Path.cwd())


def leave_records():
    """Put back what no job has replaced, and write what Snakemake knows of this run's files, for whoever copies them."""
    put_back(ASIDE, Path.cwd())
    try:
        save_records(RECORDS, [Path(RESULTS), Path(RAW), Path(PROCESSED)], Path.cwd())
    except OSError as error:
        logger.warning(f"{RECORDS} is not up to date, copies of the results may run again: {error}")


onsuccess:
    leave_records()


onerror:
    leave_records()
