"""Context of every workflow job: log to a file, pin threads, report expected errors without a traceback."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, so that threadpool_limits finds it
from threadpoolctl import threadpool_limits

from rnshmc.errors import RnshmcError
from rnshmc.files import write_remedy
from rnshmc.masking import mask_addresses
from rnshmc.run.failures import MEMORY_REMEDY

_log = logging.getLogger(__name__)
INTERRUPTED = 130
"""Exit status of a job ended by Ctrl-C, as in shells."""


@contextmanager
def job(log_file: str, *, blas_threads: int = 1) -> Iterator[None]:
    """Run a job with its log in ``log_file`` and on standard error, and BLAS on ``blas_threads`` threads.

    Errors that the user can fix are logged as a message without a traceback, and the job exits with status 1: an
    `RnshmcError`, a full or read-only disk, too little memory. Ctrl-C gives status 130. Any other exception is a bug
    and keeps its traceback.
    """
    handlers: list[logging.Handler] = [logging.FileHandler(log_file, mode="w"), logging.StreamHandler()]
    for handler in handlers:
        handler.addFilter(_is_ours_or_serious)
        handler.setFormatter(_WithoutPasswords("%(asctime)s %(levelname)s %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=handlers, force=True)
    logging.captureWarnings(True)
    logging.getLogger("rnshmc").setLevel(logging.INFO)
    try:
        with threadpool_limits(blas_threads, user_api="blas"):
            yield
    except RnshmcError as error:
        _fail(f"{type(error).__name__}: {error}", error)
    except MemoryError as error:
        _fail(f"memory ran out: {error}; {MEMORY_REMEDY.format(rule='RULE')}", error)
    except KeyboardInterrupt as error:
        _log.error("interrupted; run the same command again to continue")
        raise SystemExit(INTERRUPTED) from error
    except BaseException as error:
        if isinstance(error, OSError) and (remedy := write_remedy(error)):
            _fail(f"{error.filename or 'an output'}: {remedy}", error)
        _log.exception("the job failed")
        raise


class _WithoutPasswords(logging.Formatter):
    """Masks passwords in the addresses of a message and of its traceback."""

    def format(self, record: logging.LogRecord) -> str:
        return mask_addresses(super().format(record))


def _is_ours_or_serious(record: logging.LogRecord) -> bool:
    """Whether to log a record: some libraries lower the root logger's level and would log, say, compiler commands."""
    return record.levelno >= logging.WARNING or record.name.startswith("rnshmc")


def _fail(message: str, error: Exception) -> NoReturn:
    _log.error("%s", message)
    raise SystemExit(1) from error
