"""Dota2 Games Results: both files, heroes as coded. The files are made up; the real ones are elsewhere."""

from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rnshmc.datasets.dota2 import FEATURES, dota2_standin, read_dota2
from rnshmc.errors import DataError
from rnshmc.random import stream
from tests.datasets.conftest import prepared, receipt_of

Games = npt.NDArray[np.int_]


def games(n: int, *names: str) -> Games:
    """Rows of the published layout: who won, three numbers, five heroes of each team among 113; the last is never."""
    rng = stream(1, "dota2", *names)
    heroes = np.zeros((n, 113), dtype=int)
    for row in heroes:
        chosen = rng.choice(112, 10, replace=False)
        row[chosen[:5]], row[chosen[5:]] = 1, -1
    won = np.where(np.arange(n) % 2, 1, -1)
    return np.column_stack((won, rng.integers(111, 300, n), rng.integers(1, 10, n), rng.integers(1, 4, n), heroes))


def written(path: Path, rows: Games) -> Path:
    np.savetxt(path, rows, fmt="%d", delimiter=",")
    return receipt_of(path)


def test_the_columns_are_as_many_as_the_paper_prints() -> None:
    assert len(FEATURES) == 116


def test_both_files_are_read_and_standardised_but_for_the_heroes(tmp_path: Path) -> None:
    train, test = games(30, "train"), games(10, "test")
    data = prepared("dota2", written(tmp_path / "dota2Train.csv", train), written(tmp_path / "dota2Test.csv", test))
    both = np.vstack((train, test))
    assert data.X.shape == (40, 116)
    assert data.origin == "real"
    assert data.columns == FEATURES
    np.testing.assert_array_equal(data.y, both[:, 0] == 1)
    game, heroes = both[:, 1:4], both[:, 4:]
    np.testing.assert_allclose(data.X[:, :3], (game - game.mean(axis=0)) / game.std(axis=0, ddof=1), rtol=0, atol=1e-12)
    np.testing.assert_array_equal(data.X[:, 3:], heroes)


@pytest.mark.parametrize(
    ("column", "cell", "message"),
    [
        (0, 0, "column 'won': 0 is not one of"),
        (4, 2, "column 'hero 1': 2 is not one of"),
        (116, -5, "column 'hero 113': -5 is not one of"),
    ],
)
def test_a_bad_cell_is_named(column: int, cell: int, message: str, tmp_path: Path) -> None:
    rows = games(4)
    rows[2, column] = cell
    written(tmp_path / "dota2Train.csv", rows)
    with pytest.raises(DataError, match=rf"dota2Train\.csv: line 3, {message}"):
        read_dota2(tmp_path / "dota2Train.csv")


def test_games_of_the_stand_in_are_coded_as_real_ones() -> None:
    data = dota2_standin(2000, stream(2, "dota2"))
    heroes = data.X[:, 3:]
    np.testing.assert_array_equal((heroes == 1).sum(axis=1), 5)
    np.testing.assert_array_equal((heroes == -1).sum(axis=1), 5)
    # A hero is in a game with probability 10 / 113, in each team as often.
    rate = 10 / 113
    error = np.sqrt(rate * (1 - rate) / 2000)
    assert np.abs(np.abs(heroes).mean(axis=0) - rate).max() < 5 * error
    assert np.abs(heroes.mean(axis=0)).max() < 5 * np.sqrt(rate / 2000)
    assert 0.4 < data.y.mean() < 0.6
