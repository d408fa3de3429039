"""Data that the authors of a paper published with it: arrays in MATLAB files."""

from pathlib import Path

import numpy as np
from scipy.io import loadmat

from rnshmc.datasets.receipt import Receipt
from rnshmc.types import Array


def read_published(receipt: str | Path, *names: str) -> tuple[Array, ...] | None:
    """The named arrays of the raw file that a receipt is for, None where it could not be fetched.

    Raises `DataError` if the raw file is gone or has changed since it was fetched; `StoreError` if it is no receipt.

    Parameters
    ----------
    receipt
        File of a receipt; the raw file is in the same folder.
    names
        Arrays of the file; dimensions of length 1 are dropped.
    """
    found = Receipt.load(receipt)
    if found.origin != "real":
        return None
    content = loadmat(found.verified(Path(receipt).parent), variable_names=list(names))
    return tuple(np.squeeze(content[name]).astype(np.float64) for name in names)
