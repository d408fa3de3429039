"""File of exact evaluations: one line each, appended on arrival and never changed.

The first line names the parameters, and holds the target's digest, if there is one. Each other line is an evaluation
(`rnshmc.inference.exact.lines`). The unfinished last line of a killed program is removed when the file is opened again.
"""

import errno
import fcntl
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rnshmc.errors import DataError, ParameterError, StoreError
from rnshmc.files import write_remedy
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.lines import format_of, outputs_of, parse, told, written


class Ledger:
    """The open file of one run.

    Parameters
    ----------
    path
        The file; created if missing.
    names
        Names of the parameters.
    resume
        Whether to use the evaluations of an existing file; if not, a file with evaluations is refused.
    digest
        A string that changes whenever the target does, None if there is none.
    outputs
        Number of outputs under each name of the data, of a file of runs of a forward model; None: of log densities.

    Attributes
    ----------
    path
        The file.
    records
        Evaluations that the file held when it was opened.
    names
        Names of the parameters.
    trusted
        Whether the digest says that the records are of this target.

    Raises
    ------
    DataError
        If a line is not an evaluation; the message names it.
    StoreError
        If it belongs to other parameters or another target, another process writes to it, or it cannot be written.
    ParameterError
        If it has evaluations and ``resume`` is false.
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
        try:
            stored, self.records = self._read(resume)
            same = digest is not None and digest == stored
            # Runs of several outputs in an order that the file does not tell are compared.
            self.trusted = same and self._ordered
            if not self.records:
                self._begin(digest)
            elif digest is not None and stored is not None and not same:
                raise StoreError(
                    f"filepath: {self.path} holds evaluations of another target: its digest is {stored}, that of this "
                    f"one is {digest}; name another file, or remove this one to start again"
                )
            self._whole = os.fstat(self._file).st_size
        except BaseException:
            self.close()
            raise

    def append(self, found: Evaluation) -> None:
        """Append an evaluation in one write.

        Raises
        ------
        StoreError
            If the disk is full or the file cannot be written.
        """
        self._write(written(found, len(self.names), runs=self._outputs is not None))

    def forget(self) -> None:
        """Remove the evaluations appended since the file was opened."""
        os.ftruncate(self._file, self._whole)

    def close(self) -> None:
        """Close the file and release its lock."""
        os.close(self._file)

    def _read(self, resume: bool) -> tuple[str | None, tuple[Evaluation, ...]]:
        """Digest and evaluations of the file."""
        # Not through the path: closing a second descriptor would release the lock.
        content = os.pread(self._file, os.fstat(self._file).st_size, 0)
        whole = content.rfind(b"\n") + 1
        lines = content[:whole].decode(errors="replace").splitlines()
        if len(lines) > 1 and not resume:
            raise ParameterError(
                f"filepath: {self.path} has {len(lines) - 1} evaluations already; remove it, name another file, or "
                "go on from them with resume=True"
            )
        if not lines:
            if not b'{"format"'.startswith(content[:9]):
                raise DataError(f"{self.path} is not a file of evaluations of rnshmc; name another one")
            return None, ()
        records = parse(lines, self.path, self.names, runs=self._outputs is not None)
        theirs = outputs_of(lines)
        self._ordered |= theirs is not None
        # New lines would have them in another order.
        if records and self._outputs is not None and theirs and [*theirs.items()] != [*self._outputs.items()]:
            remedy = ", and pass this one as evaluations=" if theirs == dict(self._outputs) else ""
            raise StoreError(
                f"filepath: {self.path} holds runs with the outputs {told(theirs)}, and the data are "
                f"{told(self._outputs)}; name another file{remedy}"
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

    def _write(self, content: dict[str, Any]) -> None:
        line = json.dumps(content, allow_nan=False) + "\n"
        try:
            written = os.write(self._file, line.encode())
        except OSError as error:
            raise StoreError(f"{self.path} cannot be written: {write_remedy(error) or error}") from error
        if written != len(line.encode()):
            raise StoreError(f"{self.path} cannot be written: {write_remedy(OSError(errno.ENOSPC, ''))}")


def _opened(path: Path) -> int:
    """A file descriptor for appending, locked for this process."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    except OSError as error:
        raise StoreError(f"{path} cannot be opened: {write_remedy(error) or error}") from error
    try:
        # A lock of this process alone: a forked worker that outlives it does not hold it.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        os.close(file)
        raise StoreError(f"{path} is being written by another run; wait for it, or name another file") from None
    except OSError:
        pass  # some clusters have file systems without locks
    return file
