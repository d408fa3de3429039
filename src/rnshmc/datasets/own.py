"""CSV files as data for logistic regression, including a user's own."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, naming_file
from rnshmc.datasets.tables import read_table
from rnshmc.errors import DataError


def read_csv(path: str | Path, *, label: str) -> LogisticData:
    """Read a CSV file with a header: features in their own units, and a column of labels 0 and 1.

    Raises
    ------
    DataError
        If a feature is not a finite number, a label is not 0 or 1, or a line is incomplete; the message names file,
        line and column.
    """
    table = read_table(path)
    names = tuple(str(name) for name in table.cells.columns)
    if label not in names or len(names) < 2:
        raise DataError(f"{path}: expected a column {label!r} and features, the header has {', '.join(names)}")
    columns = tuple(name for name in names if name != label)
    X = np.column_stack([table.numbers(name) for name in columns])
    labels = table.labels(label, {"0": 0, "1": 1})
    with naming_file(path):
        return LogisticData(X, labels, "real", columns)
