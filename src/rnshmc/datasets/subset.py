"""Fewer rows of a logistic regression: a smaller version of a problem, for runs that are to end in minutes."""

from dataclasses import replace

import numpy as np

from rnshmc.datasets.matrix import LogisticData
from rnshmc.errors import ParameterError


def random_rows(data: LogisticData, rows: int, rng: np.random.Generator) -> LogisticData:
    """`rows` distinct rows of the data, drawn uniformly and kept in their order.

    Parameters
    ----------
    data
        Shape (N, d).
    rows
        How many, at most N.
    rng
        Draws them.

    Returns
    -------
    LogisticData
        Shape (rows, d); its origin is "subset", or "stand-in" if that of `data` is.

    Raises
    ------
    ParameterError
        If the data have fewer rows.
    DataError
        If all labels drawn are equal.
    """
    if not 0 < rows <= len(data.y):
        raise ParameterError(f"rows: {rows} were asked for, and the data have {len(data.y)}")
    kept = np.sort(rng.choice(len(data.y), rows, replace=False))
    origin = data.origin if data.origin == "stand-in" else "subset"
    return replace(data, X=np.ascontiguousarray(data.X[kept]), y=data.y[kept], origin=origin)
