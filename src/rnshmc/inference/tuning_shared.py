"""Numbers that several stages of `rnshmc.sample` share. Each has one meaning, wherever it is used."""

import math

TOLERATED = 0.1
"""Part of a standard deviation, or share of a whole, that is neglected: a tenth."""
BAD = 3.0
"""Ratio of the limit above which a quantity is bad to the limit up to which it is good. sd(U - V) from 0.5 to 1.5 has
efficiencies of the weights from 0.8 to 0.1."""
SURPRISE = 3.0
"""Standard deviations of a difference that is not chance: one normal difference in 700 exceeds them on one side."""
RARE = 0.01
"""Level of a test, and probability of an event that is neglected."""
TRIES = 12
"""Tries, each with a shorter step or another draw, until a search is given up."""
ROUNDS = 4
"""Repetitions of a costly step that may fail to improve the result."""
BATCH = 8
"""Smallest number of values that are evaluated at once, of which the mean square has a relative error of a half."""
FEW = 20
"""Values of which the variance has a relative error of a third."""
DIFFERENT = 2.0
"""Difference of potentials, besides noise, that no error of a Hessian explains: it predicts a fourth of that."""
REACH = 3.5
"""Whitened distance from a mode, in units of sqrt(d) + 1, up to which points matter. Points farther out are not fitted
well, and hardly any draws are there."""
AGAIN = 1.5
"""Growth of the number of points, or of a share of draws, until a search is repeated."""
MANY = 100
"""Independent draws whose mean has an error of `TOLERATED` standard deviations; as many weights show a tail."""


def reach_of(dim: int) -> float:
    """Whitened distance from a mode up to which points matter."""
    return REACH * (math.sqrt(dim) + 1.0)
