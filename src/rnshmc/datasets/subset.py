"""Random subsets of the rows of a logistic regression, for runs of a few minutes."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData
from rnshmc.errors import ParameterError
from rnshmc.files import naming_file


def rows_of_file(path: Path, *, rows: int, rng: np.random.Generator) -> LogisticData:
    """`random_rows` of data in a file; a `DataError` names the file."""
    data = LogisticData.load(path)
    with naming_file(path):
        return random_rows(data, rows, rng)


def random_rows(data: LogisticData, rows: int, rng: np.random.Generator) -> LogisticData:
    """Draw `rows` distinct rows of the data uniformly, and keep their order.

    The origin is "subset", or "stand-in" if that of `data` is. Raises `ParameterError` if the data have fewer rows;
    `DataError` if all labels drawn are equal.
    """
    if not 0 < rows <= len(data.y):
        raise ParameterError(f"rows: {rows} requested, but the data have only {len(data.y)}")
    kept = np.sort(rng.choice(len(data.y), rows, replace=False))
    origin = data.origin if data.origin == "stand-in" else "subset"
    return replace(data, X=np.ascontiguousarray(data.X[kept]), y=data.y[kept], origin=origin)
