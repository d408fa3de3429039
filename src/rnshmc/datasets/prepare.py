"""Prepare a design matrix from raw files: read, stack, standardise, add an intercept; or simulate a stand-in."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.datasets.matrix import LogisticData, onto_unit_range, standardise, with_intercept
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.registry import READERS, STAND_INS, STANDARDISED, load
from rnshmc.errors import DataError
from rnshmc.files import naming_file


def prepare(
    *receipts: Path,
    reader: str,
    stand_in: Mapping[str, Any],
    rng: np.random.Generator,
    options: Mapping[str, Any] | None = None,
    standardised: bool | Sequence[str] = True,
    unit_range: bool = False,
    intercept: bool = False,
) -> LogisticData:
    """Prepare the data of a logistic regression from all its raw files, or simulate a stand-in if one is missing.

    ``receipts`` are the files that `rnshmc.datasets.fetch.fetch` left in the folder of the raw files, one for each part
    of the set; the rows of the parts are stacked in this order. ``reader`` is a name in `READERS`, with its
    ``options``, and ``stand_in`` has the ``kind`` of a stand-in, a name in `STAND_INS`, and its settings; ``rng`` is
    its generator. ``standardised`` is True for all columns, or has names of columns; ``unit_range`` maps all columns
    onto [0, 1] instead. Raises `DataError` if a raw file or a table behind a stand-in does not hold what it should; the
    message names the file.
    """
    found = [Receipt.load(path) for path in receipts]
    real = all(receipt.origin == "real" for receipt in found)
    if real:
        read = load(READERS[reader])
        files = [receipt.verified(path.parent) for receipt, path in zip(found, receipts, strict=True)]
        data = stacked(*(read(file, **(options or {})) for file in files))
    else:
        settings = {key: value for key, value in stand_in.items() if key != "kind"}
        data = load(STAND_INS[stand_in["kind"]])(**settings, rng=rng)
    if unit_range:
        data = onto_unit_range(data)
    elif standardised and (real or stand_in["kind"] not in STANDARDISED):
        with naming_file(" and ".join(receipt.file or receipt.dataset for receipt in found)):
            data = standardise(data, None if standardised is True else standardised)
    return with_intercept(data) if intercept else data


def stacked(*parts: LogisticData) -> LogisticData:
    """The rows of data sets of the same columns and origin. Raises `DataError` if columns or origins differ."""
    if len({(part.columns, part.origin) for part in parts}) > 1:
        raise DataError("data sets of different columns or origins cannot be stacked")
    return replace(parts[0], X=np.vstack([part.X for part in parts]), y=np.concatenate([part.y for part in parts]))
