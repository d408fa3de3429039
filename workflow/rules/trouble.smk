"""What the user is told of trouble. The profile leaves out Snakemake's own page on a job that failed, and its name."""

import logging
import threading

from snakemake.logging import logger
from snakemake_interface_logger_plugins.common import LogEvent

from rnshmc.run.trouble import check_writable, explain


class Explainer(logging.Handler):
    """Adds to the log what there is to say of each failed job; the error that it ended with was logged before."""

    def __init__(self):
        super().__init__(logging.ERROR)
        self.before = threading.local()

    def emit(self, record):
        if getattr(record, "event", None) == LogEvent.JOB_ERROR:
            error = f"{getattr(self.before, 'text', '')} {record.aux}"
            quiet = record.shellcmd is not None
            logger.error(explain(record.rule_name, record.output, record.log, error, quiet_log=quiet))
        else:
            self.before.text = record.getMessage()


logger.addHandler(Explainer())


onstart:
    check_writable(Path(RESULTS))
    check_writable(Path(LOGS))
