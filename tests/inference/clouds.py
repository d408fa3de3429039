"""Draws of a surrogate made by hand, with exact values at some of them: what expectations are made of.

The one place where tests know how these are stored.
"""

import numpy as np

from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.surrogate.uncertainty import Paths, Tails
from rnshmc.inference.surrogate.weights import Chosen, smoothed
from rnshmc.types import Array

AIM = 1000.0
"""Independent draws whose errors are aimed at."""


def even_paths(draws: Array, by_path: Array | None = None) -> Paths:
    """Draws of equal weight, of which the process expects weights ``by_path``; None: that the surrogate is exact."""
    even = np.full(len(draws), 1.0 / len(draws))
    return Paths(draws, even, np.tile(even, (9, 1)) if by_path is None else by_path)


def cloud(
    draws: Array,
    checked: Array | None = None,
    differences: Array | None = None,
    *,
    base: Array | None = None,
    by_path: Array | None = None,
    chosen: Chosen | None = None,
    missing: float = 0.0,
) -> Corrected:
    """Draws (n, d) of a surrogate in which the process has no doubt, but for ``by_path`` at a tenth or 640 of them.

    Parameters
    ----------
    draws
        Independent ones, in chains of ten and more.
    checked, differences
        Draws with exact values, and U - V there; None: 50 of them, at which the surrogate is exact.
    base
        Importance weights of the checked draws to the surrogate, where they are of an earlier one.
    by_path
        Importance weights of densities that the process expects, at the first 640 draws.
    chosen
        More draws with exact values.
    missing
        Share of the mass that the surrogate lacks where the first coordinate is 4 and all others 0.
    """
    checked = draws[:50] if checked is None else checked
    differences = np.zeros(len(checked)) if differences is None else differences
    tails = Tails(4.0 * np.eye(1, draws.shape[1]), np.array([missing]))
    paths = even_paths(draws[:640], by_path)
    return Corrected(draws, checked, differences, smoothed(-differences), paths, 128, tails, AIM, base, chosen)
