"""File of exact evaluations: one line each, appended on arrival and never changed.

The first line has the names of the parameters and the target's digest, if there is one. Each other line is an
evaluation (`rnshmc.inference.exact.lines`). An incomplete last line, of a killed program, is removed when the file is
opened again.
"""

import errno
import fcntl
import json
import logging
import os
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any

from rnshmc.errors import ParameterError, StoreError
from rnshmc.files import write_remedy
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.lines import format_of, listed, outputs_of, parse, written

SYNC_S = 1.0
"""Minimum seconds between synchronisations to disk: a power failure loses at most the evaluations of that time."""

_log = logging.getLogger(__name__)
_descriptors: set[int] = set()


def _close_inherited() -> None:
    """Close the files in a forked process, which might keep their locks beyond the end of this one."""
    for descriptor in _descriptors:
        os.close(descriptor)
    _descriptors.clear()


os.register_at_fork(after_in_child=_close_inherited)


class EvaluationLog:
    """The open file of one run, created if missing, with the ``records`` that it had when it was opened.

    Without ``resume``, a file with evaluations is refused with a `ParameterError`. Records are ``trusted`` if the file
    has the target's ``digest``, a string that changes whenever the target does. ``outputs`` are the numbers of outputs
    under each name of the data, in a file of runs of a forward model; None in a file of log densities.

    Raises `DataError` if a line is not an evaluation, and `StoreError` if the file belongs to other parameters or
    another target, another run writes to it, or it cannot be written.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        names: Sequence[str],
        *,
        resume: bool = True,
        digest: str | None = None,
        outputs: Mapping[str, int] | None = None,
    ) -> None:
        self.path = Path(path)
        self._outputs = outputs
        self._ordered = outputs is None or len(outputs) == 1
        self.names = tuple(names)
        self._file = _opened(self.path)
        self._synced = monotonic()
        try:
            stored, self.records = self._read(resume)
            same = digest is not None and digest == stored
            # Runs of several outputs in an unknown order are compared.
            self.trusted = same and self._ordered
            if not self.records:
                self._begin(digest)
            elif digest is not None and stored is not None and not same:
                raise StoreError(
                    f"filepath: {self.path} holds evaluations of another target: its digest is {stored}, that of this "
                    f"one is {digest}; name another file, or remove this one to start again"
                )
            self._whole = self._size = os.fstat(self._file).st_size
        except BaseException:
            self.close()
            raise

    def append(self, found: Evaluation) -> None:
        """Append an evaluation in one write; a `StoreError` if that fails.

        A file removed meanwhile is written again; if another file replaced it, under a new name beside it.
        """
        self._keep_in_place()
        self._size += self._write(written(found, len(self.names), runs=self._outputs is not None))
        if monotonic() - self._synced > SYNC_S:
            self._sync()

    def forget(self) -> None:
        """Remove the evaluations appended since the file was opened, unless another run appended some."""
        if os.fstat(self._file).st_size == self._size:
            os.ftruncate(self._file, self._whole)
            self._size = self._whole

    def close(self) -> None:
        """Write the file to disk, close it and release its lock."""
        try:
            self._sync()
        except StoreError as error:  # must not lose the result
            _log.warning("filepath: %s", error)
        _close(self._file)

    def _read(self, resume: bool) -> tuple[str | None, tuple[Evaluation, ...]]:
        """Digest and evaluations of the file."""
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].decode(errors="replace").splitlines()
        if len(lines) > 1 and not resume:
            raise ParameterError(
                f"filepath: {self.path} has {len(lines) - 1} evaluations already; remove it, name another file, or "
                "continue from them with resume=True"
            )
        if not lines:
            begun = [json.dumps({"format": format_of(runs)}).encode()[:-1] for runs in (False, True)]
            if any(content.startswith(start) or start.startswith(content) for start in begun):
                return None, ()  # `parse` refuses any other file
        records = parse(lines, self.path, self.names, runs=self._outputs is not None)
        theirs = outputs_of(lines)
        self._ordered |= theirs is not None
        # New lines would have another order.
        if records and self._outputs is not None and theirs and [*theirs.items()] != [*self._outputs.items()]:
            remedy = ", and pass this one as evaluations=" if theirs == dict(self._outputs) else ""
            raise StoreError(
                f"filepath: {self.path} holds runs with the outputs {listed(theirs)}, and the data are "
                f"{listed(self._outputs)}; name another file{remedy}"
            )
        os.ftruncate(self._file, whole)
        return json.loads(lines[0]).get("digest"), records

    def _begin(self, digest: str | None) -> None:
        """Write the first line of a file without evaluations."""
        os.ftruncate(self._file, 0)
        known: dict[str, Any] = {} if digest is None else {"digest": digest}
        if self._outputs is not None:
            known["outputs"] = dict(self._outputs)
        self._write({"format": format_of(self._outputs is not None), "names": list(self.names), **known})

    def _write(self, content: dict[str, Any]) -> int:
        return _written(self._file, (json.dumps(content, allow_nan=False) + "\n").encode(), self.path)

    def _sync(self) -> None:
        self._synced = monotonic()
        try:
            os.fsync(self._file)
        except OSError as error:
            if error.errno != errno.EINVAL:  # not on a disk
                raise _cannot_be_written(self.path, error) from error

    def _keep_in_place(self) -> None:
        """Write all evaluations to a new file if the path no longer leads to this one."""
        try:
            if os.path.samestat(os.stat(self.path), os.fstat(self._file)):
                return
            path = self.path.with_name(f"{self.path.stem}.{secrets.token_hex(4)}{self.path.suffix}")
        except OSError:
            path = self.path
        file = _opened(path)
        _written(file, os.pread(self._file, self._size, 0), path)
        _log.warning("filepath: %s was removed or replaced during the run; all evaluations are in %s", self.path, path)
        _close(self._file)
        self._file, self.path = file, path


def _opened(path: Path) -> int:
    """A file descriptor for appending, locked against every other one, of this process or another."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {write_remedy(error) or error}") from error
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(file)
        raise StoreError(f"{path} is being written by another run; wait for it, or name another file") from None
    except OSError:
        pass  # file systems of some clusters have no locks
    _descriptors.add(file)
    return file


def _close(file: int) -> None:
    """Close a file, and release its lock even if a newly forked process has not yet closed its copy."""
    _descriptors.discard(file)
    with suppress(OSError):
        fcntl.flock(file, fcntl.LOCK_UN)
    os.close(file)


def _written(file: int, content: bytes, path: Path) -> int:
    """Write all of the content and return its size."""
    try:
        if (size := os.write(file, content)) != len(content):
            raise OSError(errno.ENOSPC, "")
    except OSError as error:
        raise _cannot_be_written(path, error) from error
    return size


def _cannot_be_written(path: Path, error: OSError) -> StoreError:
    return StoreError(f"{path} cannot be written: {write_remedy(error) or error}")
