"""What every job of the workflow does around its work: log to a file, pin threads, report expected errors plainly."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, so that threadpool_limits finds it
from threadpoolctl import threadpool_limits

from rnshmc.errors import RnshmcError

_log = logging.getLogger(__name__)


@contextmanager
def job(log_file: str, *, blas_threads: int = 1) -> Iterator[None]:
    """Run a job's work with its log in ``log_file`` and on standard error, and BLAS on ``blas_threads`` threads.

    An `RnshmcError` is something that the user can mend: its message is logged without a traceback and the job exits
    with status 1. Any other exception is a defect and keeps its traceback.
    """
    logging.basicConfig(
        level=logging.WARNING,
        format="%(asctime)s %(levelname)s %(message)s",
        handlers=[logging.FileHandler(log_file, mode="w"), logging.StreamHandler()],
        force=True,
    )
    logging.captureWarnings(True)
    logging.getLogger("rnshmc").setLevel(logging.INFO)
    try:
        with threadpool_limits(blas_threads, user_api="blas"):
            yield
    except RnshmcError as error:
        _log.error("%s: %s", type(error).__name__, error)
        raise SystemExit(1) from error
    except BaseException:
        _log.exception("the job failed")
        raise
