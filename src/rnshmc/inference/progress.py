"""What a run says while it runs: a bar where there is a terminal or a notebook, log lines elsewhere."""

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

from rnshmc.inference.exact.archive import Progress

Listener = Callable[[Progress], Any]
LOG_EVERY_S = 10.0
"""Seconds between two log lines of the same stage."""

_log = logging.getLogger(__name__)


@contextmanager
def listening(callback: Listener | None, *, bar: bool) -> Iterator[Callable[[Progress], None]]:
    """A function that passes progress on to the user's callback, and to a bar or the log.

    Parameters
    ----------
    callback
        The user's, None for none.
    bar
        Whether there is a bar where standard error is a terminal, or in a notebook; otherwise there are log lines of
        level INFO.
    """
    if not (bar and (sys.stderr.isatty() or _in_notebook())):
        yield _both(logged(), callback)
        return
    with tqdm(unit=" units", dynamic_ncols=True) as shown:
        yield _both(lambda progress: show(shown, progress), callback)


def logged(clock: Callable[[], float] = time.monotonic) -> Callable[[Progress], None]:
    """A function that logs progress: each change of stage, and otherwise one line in `LOG_EVERY_S` seconds."""
    stage, told = "", -math.inf

    def tell(progress: Progress) -> None:
        nonlocal stage, told
        now = clock()
        if progress.stage != stage or now - told >= LOG_EVERY_S:
            stage, told = progress.stage, now
            error = progress.surrogate_error
            _log.info("%s: %s%s", stage, progress.spent, "" if math.isnan(error) else f", sd(U - V) = {error:.2g}")

    return tell


def show(bar: Any, progress: Progress) -> None:
    """Update a bar of tqdm."""
    done = progress.spent.units
    bar.total = None if progress.expected_units is None else done + progress.expected_units
    bar.set_description(progress.stage, refresh=False)
    notes = {"points": str(progress.spent.points)}
    if not math.isnan(progress.surrogate_error):
        notes["sd(U-V)"] = f"{progress.surrogate_error:.2g}"
    if progress.spent.failed:
        notes["failed"] = str(progress.spent.failed)
    bar.set_postfix(notes, refresh=False)
    bar.update(done - bar.n)
    bar.refresh()


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
