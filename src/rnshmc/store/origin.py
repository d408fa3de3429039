"""Origin of the data behind a result, so that a stand-in is never mistaken for real data."""

from pathlib import Path
from typing import get_args

from rnshmc.errors import DataError
from rnshmc.files import read_npz
from rnshmc.types import Origin

ORIGINS = get_args(Origin)


def read_origin(path: Path) -> str:
    """The ``origin`` recorded in a processed data file, one of `ORIGINS`.

    Raises
    ------
    DataError
        If the file has no origin, or an unknown one.
    """
    origin = str(read_npz(path, "origin", says="cannot read the origin of its data (key 'origin'): {}")["origin"])
    if origin not in ORIGINS:
        raise DataError(f"{path}: origin is {origin!r}, expected one of {', '.join(ORIGINS)}")
    return origin
