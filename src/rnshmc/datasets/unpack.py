"""Unpack files from archives up to a size limit: a small archive may unpack to more than disk or memory can hold."""

import gzip
import io
import zipfile
from typing import IO

from rnshmc.errors import DataError
from rnshmc.files import DAMAGED_ARCHIVE

MOST_BYTES = 1 << 30
"""Largest unpacked file. Our largest, covtype.data, has 75 MB; as a table in memory it takes several times that."""


def zip_member(archive: bytes, member: str) -> bytes:
    """A file in a zip archive.

    Raises `DataError` if the archive is damaged or has no such file, or the file is larger than `MOST_BYTES`.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as opened:
            if member not in opened.namelist():
                raise DataError(f"the archive has no member {member}")
            with opened.open(member) as file:
                return _read(file, member)
    except DataError:
        raise
    except DAMAGED_ARCHIVE as error:
        raise DataError(f"{member} cannot be read: not a zip archive, or a damaged one ({error})") from error


def gunzipped(content: bytes) -> bytes:
    """The content of a file that gzip made. Raises `DataError` if it is damaged, or larger than `MOST_BYTES`."""
    try:
        with gzip.open(io.BytesIO(content)) as opened:
            return _read(opened, "the file")
    except DataError:
        raise
    except DAMAGED_ARCHIVE as error:
        raise DataError(f"not a gzip file, or a damaged one ({error})") from error


def _read(file: IO[bytes] | gzip.GzipFile, name: str) -> bytes:
    """All bytes of a file, without relying on the size that the archive states."""
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise DataError(
            f"{name} unpacks to more than {MOST_BYTES} bytes, the limit; unpack it by hand if that is right"
        )
    return content
