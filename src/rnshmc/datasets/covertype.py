"""UCI Cover Type as a logistic regression (paper B, section 4.4)."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.datasets.numeric import check_codes, read_numbers

FEATURES = (
    *("elevation", "aspect", "slope"),
    *("horizontal distance to hydrology", "vertical distance to hydrology", "distance to roadways"),
    *("hillshade 9am", "hillshade noon", "hillshade 3pm", "distance to fire points"),
    *(f"wilderness area {k}" for k in range(1, 5)),
    *(f"soil type {k}" for k in range(1, 41)),
)
_TYPES = tuple(range(1, 8))
_LODGEPOLE_PINE = 2


def read_covertype(path: str | Path) -> LogisticData:
    """Read the 54 features of covtype.data.gz; the label is 1 for the most frequent type, lodgepole pine.

    The preparation is not published: this type against the other six is the usual problem with two classes, and there
    is no intercept, as in paper B's other data. Raises `DataError`, naming file, line and column, if a cell is not what
    the description of the data allows.
    """
    table = read_numbers(path, (*FEATURES, "type"))
    check_codes(path, table, "type", _TYPES)
    labels = (table["type"].to_numpy() == _LODGEPOLE_PINE).astype(np.uint8)
    return of_file(path, table[list(FEATURES)].to_numpy(), labels, FEATURES)
