"""Progress of a run: a bar in a terminal or a notebook, lines elsewhere."""

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

from rnshmc.inference.exact.evaluation import Progress

Listener = Callable[[Progress], Any]
LINE_EVERY_S = 10.0
"""Seconds between two lines of the same stage."""

_log = logging.getLogger(__name__)


@contextmanager
def listening(callback: Listener | None, *, bar: bool) -> Iterator[Listener]:
    """A function that passes progress on to the user's callback, and to a bar or the log.

    With ``bar``, there is a bar in a terminal or a notebook, and lines on standard error elsewhere. Where lines of the
    log, of level INFO, are shown, they replace the latter; without ``bar``, there are no others.
    """

    def both(first: Listener) -> Listener:
        def report(progress: Progress) -> None:
            first(progress)
            if callback is not None:
                callback(progress)

        return report

    if not bar or (_log.isEnabledFor(logging.INFO) and _log.hasHandlers() and not _has_bar()):
        yield both(logged())
    elif not _has_bar():
        yield both(written())
    else:
        with tqdm(unit=" units", dynamic_ncols=True, miniters=1) as shown:
            yield both(lambda progress: show(shown, progress))


def logged(clock: Callable[[], float] = time.monotonic) -> Listener:
    """A function that logs progress: each change of stage, and otherwise one line in `LINE_EVERY_S` seconds."""
    stage, last = "", -math.inf

    def report(progress: Progress) -> None:
        nonlocal stage, last
        now = clock()
        if progress.stage != stage or now - last >= LINE_EVERY_S:
            stage, last = progress.stage, now
            _log.info("%s", _line(progress))

    return report


def written(clock: Callable[[], float] = time.monotonic) -> Listener:
    """A function that writes progress to standard error, one line in `LINE_EVERY_S` seconds; none of a shorter run."""
    last = clock()

    def report(progress: Progress) -> None:
        nonlocal last
        now = clock()
        if now - last >= LINE_EVERY_S:
            last = now
            print(f"rnshmc: {_line(progress)}", file=sys.stderr, flush=True)

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
