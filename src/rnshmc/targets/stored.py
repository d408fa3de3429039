"""Arrays of a processed data file, for the targets that are built from one."""

import zipfile
from pathlib import Path

import numpy as np

from rnshmc.errors import DataError
from rnshmc.types import Array


def read_arrays(path: str | Path, *names: str) -> tuple[Array, ...]:
    """The named arrays of an npz file that says where its data came from.

    Raises
    ------
    DataError
        If the file cannot be read, or lacks one of the arrays or ``origin``; the message names the file.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            *arrays, _ = (stored[name] for name in (*names, "origin"))
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: not a processed data set: {error}") from error
    return tuple(arrays)
