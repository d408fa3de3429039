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

    Raises `DataError` if a raw file or a table behind a stand-in does not hold what it should; the message names the
    file.

    Parameters
    ----------
    receipts
        Files of the receipts from `rnshmc.datasets.fetch.fetch`, one for each part of the set, in the folder of the raw
        files. The rows of the parts are stacked in this order.
    reader
        Name in `READERS`.
    stand_in
        ``kind``, a name in `STAND_INS`, and its settings.
    rng
        Generator of the stand-in.
    options
        Further arguments of the reader.
    standardised
        Whether to standardise all columns, or the names of the columns to standardise.
    unit_range
        Whether to map all columns onto [0, 1] instead.
    intercept
        Whether a column of ones is put in front.
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
            data = standardise(data) if standardised is True else standardise_some(data, standardised)
    return with_intercept(data) if intercept else data


def stacked(*parts: LogisticData) -> LogisticData:
    """The rows of data sets of the same columns and origin. Raises `DataError` if columns or origins differ."""
    if len({(part.columns, part.origin) for part in parts}) > 1:
        raise DataError("data sets of different columns or origins cannot be stacked")
    return replace(parts[0], X=np.vstack([part.X for part in parts]), y=np.concatenate([part.y for part in parts]))


def standardise_some(data: LogisticData, columns: Sequence[str]) -> LogisticData:
    """Standardise the named columns and leave the others as they are.

    Raises `DataError` if there is no column of a name, or it is constant.
    """
    if unknown := set(columns) - set(data.columns):
        raise DataError(f"no column {', '.join(sorted(unknown))} to standardise")
    where = [data.columns.index(name) for name in columns]
    chosen = replace(data, X=np.ascontiguousarray(data.X[:, where]), columns=tuple(columns))
    X = data.X.copy()
    X[:, where] = standardise(chosen).X
    return replace(data, X=X)
