"""Check a gradient by finite differences of its potential along a random direction."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from rnshmc.types import Array

AGREEMENT = 0.01
"""Maximum relative error of a correct slope."""
MISTAKE = 0.1
"""Minimum relative error of a wrong gradient; between the two it is inexact, like that of a coarse adjoint."""
_STEPS = (1e-4, 1e-5, 1e-3, 1e-6, 1e-2)
"""Steps of the differences, relative to the scale of the position; the first is nearly always enough."""
_FLAT = 1e-3
"""Negligible slopes: they would move the mode by this fraction of a posterior standard deviation."""
_STEEP = 0.5
"""Minimum slope along the direction, in units of the root mean square over all directions."""


@dataclass(frozen=True)
class SlopeCheck:
    """What a comparison of slope and differences came to."""

    verdict: Literal["right", "inexact", "wrong", "noisy"]
    """"noisy": differences with several steps do not agree with each other."""
    slope: float
    """Derivative along the direction by the gradient."""
    differences: tuple[float, ...]
    """The same by central differences, those that decided last."""

    @property
    def opposite(self) -> bool:
        """Whether the gradient has the wrong sign."""
        difference = self.differences[-1] if self.differences else 0.0
        return difference != 0 and abs(self.slope / difference + 1) < MISTAKE


def check_slope(
    both: Callable[[Array], tuple[float, float]],
    position: Array,
    value: float,
    gradient: Array,
    rng: np.random.Generator,
) -> SlopeCheck:
    """Compare a gradient with central differences along a random direction; two values suffice if it is right.

    A wrong sign shows, and so does one wrong entry. With differences of two steps that agree with each other and not
    with the gradient, it is wrong. ``both`` gives the values at the rows of an array of shape (2, d).
    """
    direction = _direction(gradient, rng)
    slope = float(gradient @ direction)
    scale = max(1.0, float(np.linalg.norm(position, np.inf)))
    seen: list[float] = []
    for step in scale * np.array(_STEPS):
        ahead, behind = both(np.array([position + step * direction, position - step * direction]))
        difference = (ahead - behind) / (2 * step)
        if not math.isfinite(difference):
            continue
        # Rounding error of the values, and slopes that would move the mode by a negligible distance.
        slack = (1e-14 * (abs(ahead) + abs(behind)) + _FLAT * math.sqrt(abs(ahead + behind - 2 * value))) / step
        size = max(abs(slope), abs(difference))
        if abs(difference - slope) <= AGREEMENT * size + slack:
            return SlopeCheck("right", slope, (difference,))
        if any(abs(difference - other) <= AGREEMENT * abs(difference) for other in seen):
            inexact = abs(difference - slope) <= MISTAKE * size
            return SlopeCheck("inexact" if inexact else "wrong", slope, (*seen, difference))
        seen.append(difference)
    return SlopeCheck("noisy", slope, tuple(seen))


def _direction(gradient: Array, rng: np.random.Generator) -> Array:
    """A random direction of length 1 that is not nearly orthogonal to the gradient.

    Otherwise an error of a ten thousandth of the gradient, as from an ODE solver, could dominate the slope.
    """
    largest = float(np.abs(gradient).max())
    scaled = gradient / largest if 0.0 < largest < math.inf else np.zeros(len(gradient))
    usual = float(np.linalg.norm(scaled)) / math.sqrt(len(gradient))
    while True:
        direction = rng.standard_normal(len(gradient))
        direction /= np.linalg.norm(direction)
        if not abs(float(scaled @ direction)) < _STEEP * usual:
            return np.asarray(direction)
