"""Whole files or none: what a killed job leaves behind never passes for a result."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rnshmc.errors import StoreError


@contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path`` that becomes ``path`` when the block ends well.

    The temporary name has the same suffix, since writers choose a format by it. When the block raises, the temporary
    file is removed and whatever was at ``path`` stays as it was.

    Raises
    ------
    StoreError
        The block wrote nothing.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}{path.suffix}")
    try:
        yield temporary
        if not temporary.exists():
            raise StoreError(f"nothing was written for {path}")
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def write_json(path: Path, content: Any) -> None:
    """Write JSON, indented and with sorted keys, so that equal contents are equal files.

    Raises
    ------
    StoreError
        The content has a type or a number (NaN, infinity) that JSON does not know.
    """
    try:
        text = json.dumps(content, indent=2, sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise StoreError(f"{path} cannot be written as JSON: {error}") from error
    with atomic_path(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def sha256(path: Path) -> str:
    """Hexadecimal SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
