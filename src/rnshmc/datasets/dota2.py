"""UCI Dota2 Games Results as a logistic regression (paper B, section 4.6)."""

from pathlib import Path

import numpy as np

from rnshmc.datasets.matrix import LogisticData, of_file
from rnshmc.datasets.numeric import check_codes, read_numbers
from rnshmc.datasets.simulate import draw_labels

GAME = ("cluster", "mode", "type")
HEROES = 113
FEATURES = (*GAME, *(f"hero {k}" for k in range(1, HEROES + 1)))
TEAM = 5
"""Number of heroes in each team. The heroes of a game are distinct, coded 1 in one team and -1 in the other."""


def dota2_standin(n: int, rng: np.random.Generator) -> LogisticData:
    """Simulate n games from the coding of the real data alone.

    We assume that all sets of ten heroes are equally likely, the numbers of the game are independent and
    standard normal; all have coefficients from N(0, 1 / 13), so that the log odds have a variance of about 1. Heroes
    add up to 0 in every game, as in the real data: along the direction of equal coefficients there is only the prior.
    """
    players = np.argpartition(rng.random((n, HEROES)), 2 * TEAM, axis=1)[:, : 2 * TEAM]
    sides = rng.permuted(np.tile(np.repeat((1.0, -1.0), TEAM), (n, 1)), axis=1)
    heroes = np.zeros((n, HEROES))
    np.put_along_axis(heroes, players, sides, axis=1)
    X = np.hstack((rng.standard_normal((n, len(GAME))), heroes))
    coefficients = rng.standard_normal(X.shape[1]) / np.sqrt(len(GAME) + 2 * TEAM)
    return LogisticData(X, draw_labels(X, coefficients, rng), "stand-in", FEATURES)


def read_dota2(path: str | Path) -> LogisticData:
    """Read dota2Train.csv or dota2Test.csv; the label is 1 if the team of the heroes coded 1 won.

    Raises `DataError`, naming file, line and column, if a cell is not what the description of the data allows.
    """
    table = read_numbers(path, ("won", *FEATURES))
    for name, allowed in (("won", (-1, 1)), *((hero, (-1, 0, 1)) for hero in FEATURES[len(GAME) :])):
        check_codes(path, table, name, allowed)
    labels = (table["won"].to_numpy() > 0).astype(np.uint8)
    return of_file(path, table[list(FEATURES)].to_numpy(), labels, FEATURES)
