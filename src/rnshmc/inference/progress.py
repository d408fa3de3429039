"""What a run says while it runs; a bar on a terminal is one listener, a callback of the user's another."""

import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tqdm.auto import tqdm

from rnshmc.inference.exact.archive import Progress

Listener = Callable[[Progress], Any]


@contextmanager
def listening(callback: Listener | None, *, bar: bool) -> Iterator[Callable[[Progress], None]]:
    """What a run is to tell: the user's callback, and a bar if wanted and standard error is a terminal."""
    if not (bar and sys.stderr.isatty()):
        yield lambda progress: None if callback is None else callback(progress)
        return
    with tqdm(unit="eval", dynamic_ncols=True) as shown:

        def tell(progress: Progress) -> None:
            show(shown, progress)
            if callback is not None:
                callback(progress)

        yield tell


def show(bar: Any, progress: Progress) -> None:
    """Bring a bar of tqdm up to date."""
    done = progress.spent.units
    bar.total = None if progress.expected_units is None else done + progress.expected_units
    bar.set_description(progress.stage, refresh=False)
    notes = {} if math.isnan(progress.surrogate_error) else {"sd(U-V)": f"{progress.surrogate_error:.2g}"}
    if progress.spent.failed:
        notes["failed"] = str(progress.spent.failed)
    bar.set_postfix(notes, refresh=False)
    bar.update(done - bar.n)
    bar.refresh()
