"""Angles in results: the period in which they are reported, and findings on their draws."""

from collections.abc import Iterator, Sequence

import numpy as np

from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.findings import Finding
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.moments import Drawn, expectation
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning_shared import TOLERATED
from rnshmc.types import Array


def centred(outcome: Outcome, transform: Transform) -> Transform:
    """The transform to angles in the period centred at the most probable mode."""
    if not outcome.modes:
        return transform
    shares = [mode.share.value for mode in outcome.modes]
    lowest = int(np.argmin([mode.value for mode in outcome.modes]))
    best = int(np.argmax(shares)) if np.isfinite(shares).all() else lowest
    return transform.around(outcome.modes[best].point)


def angle_lines(names: Sequence[str], transform: Transform) -> list[str]:
    """The period in which each angle is reported."""
    angles = transform.angles
    if angles is None:
        return []
    return [
        f"{names[k]} is an angle, reported from {angles.low[k]:.4g} to {angles.high[k]:.4g}: half a period to each "
        "side of its most probable mode"
        for k in angles.columns
    ]


def angle_findings(drawn: Drawn, transform: Transform, names: Sequence[str]) -> Iterator[Finding]:
    """Findings on angles spread around the whole circle, from the parameters of a surrogate or of exact chains."""
    angles = transform.angles
    if angles is None:
        return
    columns, periods = angles.columns, angles.periods

    def on_circles(theta: Array) -> Array:
        turned = 2.0 * np.pi * theta[..., columns] / periods
        return np.concatenate((np.cos(turned), np.sin(turned)), axis=-1)

    moved = drawn.moved(on_circles) if isinstance(drawn, Corrected | Mixture) else on_circles(drawn)
    lengths = np.linalg.norm(expectation(moved, mixed=True).value.reshape(2, -1), axis=0)
    for k, length in zip(columns, lengths, strict=True):
        # A wrapped normal density with an sd of a third of the period has that length.
        if length < TOLERATED:
            yield Finding(
                "doubtful",
                f"{names[k]} is spread around the whole circle (mean resultant length {length:.2g}): its mean and sd "
                "depend on where the circle is cut.",
            )
