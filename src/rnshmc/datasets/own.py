"""A user's own CSV file as data for logistic regression."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, naming_file, standardise, with_intercept
from rnshmc.datasets.tables import read_table
from rnshmc.errors import DataError


def load_csv(path: str | Path, label_column: str) -> LogisticData:
    """Read a CSV file with a header, numeric features and labels 0 and 1; prepared as the data sets of the papers are.

    Parameters
    ----------
    path
        The file; every column other than the label is a feature.
    label_column
        Name of the column of labels.

    Returns
    -------
    LogisticData
        Intercept, then the features with mean 0 and standard deviation 1, in the order of the file.

    Raises
    ------
    DataError
        Naming file, line and column, if a feature is not a finite number, a label is not 0 or 1, a line is incomplete,
        or a feature is constant.
    """
    table = read_table(path)
    names = tuple(str(name) for name in table.cells.columns)
    if label_column not in names or len(names) < 2:
        raise DataError(f"{path}: expected a column {label_column!r} and features, the header has {', '.join(names)}")
    columns = tuple(name for name in names if name != label_column)
    X = np.column_stack([table.numbers(name) for name in columns])
    labels = table.labels(label_column, {"0": 0, "1": 1})
    with naming_file(path):
        return with_intercept(standardise(LogisticData(X, labels, "user", columns)))
