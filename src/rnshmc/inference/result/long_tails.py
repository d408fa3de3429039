"""Means of variables with long tails, of which draws show too small a variance: most have not seen the tail."""

import numpy as np

from rnshmc.diagnostics.importance import pareto_smoothed
from rnshmc.types import Array

LONG = 0.5
"""Tail shape from which on a variance is infinite: that of draws is then too small, and no draw is missed below."""
BEYOND = 20.0
"""Reach of the tail that is allowed for: exceeded once in so many sets of draws."""
NODES = 400
SHORT = 4.0
"""Largest size, in units of the 99% quantile, up to which no tail is fitted: fits take a hundred times as long. Of
25600 values with a tail of shape `LONG` the largest is less with a probability of e^-16."""


def excess_variance(centred: Array) -> Array:
    """Variance that draws lack because few of them are in a tail, for each function; 0 where no tail is long.

    A generalised Pareto law is fitted to the largest |f|, as for importance weights (Vehtari et al. 2024). Where its
    shape is above `LONG`, its second moment up to a quantile that draws hardly reach takes the place of theirs.

    Parameters
    ----------
    centred
        Values less their mean, (n,) or (n, k).
    """
    columns = np.abs(centred).reshape(len(centred), -1).T
    return np.array([_excess(column) for column in columns]).reshape(centred.shape[1:])


def _excess(sizes: Array) -> float:
    count = int(min(0.2 * len(sizes), 3.0 * np.sqrt(len(sizes))))
    if count < 2 or sizes.max() <= SHORT * np.quantile(sizes, 0.99):
        return 0.0
    with np.errstate(divide="ignore"):
        shape = pareto_smoothed(np.log(sizes))[1]
    if not shape > LONG:
        return 0.0
    tail = np.sort(sizes)[-count:]
    # The median of the excesses, for their mean may not exist.
    scale = shape * float(np.median(tail - tail[0])) / (2.0**shape - 1.0)
    above = np.geomspace(1.0 / (BEYOND * count), 1.0, NODES)
    squares = (tail[0] + scale / shape * (above**-shape - 1.0)) ** 2
    expected = float(((squares[1:] + squares[:-1]) @ np.diff(above)) / 2.0)
    return max(0.0, expected - float((tail**2).mean())) * count / len(sizes)
