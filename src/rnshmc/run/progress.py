"""Progress of long work, as occasional lines in a log."""

import logging
import time

from rnshmc.run.chain import Progress

SECONDS_BETWEEN_LINES = 30.0
_log = logging.getLogger(__name__)


def log_progress(label: str) -> Progress:
    """Log the finished iterations and the acceptance, now and then and at the end."""
    start = last = time.monotonic()

    def update(done: int, total: int, acceptance: float) -> None:
        nonlocal last
        now = time.monotonic()
        if done == total or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            _log.info("%s: %d of %d iterations, acceptance %.2f, %.0f s", label, done, total, acceptance, now - start)

    return update
