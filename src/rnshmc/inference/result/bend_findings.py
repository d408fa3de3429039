"""What a bend says of a posterior, in the names of its coordinates."""

from collections.abc import Iterator, Sequence

import numpy as np

from rnshmc.inference.bend import Bend, Layer
from rnshmc.inference.transforms import Transform

SCALING, CURVING = 0.2, 0.5
"""Smallest reported change of a log scale over one width of the driver, and of a mean in scales of its own."""
SMALL = 0.1
"""Curve that is not reported, relative to the largest one."""
MOST = 6
"""Coordinates that are named one by one."""


def coordinate_names(names: Sequence[str], transform: Transform) -> tuple[str, ...]:
    """Names of the unconstrained coordinates of parameters: a positive one stands for its logarithm."""
    kinds = zip(names, np.isfinite(transform.low), np.isfinite(transform.high), strict=True)
    return tuple(
        name if not low | high else f"the {'logit' if low & high else 'log'} of {name}" for name, low, high in kinds
    )


def bend_findings(bend: Bend, names: Sequence[str]) -> Iterator[str]:
    """Sentences on the layers of a bend.

    Parameters
    ----------
    names
        Of the coordinates.
    """
    for driver in dict.fromkeys(layer.driver for layer in bend.layers):
        layers = [layer for layer in bend.layers if layer.driver == driver]
        scaled, slope = _scaled(layers)
        if len(scaled):
            yield f"{_listed([names[j] for j in scaled])} scale with exp({slope:.2g} t), t = {names[driver]}."
        for layer in layers:
            if len(curved := _curved(layer)):
                yield f"{_listed([names[j] for j in curved])} curve along {names[driver]}."


def _scaled(layers: Sequence[Layer]) -> tuple[list[int], float]:
    """Coordinates that layers with one driver scale together, and the median slope of their log scales."""
    width = layers[-1].width
    slopes, turns = (sum(layer.scales[k] * width / layer.width for layer in layers) for k in range(2))
    chosen = np.flatnonzero(np.maximum(np.abs(slopes), np.abs(turns)) > SCALING).tolist()
    return chosen, float(np.median(np.asarray(slopes)[chosen])) / width if chosen else 0.0


def _curved(layer: Layer) -> list[int]:
    """Coordinates whose mean is a curve along the driver."""
    bent = np.abs(layer.shifts[2])
    return [j for j in range(len(bent)) if bent[j] > max(CURVING * layer.units[j], SMALL * bent.max())]


def _listed(names: Sequence[str]) -> str:
    if len(names) > MOST:
        return f"{names[0]}, {names[1]} .. {names[-1]} ({len(names)} coordinates)"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
