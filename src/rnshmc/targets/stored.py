"""Reading of processed data files for targets."""

from pathlib import Path

from rnshmc.files import read_npz
from rnshmc.types import Array


def read_arrays(path: str | Path, *names: str) -> tuple[Array, ...]:
    """The named arrays of an npz file that has an ``origin``.

    Raises
    ------
    DataError
        If the file cannot be read, or lacks one of the arrays or ``origin``; the message names the file.
    """
    *arrays, _ = read_npz(path, *names, "origin", says="not a processed data set: {}").values()
    return tuple(arrays)
