"""Progress of a run: a bar in a terminal or a notebook, lines elsewhere."""

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from tqdm.auto import tqdm

from rnshmc.inference.exact.evaluation import Progress

Listener = Callable[[Progress], Any]
LINE_EVERY_S = 10.0
"""Seconds between two lines, of the same stage in the log."""

_log = logging.getLogger(__name__)


@contextmanager
def listening(callback: Listener | None, *, bar: bool) -> Iterator[Listener]:
    """A function that passes progress on to the user's callback, and to a bar or the log.

    With ``bar``, there is a bar in a terminal or a notebook, and lines on standard error elsewhere. Where lines of the
    log, of level INFO, are shown, they replace the latter; without ``bar``, there are no others.
    """
    with ExitStack() as stack:
        if not bar or (_log.isEnabledFor(logging.INFO) and _log.hasHandlers() and not _has_bar()):
            own = lines(partial(_log.info, "%s"), stages=True)
        elif not _has_bar():
            own = lines(lambda line: print(f"rnshmc: {line}", file=sys.stderr, flush=True), stages=False)
        else:
            own = partial(show, stack.enter_context(tqdm(unit=" units", dynamic_ncols=True, miniters=1)))

        def report(progress: Progress) -> None:
            own(progress)
            if callback is not None:
                callback(progress)

        yield report


def lines(write: Callable[[str], Any], *, stages: bool, clock: Callable[[], float] = time.monotonic) -> Listener:
    """A function that writes progress, one line in `LINE_EVERY_S` seconds, and with ``stages`` each change of stage."""
    stage, last = "", clock()

    def report(progress: Progress) -> None:
        nonlocal stage, last
        now = clock()
        if now - last >= LINE_EVERY_S or (stages and progress.stage != stage):
            stage, last = progress.stage, now
            write(_line(progress))

    return report


def show(bar: Any, progress: Progress) -> None:
    """Update a bar of tqdm."""
    done = progress.spent.units
    bar.total = progress.expected_units
    bar.set_description(progress.stage, refresh=False)
    notes = {"points": str(progress.spent.points)}
    if not math.isnan(progress.surrogate_error):
        notes["sd(U-V)"] = f"{progress.surrogate_error:.2g}"
    if progress.spent.failed:
        notes["failed"] = str(progress.spent.failed)
    bar.set_postfix(notes, refresh=False)
    bar.update(done - bar.n)


def _line(progress: Progress) -> str:
    error, expected, done = progress.surrogate_error, progress.expected_units, progress.spent.units
    known = "" if math.isnan(error) else f", sd(U - V) = {error:.2g}"
    forecast = "" if expected is None or expected <= done else f"; about {expected} units expected"
    return f"{progress.stage}: {progress.spent}{known}{forecast}"


def _has_bar() -> bool:
    # Standard error of a Jupyter kernel is no terminal.
    ipython = sys.modules.get("IPython")
    notebook = ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"
    return notebook or sys.stderr.isatty()
