"""Total seconds of a job over all its starts, stored on disk."""

import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread

from rnshmc.errors import StoreError
from rnshmc.files import remove_leftovers, write_json
from rnshmc.run.checkpoint import Stopwatch

EVERY_S = 1.0
"""Seconds between writes: the maximum that a killed start loses."""

_log = logging.getLogger(__name__)


@contextmanager
def kept_stopwatch(path: Path, *, every_s: float = EVERY_S) -> Iterator[Stopwatch]:
    """A stopwatch that continues from the seconds in a file and keeps that file up to date.

    It belongs beside evaluations that survive a killed job: what they took must survive it, too. A thread writes, so
    that an evaluation of hours loses no more than one of milliseconds. The file is JSON with ``wall_s`` and ``cpu_s``,
    written every ``every_s`` seconds; without it, the clock starts at 0. The caller removes it at the end. Raises
    `StoreError` if the file is damaged.
    """
    remove_leftovers(path)
    watch, ended = Stopwatch(**_earlier(path)), Event()
    write_json(path, watch.read())

    def keep() -> None:
        while not ended.wait(every_s):
            try:
                write_json(path, watch.read())
            except StoreError as error:
                # If the disk is full, the job itself reports it; the clock must not end the job.
                _log.warning("%s", error)

    writer = Thread(target=keep, daemon=True)
    writer.start()
    try:
        yield watch
    finally:
        ended.set()
        writer.join()
        write_json(path, watch.read())


def _earlier(path: Path) -> dict[str, float]:
    """Seconds of the starts before this one."""
    if not path.exists():
        return {}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return {name: float(kept[name]) for name in ("wall_s", "cpu_s")}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise StoreError(
            f"{path}: cannot read seconds ({error!r}); remove the file to count from this start"
        ) from error
