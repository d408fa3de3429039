"""CSV files of numbers as data for logistic regression, a user's own among them."""

from dataclasses import replace
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
    data = replace(read_csv(path, label=label_column), origin="user")
    with naming_file(path):
        return with_intercept(standardise(data))


def read_csv(path: str | Path, *, label: str) -> LogisticData:
    """The features of a CSV file with a header in their own units: all columns but the one of the labels, 0 and 1.

    Raises
    ------
    DataError
        Naming file, line and column, if a feature is not a finite number, a label is not 0 or 1, or a line is
        incomplete.
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
