"""Progress of long work: a bar on a terminal, occasional lines in a log."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Never

from tqdm import tqdm

from rnshmc.run.chain import Progress

SECONDS_BETWEEN_LINES = 30.0
_log = logging.getLogger(__name__)


@contextmanager
def report_progress(label: str) -> Iterator[Progress]:
    """A consumer of `Progress` for a terminal or a log: ``with report_progress("bank hmc") as p: ...``."""
    if sys.stderr.isatty():
        with tqdm(desc=label, unit="it", dynamic_ncols=True) as bar:
            yield _on_bar(bar)
    else:
        yield _in_log(label)


def _on_bar(bar: "tqdm[Never]") -> Progress:
    def update(done: int, total: int, acceptance: float) -> None:
        bar.total = total
        bar.set_postfix(acceptance=f"{acceptance:.2f}", refresh=False)
        bar.update(done - bar.n)

    return update


def _in_log(label: str) -> Progress:
    start = last = time.monotonic()

    def update(done: int, total: int, acceptance: float) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            _log.info("%s: %d of %d iterations, acceptance %.2f, %.0f s", label, done, total, acceptance, now - start)

    return update
