"""Where the data behind a result came from; a stand-in is never taken for the real thing."""

import zipfile
from pathlib import Path
from typing import get_args

import numpy as np

from rnshmc.errors import DataError
from rnshmc.types import Origin

ORIGINS = get_args(Origin)


def read_origin(path: Path) -> str:
    """The ``origin`` that a processed data file carries, one of `ORIGINS`.

    Raises
    ------
    DataError
        If the file does not say, or says something else.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            origin = str(file["origin"])
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise DataError(f"{path}: cannot read where its data came from (key 'origin'): {error}") from error
    if origin not in ORIGINS:
        raise DataError(f"{path}: origin is {origin!r}, expected one of {', '.join(ORIGINS)}")
    return origin
