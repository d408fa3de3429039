"""What a bend says of a posterior, in the names of its coordinates."""

from collections.abc import Iterator, Sequence

import numpy as np

from rnshmc.inference.bend import Bend, Layer
from rnshmc.inference.transforms import Transform

SCALING, CURVING = 0.2, 0.5
"""Change of a log scale over one width of the driver, and of a mean in scales of its own, from which on it is told."""
SMALL = 0.1
"""Curve that is not told, relative to the largest one."""
MOST = 6
"""Coordinates that are named one by one."""


def coordinate_names(names: Sequence[str], transform: Transform) -> tuple[str, ...]:
    """Names of the unconstrained coordinates of parameters: a positive one stands for its logarithm."""
    kinds = zip(names, np.isfinite(transform.low), np.isfinite(transform.high), strict=True)
    return tuple(
        name if not low | high else f"the {'logit' if low & high else 'log'} of {name}" for name, low, high in kinds
    )


def told(bend: Bend, names: Sequence[str]) -> Iterator[str]:
    """Sentences on the layers of a bend.

    Parameters
    ----------
    names
        Of the coordinates.
    """
    for layer in bend.layers:
        driver = names[layer.driver]
        scaled, slope = _scaled(layer)
        if len(scaled):
            scaling = f"{_listed([names[j] for j in scaled])} scale with exp({slope:.2g} t), t = {driver}"
            yield f"{scaling}: a parametrisation in which they do not, such as a non-centred one, would be easier."
        if len(curved := _curved(layer)):
            yield f"{_listed([names[j] for j in curved])} curve along {driver}."


def _scaled(layer: Layer) -> tuple[list[int], float]:
    """Coordinates that the driver scales, and the median slope of their log scales."""
    slopes = layer.scales[0]
    chosen = [j for j in range(len(slopes)) if np.abs(layer.scales[:, j]).max() > SCALING]
    return chosen, float(np.median(slopes[chosen])) / layer.width if chosen else 0.0


def _curved(layer: Layer) -> list[int]:
    """Coordinates whose mean is a curve along the driver."""
    bent = np.abs(layer.shifts[2])
    return [j for j in range(len(bent)) if bent[j] > max(CURVING * layer.units[j], SMALL * bent.max())]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST:
        return f"{names[0]}, {names[1]} .. {names[-1]} ({len(names)} coordinates)"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
