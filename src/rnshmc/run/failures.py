"""Messages about failed jobs: the job and its files, its log, and the remedy.

Otherwise a job that was killed because memory ran out, or that lacks MPI, would report only an exit status.
"""

import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

from rnshmc.errors import StoreError
from rnshmc.files import write_remedy

MEMORY_REMEDY = (
    "run fewer jobs at once (--cores), or on a cluster give it more (mem_mb of {rule} under set-resources in the "
    "profile)"
)
"""For a job that ran out of memory; `rule` is the name of its rule."""


_KILLED = re.compile(r"SIGKILL|exit status 137|OUT_OF_MEMORY")
_MISSING = re.compile(r"(\S+): (?:command )?not found")
_TAIL_LINES = 10


def explain(rule: str, outputs: Sequence[str], logs: Sequence[str], error: str, *, quiet_log: bool, kept: bool) -> str:
    """Explain the failure of a job.

    ``error`` is the text of the exception. With ``quiet_log`` the output went only to the log, and its last lines are
    part of the message; ``kept`` says whether results that the run replaces are put aside (`rnshmc.rerun.aside`).
    """
    there = [Path(log) for log in logs if quiet_log and Path(log).exists()]
    text = "".join(log.read_text(encoding="utf-8", errors="replace") for log in there)
    tail = [f"  | {line}" for line in text.splitlines()[-_TAIL_LINES:]]
    lines = [f"Rule {rule} failed to make {', '.join(outputs)}; log: {', '.join(logs)}", *tail]
    if _KILLED.search(error):
        lines.append(f"It was killed, probably because memory ran out: {MEMORY_REMEDY.format(rule=rule)}.")
    if missing := _MISSING.search(text):
        lines.append(
            f"{missing[1]} is not on PATH. For MPI jobs, install Open MPI (Debian: apt-get install "
            "openmpi-bin; conda: conda install openmpi), or name your launcher under mpi.launcher in the config."
        )
    finished = "Finished results are kept" if kept else "Finished results of other jobs are kept"
    return "\n".join([*lines, f"{finished}; run the same command again to continue."])


def check_writable(folder: Path) -> None:
    """Check that a folder, existing or not, can be written to. Raises `StoreError` if it cannot."""
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    try:
        tempfile.TemporaryFile(dir=there).close()
    except OSError as error:
        raise StoreError(f"{folder} cannot be written: {write_remedy(error) or error}") from error
