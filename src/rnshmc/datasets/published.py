"""Data published with a paper: arrays in MATLAB files."""

from pathlib import Path

import numpy as np
from scipy.io import loadmat

from rnshmc.datasets.receipt import Receipt
from rnshmc.types import Array


def read_published(receipt: str | Path, *names: str) -> tuple[Array, ...] | None:
    """Read the named arrays of a receipt's raw file; None if it could not be fetched.

    Parameters
    ----------
    receipt
        File of a receipt; the raw file is in the same folder.
    names
        Arrays of the file; dimensions of length 1 are dropped.

    Raises
    ------
    DataError
        If the raw file is missing or has changed since it was fetched.
    StoreError
        If the file is not a receipt.
    """
    found = Receipt.load(receipt)
    if found.origin != "real":
        return None
    content = loadmat(found.verified(Path(receipt).parent), variable_names=list(names))
    return tuple(np.squeeze(content[name]).astype(np.float64) for name in names)
