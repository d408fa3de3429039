"""Sums of many squared exponentials of one variable, read off tables: what a surrogate is asked for most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from loop.parts import radii

from rnshmc.types import Array

NODES = 12
"""Nodes of a table in a length: the interpolation is off by 1e-6 of a function's size."""
Terms = tuple[Array, Array, Array, float, float]
"""Centres (n,), weights of values and of derivatives there (n,), weight and length of the covariance."""


@dataclass(frozen=True, eq=False)
class Table:
    """sum_i f_i(y_i) + g((1 + |y|^2)^(1 / 2)) by cubic Hermite interpolation.

    Attributes
    ----------
    low, step
        The first node of each function, and the distance of nodes: (k,).
    values, slopes
        Of each function at its nodes, times the step: (k, nodes).
    axes
        Number of functions of a coordinate: those of all, or none. The last function is of the radius.
    """

    low: Array
    step: Array
    values: Array
    slopes: Array
    axes: int

    @classmethod
    def of(cls, axes: Sequence[Terms], radial: Terms, extent: float) -> Self:
        """From weights of squared exponentials, for points up to a distance ``extent`` from the centre."""
        every = [(-extent, terms) for terms in axes] + [(1.0, radial)]
        nodes = max(int(NODES * (extent - low + 1.0) / terms[4]) + 2 for low, terms in every)
        low = np.array([low for low, _ in every])
        step = (extent + 1.0 - low) / (nodes - 2)
        at = low[:, None] + step[:, None] * np.arange(nodes)
        found = [_summed(t, terms) for t, (_, terms) in zip(at, every, strict=True)]
        values, slopes = (np.array([one[k] for one in found]) for k in range(2))
        return cls(low, step, values, slopes * step[:, None], len(axes))

    def __call__(self, y: Array) -> tuple[Array, Array]:
        """The sum at the rows of y, (k,), and its gradients."""
        r = radii(y)
        t = np.column_stack((y, r)) if self.axes else r[:, None]
        place = (t - self.low) / self.step
        node = np.clip(place.astype(np.intp), 0, self.values.shape[1] - 2)
        s = place - node
        which = np.arange(t.shape[1])
        left, right = self.values[which, node], self.values[which, node + 1]
        rise, end = self.slopes[which, node], self.slopes[which, node + 1]
        change = right - left
        square, cube = 3.0 * change - 2.0 * rise - end, rise + end - 2.0 * change
        values = (left + s * (rise + s * (square + s * cube))).sum(axis=1)
        along = (rise + s * (2.0 * square + 3.0 * s * cube)) / self.step
        gradients = along[:, -1:] * y / r[:, None]
        return values, gradients + along[:, :-1] if self.axes else gradients


def _summed(t: Array, terms: Terms) -> tuple[Array, Array]:
    """The sum and its derivative at nodes."""
    centres, alpha, beta, weight, length = terms
    apart = (t[:, None] - centres) / length
    kernel = weight * np.exp(-0.5 * apart**2)
    inner = alpha + apart * beta / length
    return (kernel * inner).sum(axis=1), (kernel * (beta / length - apart * inner)).sum(axis=1) / length
