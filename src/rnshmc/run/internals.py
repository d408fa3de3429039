"""All private interfaces of Snakemake that the workflow uses, tested by tests/run/test_internals.py.

Snakemake has no public way to change rules after they were defined, to list the files that a run replaces, or to find
its record of a file. `make test-snakemake` runs the tests with the oldest and the newest version that pyproject.toml
allows. `load_configfile` is only tested there: the Snakefile needs it before this package is on the path.
"""

import logging
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from rnshmc.run.failures import explain

METADATA = Path(".snakemake/metadata")
_INCOMPLETE = Path(".snakemake/incomplete")
_LOCKS = Path(".snakemake/locks")
_LONGEST_NAME = 254


def config_files(workflow: Any) -> list[Path]:
    """Config files of a run, each overriding those before it."""
    return [Path(file) for file in workflow.configfiles]


def set_default_target(workflow: Any, rule: Any) -> None:
    """Make a rule the default target, even in a Snakefile that includes the one with the rule."""
    workflow.default_target = rule.rule.name


def own_rules(workflow: Any) -> Iterator[Any]:
    """The rules of this workflow that run something, excluding those of a workflow that uses it as a module."""
    return (rule for rule in workflow.modifier.rules if not rule.norun)


def complete(rule: Any, code: Callable[[str], str], environment: str) -> None:
    """Add digests of its script and its shell command to a rule's parameters, and an environment and a log.

    A digest of code, an environment and a log of its own stay. ``code`` returns the digest of a script, named relative
    to ``workflow``; the environment is relative to the rule's Snakefile; the log is named after the first output,
    ``results/a/b.csv`` -> ``logs/a/b.log``.
    """
    if rule.script is not None and "code" not in dict(rule.params.items()):
        rule.set_params(code=code(f"scripts/{Path(rule.script).name}"))
    if rule.shellcmd is not None:
        rule.set_params(command=sha256(str(rule.shellcmd).encode()).hexdigest())
    if rule.conda_env is None:
        rule.conda_env = environment
    if not rule.log:
        rule.log_modifier = rule.output_modifier
        rule.set_log(Path("logs", str(rule.output[0]).removeprefix("results/")).with_suffix(".log"))


def is_main_process(workflow: Any) -> bool:
    """Whether this process plans the run, unlike the process of a cluster job."""
    return bool(workflow.is_main_process)


def local_cores(workflow: Any) -> int | None:
    """Cores that a run on this machine may use; None on a cluster, for its jobs, and where no number is given."""
    settings = workflow.resource_settings
    return settings.cores if workflow.is_main_process and settings.nodes is None else None


def replaced_outputs(workflow: Any) -> list[str]:
    """Existing outputs that the jobs of a run will replace."""
    return [str(path) for job in workflow.dag.needrun_jobs() for path in job.output]


def is_locked() -> bool:
    """Whether a run is active in the current folder, or was killed there."""
    return any(_LOCKS.glob("*"))


def record_path(output: str) -> Path:
    """File of Snakemake's record of an output: the output's name in base 64, a long one in nested folders."""
    return METADATA / _encoded(output)


def incomplete_mark(output: str) -> Path:
    """File by which Snakemake marks an output as started but unfinished."""
    return _INCOMPLETE / _encoded(output)


def _encoded(output: str) -> Path:
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    return Path(*(f"@{part}" for part in parts[:-1]), parts[-1])


class JobErrors(logging.Handler):
    """Adds a message to Snakemake's log for each failed job.

    ``profiles/default`` omits Snakemake's own long message. Without this handler, a job that was killed, for example
    because memory ran out, would be reported without its rule, its files or a remedy. In ``aside`` are the results that
    the run replaces (`rnshmc.rerun.aside`).
    """

    def __init__(self, logger: logging.Logger, aside: Path) -> None:
        super().__init__(logging.ERROR)
        self._logger, self._aside = logger, aside
        self._before = threading.local()

    def emit(self, record: logging.LogRecord) -> None:
        """Explain the error of a job; its text was logged just before by the same thread."""
        if getattr(record, "event", None) == "job_error":
            job: dict[str, Any] = vars(record)
            error = f"{getattr(self._before, 'text', '')} {job['aux']}"
            how = {"quiet_log": job["shellcmd"] is not None, "kept": self._aside.exists()}
            self._logger.error(explain(job["rule_name"], job["output"], job["log"], error, **how))
        else:
            self._before.text = record.getMessage()
