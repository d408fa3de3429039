"""Atomic writing and checked reading of files: a killed job leaves no partial file under a final name."""

import errno
import hashlib
import io
import json
import lzma
import os
import re
import secrets
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from glob import escape
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import yaml

from rnshmc.errors import DataError, RnshmcError, StoreError

DAMAGED_ARCHIVE = (
    OSError,
    EOFError,
    LookupError,
    ValueError,
    RuntimeError,
    struct.error,
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
)
"""Exceptions of `zipfile`, `gzip` and NumPy on files that are missing, damaged or of an unknown kind."""
_BLOCK_BYTES = 1 << 20

_REMEDIES = {
    errno.ENOSPC: "the disk is full; make room on it and run again",
    errno.EFBIG: "the file exceeds the size limit; raise the limit (ulimit -f), or write to another file system",
    errno.EDQUOT: "the disk quota is used up; make room within it and run again",
    errno.EROFS: "the file system is read-only; make it writable, or work in a folder elsewhere",
    errno.EACCES: "it may not be written; change the permissions, or work in a folder of your own",
    errno.EPERM: "it may not be written; change the permissions, or work in a folder of your own",
}


def write_remedy(error: OSError) -> str | None:
    """Advice for a write that failed; None if the error is of another kind."""
    return _REMEDIES.get(error.errno) if error.errno is not None else None


@contextmanager
def naming_file(path: str | Path) -> Iterator[None]:
    """Put the name of a file in front of the message of a `DataError` raised in the block."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside ``path``, and rename it to ``path`` when the block succeeds.

    The temporary name has the same suffix, since writers choose a format by it. When the block raises, the temporary
    file is removed and whatever was at ``path`` stays as it was. Raises `StoreError` if the block wrote nothing, or the
    disk is full or not to be written.
    """
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if not temporary.exists():
            raise StoreError(f"nothing was written for {path}")
        os.replace(temporary, path)
    except OSError as error:
        # An unreadable source, as in a copy, is not a failure to write here.
        here = error.filename is None or path.is_relative_to(Path(error.filename).parent)
        if here and (remedy := write_remedy(error)):
            raise StoreError(f"{path} cannot be written: {remedy}") from error
        raise
    finally:
        # Checked first: a read-only file system refuses even to remove a file that does not exist.
        if temporary.exists():
            temporary.unlink()


@contextmanager
def buffered(path: Path) -> Iterator[io.BytesIO]:
    """A buffer that is written to ``path`` atomically when the block succeeds.

    For HDF5, which ends the process where a disk fills up under it. Raises `StoreError` if the disk is full or not to
    be written.
    """
    content = io.BytesIO()
    yield content
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def read_npz(
    path: str | Path, *names: str, says: str = "cannot be read: {}", error: type[RnshmcError] = DataError
) -> dict[str, npt.NDArray[Any]]:
    """Read named arrays of an npz file, or all, after checking their checksums.

    NumPy reads no further than a header says, and so compares no checksum where a damaged one has a smaller shape.
    Raises an error of the class ``error`` if the file is missing or damaged, or lacks one of the arrays: its message
    has the file and the sentence ``says``, with the reason for ``{}``.
    """
    try:
        with Path(path).open("rb") as file:
            with zipfile.ZipFile(file) as archive:
                members = archive.namelist()
                for name in names:
                    if f"{name}.npy" not in members:
                        raise ValueError(f"it has no array {name!r}")
                for member in [f"{name}.npy" for name in names] or members:
                    with archive.open(member) as content:
                        while content.read(_BLOCK_BYTES):
                            pass
            file.seek(0)
            with np.load(file, allow_pickle=False) as stored:
                return {name: stored[name] for name in names or stored.files}
    except DAMAGED_ARCHIVE as damage:
        raise error(f"{path}: {says.format(damage)}") from damage


@dataclass(frozen=True, eq=False)
class NpzRecord:
    """Base of dataclasses of arrays, numbers and strings that are saved to and loaded from npz files."""

    _damaged: ClassVar[type[RnshmcError]] = DataError

    def save(self, path: str | Path) -> None:
        """Write the fields to an npz file atomically; equal fields give equal bytes."""
        with atomic_path(Path(path)) as temporary:
            np.savez(temporary, **{field.name: getattr(self, field.name) for field in fields(self)})

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file written by `save`.

        Raises `DataError`, for a surrogate `StoreError`, if the file cannot be read or lacks a field; the message names
        both.
        """
        says = f"not a saved {cls.__name__}: {{}}"
        entries = read_npz(path, *(field.name for field in fields(cls)), says=says, error=cls._damaged)
        return cls(**{name: entry if entry.ndim else entry.item() for name, entry in entries.items()})


def remove_leftovers(path: Path) -> None:
    """Remove temporary files that killed writers of ``path`` left beside it; for its sole writer only."""
    for file in path.parent.glob(f".{escape(path.stem)}.{'[0-9a-f]' * 8}{escape(path.suffix)}"):
        file.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write JSON, indented and with sorted keys, so that equal contents give equal files.

    Raises `StoreError` if the content has a type or a number (NaN, infinity) that JSON does not know.
    """
    try:
        text = json.dumps(content, indent=2, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{path} cannot be written as JSON: {error}") from error
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


class _Loader(yaml.SafeLoader):
    """YAML in which keys are unique, 1e3 is a number, and only true and false are booleans.

    PyYAML keeps the last of two equal keys, reads 1e3 as a string, and NO as false.
    """

    def compose_mapping_node(self, anchor: Any) -> Any:
        """Compose a mapping after checking that its keys are unique."""
        node = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if (name := (key.tag, str(key.value))) in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {key.value!r} appears twice", problem_mark=key.start_mark)
            seen.add(name)
        return node


_Loader.yaml_implicit_resolvers = {
    first: [entry for entry in entries if entry[0] != "tag:yaml.org,2002:bool"]
    for first, entries in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("(true|True|TRUE|false|False|FALSE)$"), list("tTfF"))
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:float", re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)[eE][-+]?[0-9]+$"), list("-+.0123456789")
)


def read_yaml(path: Path) -> Any:
    """The content of a YAML file.

    Raises `DataError` if the file cannot be read, is no YAML, or has a key twice; the message names file and line.
    """
    try:
        with path.open(encoding="utf-8") as file:
            return yaml.load(file, _Loader)
    except yaml.MarkedYAMLError as error:
        line = f", line {error.problem_mark.line + 1}" if error.problem_mark else ""
        raise DataError(f"{path}{line}: {error.problem}") from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise DataError(f"{path} cannot be read: {' '.join(str(error).split())}") from error


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def content_sha256(text: str, arrays: Mapping[str, npt.NDArray[Any]]) -> str:
    """Hexadecimal SHA-256 of a text and named arrays, whose types and shapes matter but not their order.

    HDF5 has checksums of single blocks only, and reads a lost block as zeros.
    """
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\0{name} {array.dtype.str} {arrays[name].shape}\0".encode())
        digest.update(array.data)
    return digest.hexdigest()
