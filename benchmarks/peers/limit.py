"""A limit of processor time."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event


class TimeLimitError(KeyboardInterrupt):
    """A run has taken its seconds. Peers take all else for a failed evaluation, ours what is no `Exception`, too."""


@contextmanager
def time_limit(seconds: float) -> Iterator[Event]:
    """Raises `TimeLimitError` after ``seconds`` of this process, which other programs beside it do not change.

    The event is set then, whether or not the error reaches the caller.
    """
    reached = Event()

    def stop(*_: object) -> None:
        reached.set()
        raise TimeLimitError

    signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield reached
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
