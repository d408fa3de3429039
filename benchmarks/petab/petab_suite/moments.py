"""Reference moments of a problem as they are kept in git."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from peers.measures import GOAL, Moments

from rnshmc.errors import DataError

LARGEST_RHAT = 1.01
LEAST = GOAL
"""Independent draws whose errors a reference has to have at least."""
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Reference:
    """Moments of the parameters on their scales, with Monte Carlo errors; lists of length d."""

    names: list[str]
    mean: list[float]
    variance: list[float]
    kurtosis: list[float]
    mean_error: list[float]
    variance_error: list[float]
    quantiles: list[list[float]]
    """Those of `QUANTILES`, (3, d)."""
    draws: list[float]
    """Independent draws that the errors of means, and of variances, are worth."""
    rhat: float
    """The largest of a coordinate, over all chains."""
    simulations: int
    converged: bool
    """Whether this is a reference: R-hat below `LARGEST_RHAT`, and `LEAST` draws."""

    @property
    def moments(self) -> Moments:
        return Moments(np.array(self.mean), np.array(self.variance), np.array(self.kurtosis))

    @property
    def known(self) -> tuple[float, float]:
        """Independent draws that the errors are worth, as `peers.judge.judge` takes them."""
        return self.draws[0], self.draws[1]


def read(path: Path) -> Reference:
    """The reference in a file.

    Raises
    ------
    DataError
        If the file is none.
    """
    try:
        return Reference(**json.loads(path.read_text()))
    except (OSError, TypeError, ValueError) as error:
        raise DataError(f"{path}: not a file of reference moments: {error}") from error
