"""Census Income as paper B uses it (section 4.6): both halves of Adult in the encoding of a9a, 48842 x 123."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rnshmc.datasets.adult import encode_a9a
from rnshmc.datasets.matrix import LogisticData, naming_file, standardise
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.standin import simulate_standin
from rnshmc.errors import DataError


def prepare_census(
    receipts: tuple[Receipt, Receipt], *, raw_dir: str | Path, summary: str | Path, rng: np.random.Generator
) -> LogisticData:
    """The standardised matrix, from both raw files; a stand-in for the whole if either half is one.

    The preparation is not published. The printed dimension leaves no room for an intercept.

    Parameters
    ----------
    receipts
        What `fetch` returned for "adult" and for "adult-test".
    raw_dir
        Folder of the raw files.
    summary
        Table of summary statistics of both halves together, read for a stand-in.
    rng
        Used for a stand-in.

    Returns
    -------
    LogisticData
        48842 x 123, each column with mean 0 and standard deviation 1.

    Raises
    ------
    DataError
        If a raw file or the summary table does not hold what it should.
    """
    if any(receipt.origin == "stand-in" for receipt in receipts):
        data = simulate_standin(summary, rng)
    else:
        data = stacked(*(encode_a9a(half, raw_dir=raw_dir, summary=summary, rng=rng) for half in receipts))
    with naming_file(" and ".join(receipt.file or receipt.dataset for receipt in receipts)):
        return standardise(data)


def stacked(upper: LogisticData, lower: LogisticData) -> LogisticData:
    """The rows of two data sets of the same columns and origin.

    Raises
    ------
    DataError
        If columns or origins differ.
    """
    if (upper.columns, upper.origin) != (lower.columns, lower.origin):
        raise DataError("data sets of different columns or origins cannot be stacked")
    return replace(upper, X=np.vstack((upper.X, lower.X)), y=np.concatenate((upper.y, lower.y)))
