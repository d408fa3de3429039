"""Search for the covariance of a `GradientKernel` by the marginal likelihood: length, noise and other parts."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from rnshmc.errors import FitError
from rnshmc.inference.surrogate.gradient_conditioning import Solution, solve
from rnshmc.inference.surrogate.ridges import NONE, Ridges
from rnshmc.surrogates.squared_exponential import spread
from rnshmc.types import Array

SEARCH_ROWS = 2500
"""Maximum equations in the system for choosing length and noise; excess points are left out."""
ROUGH_ROWS = 800
"""Equations in the smaller system that starts the search for a length: a thirtieth of the operations."""
FEW_ROWS = 400
"""Equations in the systems for choosing parts, of which there are a hundred."""
MOST_DIMENSIONS = 6
"""Dimensions of a process that may have other parts. With them, two of five runs on posteriordb's Lotka-Volterra model
(eight) and two of nine on eight schools (ten) have no good surrogate at first: the prior mean lets draws go too far."""
WEIGHTS = (1.0, 30.0, 1000.0)
"""Candidate variances of the additive and the radial part, in units of the isotropic one's."""
UNSOLVABLE = (-math.inf, -math.inf)
"""Criterion of a candidate whose system cannot be solved."""


def search(
    points: Array,
    values: Array,
    slopes: Array,
    lengths: list[float],
    nuggets: tuple[float, ...],
    most_amplitude: float,
    rng: np.random.Generator,
    errors: Array,
    variance: float | None = None,
    ridges: Ridges = NONE,
) -> tuple[float, float, float | None]:
    """Maximise the likelihood over length, then nugget, then length again unless the first nugget is best.

    The search for the length starts at the best one for fewer points and climbs to the nearest maximum. The result
    includes the latest estimate of the process's variance; ``variance`` is an earlier estimate.
    """
    if len(lengths) == len(nuggets) == 1:
        return lengths[0], nuggets[0], variance
    rows = 1 + points.shape[1] * np.isfinite(slopes).all(axis=1).mean()
    most = max(2, int(SEARCH_ROWS / rows))
    if len(points) > most:
        some = rng.choice(len(points), most, replace=False)
        points, values, slopes, errors = points[some], values[some], slopes[some], errors[some]

    def tried_by(every: int, known: Callable[[int], float | None]) -> Callable[[int, int], _Tried]:
        given = points[::every], values[::every], slopes[::every]

        @cache
        def tried(length: int, nugget: int) -> _Tried:
            try:
                solved = solve(*given, lengths[length], nuggets[nugget], errors[::every], known(length), ridges)
            except FitError:
                return _Tried(UNSOLVABLE, None)
            return _Tried(_height(solved, ridges, most_amplitude), solved.variance)

        return tried

    roughly = tried_by(math.ceil(len(points) * rows / ROUGH_ROWS), lambda _: variance)
    tried = tried_by(1, lambda length: roughly(length, 0).variance)
    start = max(range(len(lengths)), key=lambda length: roughly(length, 0).height)
    length = _climbed(lambda length: tried(length, 0).height, start, len(lengths))
    nugget = _climbed(lambda nugget: tried(length, nugget).height, 0, len(nuggets))
    if nugget > 0:
        length = _climbed(lambda length: tried(length, nugget).height, length, len(lengths))
    return lengths[length], nuggets[nugget], tried(length, nugget).variance


def likeliest(
    points: Array,
    values: Array,
    slopes: Array,
    lengths: tuple[float, ...],
    nugget: float,
    most_amplitude: float,
    errors: Array,
) -> Ridges:
    """The parts with the smallest criterion of Akaike: each weight and each length is a parameter.

    One part after the other is varied until none improves; ``lengths`` are relative to the spread of the points, along
    a coordinate for the other parts.
    """
    scale, dim = spread(points), points.shape[1]
    every = math.ceil(len(points) * (1 + dim) / FEW_ROWS)
    given = points[::every], values[::every], slopes[::every]
    alone = [None, *((weight, length * scale / math.sqrt(dim)) for weight in WEIGHTS for length in lengths)]

    @cache
    def height(tried: tuple[float, Ridges]) -> tuple[float, float]:
        length, ridges = tried
        try:
            solved = solve(*given, length * scale, nugget, errors[::every], ridges=ridges)
        except FitError:
            return UNSOLVABLE
        return _height(solved, ridges, most_amplitude)

    now, before = (lengths[len(lengths) // 2], NONE), None
    while now != before:
        before = now
        now = max((now, *((length, now[1]) for length in lengths)), key=height)
        now = max((now, *((now[0], replace(now[1], additive=part)) for part in alone)), key=height)
        now = max((now, *((now[0], replace(now[1], radial=part)) for part in alone)), key=height)
    return now[1]


def _height(solved: Solution, ridges: Ridges, most_amplitude: float) -> tuple[float, float]:
    """Criterion of a candidate: no amplitude above the limit, then the log likelihood less the number of parameters."""
    excess = max(math.sqrt(solved.variance * (1.0 + ridges.weight)) - most_amplitude, 0.0)
    return -excess, solved.log_likelihood - ridges.parameters


@dataclass(frozen=True)
class _Tried:
    """Criterion of a candidate, and variance of the process; None if its system cannot be solved."""

    height: tuple[float, float]
    variance: float | None


def _climbed(height: Callable[[int], tuple[float, float]], start: int, count: int) -> int:
    """Climb from neighbour to neighbour among ``count`` candidates to a maximum, skipping unsolvable ones."""
    best = start
    for step in (1, -1):
        at = start + step
        while 0 <= at < count and (height(at) > height(best) or height(at)[0] == -math.inf == height(best)[0]):
            best, at = (at if height(at) > height(best) else best), at + step
    return best
