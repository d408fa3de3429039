"""What a run says while it runs: a bar where there is a terminal or a notebook, lines elsewhere."""

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
def listening(callback: Listener | None, *, bar: bool) -> Iterator[Callable[[Progress], None]]:
    """A function that passes progress on to the user's callback, and to a bar or the log.

    Parameters
    ----------
    callback
        The user's, None for none.
    bar
        Whether there is a bar where standard error is a terminal, or in a notebook, and elsewhere lines on standard
        error. Lines of the log, of level INFO, take their place where they are shown, and without a bar.
    """
    if not bar or (_is_shown(_log) and not _has_bar()):
        yield _both(logged(), callback)
        return
    if not _has_bar():
        yield _both(written(), callback)
        return
    with tqdm(unit=" units", dynamic_ncols=True, miniters=1) as shown:
        yield _both(lambda progress: show(shown, progress), callback)


def logged(clock: Callable[[], float] = time.monotonic) -> Callable[[Progress], None]:
    """A function that logs progress: each change of stage, and otherwise one line in `LINE_EVERY_S` seconds."""
    stage, last = "", -math.inf

    def tell(progress: Progress) -> None:
        nonlocal stage, last
        now = clock()
        if progress.stage != stage or now - last >= LINE_EVERY_S:
            stage, last = progress.stage, now
            _log.info("%s", _line(progress))

    return tell


def written(clock: Callable[[], float] = time.monotonic) -> Callable[[Progress], None]:
    """A function that writes progress to standard error, one line in `LINE_EVERY_S` seconds; none of a shorter run."""
    last = clock()

    def tell(progress: Progress) -> None:
        nonlocal last
        now = clock()
        if now - last >= LINE_EVERY_S:
            last = now
            print(f"rnshmc: {_line(progress)}", file=sys.stderr, flush=True)

    return tell


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
    forecast = "" if expected is None or expected <= done else f"; about {expected} units in all"
    return f"{progress.stage}: {progress.spent}{known}{forecast}"


def _is_shown(log: logging.Logger) -> bool:
    """Whether lines of level INFO are shown anywhere."""
    return log.isEnabledFor(logging.INFO) and log.hasHandlers()


def _has_bar() -> bool:
    return sys.stderr.isatty() or _in_notebook()


def _in_notebook() -> bool:
    """Whether this is a kernel of Jupyter: its standard error says that it is no terminal."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and type(ipython.get_ipython()).__name__ == "ZMQInteractiveShell"


def _both(first: Callable[[Progress], None], callback: Listener | None) -> Callable[[Progress], None]:
    def tell(progress: Progress) -> None:
        first(progress)
        if callback is not None:
            callback(progress)

    return tell
