"""Online News Popularity: the 44 features that are not indicators. The file is made up; the real one is elsewhere."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from rnshmc.datasets.news import COLUMNS, read_news
from rnshmc.errors import DataError
from rnshmc.random import stream

FEATURES = [f"feature_{k}" for k in range(COLUMNS)]
INDICATORS = [
    *(f"data_channel_is_{channel}" for channel in ("lifestyle", "entertainment", "bus", "socmed", "tech", "world")),
    *(f"weekday_is_{day}" for day in ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")),
    "is_weekend",
]
HEADER = ["url", "timedelta", *FEATURES[:20], *INDICATORS, *FEATURES[20:], "shares"]
SHARES = [1399, 1400, 100000, 5]


def archive(folder: Path, header: list[str] = HEADER) -> Path:
    """Laid out as the published archive: 61 columns for each article, a space after each comma."""
    path = folder / "OnlineNewsPopularity.zip"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("OnlineNewsPopularity/OnlineNewsPopularity.csv", table(header))
    return path


def table(header: list[str] = HEADER) -> str:
    values = stream(1, "news").standard_normal((len(SHARES), len(header) - 2)).round(6)
    rows = [["http://x", *map(str, row), str(count)] for row, count in zip(values, SHARES, strict=True)]
    return "".join(", ".join(cells) + "\n" for cells in (header, *rows))


def test_there_are_as_many_columns_as_in_the_published_file() -> None:
    assert len(HEADER) == 61


def test_indicators_and_what_does_not_predict_are_left_out(tmp_path: Path) -> None:
    data = read_news(archive(tmp_path))
    assert data.columns == tuple(FEATURES)
    assert data.origin == "real"
    # The first column of numbers is timedelta, the next are the first 20 features.
    values = stream(1, "news").standard_normal((len(SHARES), len(HEADER) - 2)).round(6)
    np.testing.assert_array_equal(data.X[:, :20], values[:, 1:21])
    np.testing.assert_array_equal(data.X[:, 20:], values[:, 35:])


def test_the_file_without_its_first_column_gives_the_same_matrix(tmp_path: Path) -> None:
    path = tmp_path / "OnlineNewsPopularity_nourl.csv"
    path.write_text("".join(line.split(", ", 1)[1] for line in table().splitlines(keepends=True)))
    without, whole = read_news(path), read_news(archive(tmp_path))
    assert (without.columns, without.origin) == (whole.columns, "real")
    np.testing.assert_array_equal(without.X, whole.X)
    np.testing.assert_array_equal(without.y, whole.y)


def test_the_published_file_has_its_rows(mirror: Path) -> None:
    assert read_news(mirror / "OnlineNewsPopularity_nourl.csv").X.shape == (39644, 44)


def test_popular_is_what_was_shared_1400_times_or_more(tmp_path: Path) -> None:
    assert read_news(archive(tmp_path)).y.tolist() == [0, 1, 1, 0]


@pytest.mark.parametrize("lost", ["feature_3", "shares", "timedelta"])
def test_a_file_with_other_columns_is_named(lost: str, tmp_path: Path) -> None:
    path = archive(tmp_path, [name for name in HEADER if name != lost])
    with pytest.raises(DataError, match=r"OnlineNewsPopularity\.zip: expected 44 features besides 'shares'"):
        read_news(path)
