"""Angles in results: the period in which they are reported, and findings on their draws."""

from collections.abc import Iterator, Sequence

import numpy as np

from rnshmc.inference.result.findings import Finding
from rnshmc.inference.result.outcome import Outcome
from rnshmc.inference.transforms import Transform
from rnshmc.inference.tuning import DEFAULT
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


def angle_findings(draws: Array, transform: Transform, names: Sequence[str]) -> Iterator[Finding]:
    """Findings on angles whose draws, (n, d), are all around the circle."""
    angles, limits = transform.angles, DEFAULT.judging
    if angles is None or not len(draws):
        return
    for k, period in zip(angles.columns, angles.periods, strict=True):
        length = float(np.abs(np.exp(2j * np.pi * draws[:, k] / period).mean()))
        if length < limits.all_around:
            yield Finding(
                "doubtful",
                f"{names[k]}: draws are all around the circle (mean resultant length {length:.2g}), so its mean and sd "
                "depend on where the circle is cut and mean little.",
            )
