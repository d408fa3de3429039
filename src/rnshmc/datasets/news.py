"""UCI Online News Popularity as a logistic regression (paper B, section 4.6)."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.datasets.numeric import read_numbers
from rnshmc.errors import DataError

COLUMNS = 44
"""Number of features in paper B."""

_MEMBER = "OnlineNewsPopularity/OnlineNewsPopularity.csv"
_NOT_PREDICTIVE = ("timedelta", "shares")
_INDICATORS = ("data_channel_is_", "weekday_is_", "is_weekend")
_POPULAR = 1400


def read_news(path: str | Path) -> LogisticData:
    """Read the features of Online News Popularity that are not indicators; the label is 1 for 1400 shares or more.

    The file is UCI's archive, or its table without the first column, ``url``: both give the same matrix.

    The preparation is not published. Of the 58 features, 14 are indicators, of the channel and of the weekday: without
    them there are the 44 that paper B prints, and no room for an intercept. The threshold is that of the authors of the
    data. Paper B prints 39797 rows, the number in the description of the data; the file itself has 39644. Raises
    `DataError`, naming file, line and column, if the archive or a cell is not what it should be.
    """
    archive = Path(path).suffix == ".zip"
    table = read_numbers(path, member=_MEMBER, text=("url",)) if archive else read_numbers(path)
    names = tuple(str(name) for name in table.columns)
    features = [name for name in names if name not in _NOT_PREDICTIVE and not name.startswith(_INDICATORS)]
    if len(features) != COLUMNS or not set(_NOT_PREDICTIVE) <= set(names):
        raise DataError(f"{path}: expected {COLUMNS} features besides 'shares', the header has {', '.join(names)}")
    labels = (table["shares"].to_numpy() >= _POPULAR).astype(np.uint8)
    return of_file(path, table[features].to_numpy(), labels, features)
