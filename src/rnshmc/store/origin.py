"""Origin of the data behind a result, so that a stand-in is never mistaken for real data."""

import zipfile
from pathlib import Path
from typing import get_args

import numpy as np

from rnshmc.errors import DataError
from rnshmc.types import Origin

ORIGINS = get_args(Origin)


def read_origin(path: Path) -> str:
    """The ``origin`` recorded in a processed data file, one of `ORIGINS`.

    Raises
    ------
    DataError
        If the file has no origin, or an unknown one.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            origin = str(file["origin"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot read where its data came from (key 'origin'): {error}") from error
    if origin not in ORIGINS:
        raise DataError(f"{path}: origin is {origin!r}, expected one of {', '.join(ORIGINS)}")
    return origin
