"""Parts of figures in the plane: contours of a potential, and arrows along forces.

Tables are those of `rnshmc.experiments.plane.field_on_grid`.
"""

import math

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy.interpolate import RectBivariateSpline

from rnshmc.plots.style import sampler_style
from rnshmc.results.estimates import Estimate

CONTOURS = (0.5, 2.0, 4.5, 8.0)
"""Potentials above the smallest, as at 1, 2, 3, 4 standard deviations of a Gaussian."""
FINER = 20
"""Contours are drawn on a grid that is finer than the table's by this factor."""
ARROWS = 5
"""Stride of the grid points with arrows, along each axis."""


def arrows(
    ax: Axes, field: pd.DataFrame, sampler: str, *, names: tuple[str, str], width: float, scale: float = 70.0
) -> None:
    """Minus the gradient that moves a sampler: its direction, and a length that grows with the logarithm of its norm.

    `names` are the columns of the coordinates, `width` and `scale` those of `matplotlib.axes.Axes.quiver`.
    """
    kept = np.logical_and.reduce([pd.factorize(field[name], sort=True)[0] % ARROWS == 0 for name in names])
    part = field[kept]
    force = -part[[f"{sampler}_1", f"{sampler}_2"]].to_numpy()
    norm = np.linalg.norm(force, axis=1, keepdims=True)
    force *= np.log1p(norm) / np.maximum(norm, np.finfo(float).tiny)
    colour = sampler_style(sampler).colour
    ax.quiver(part[names[0]], part[names[1]], *force.T, color=colour, width=width, scale=scale)


def contours(ax: Axes, field: pd.DataFrame, *, names: tuple[str, str]) -> None:
    """Contours of the potential, between the grid points by a cubic spline: linear interpolation would break up narrow
    ridges."""
    table = field.pivot_table(index=names[1], columns=names[0], values="potential")
    y, x = (np.asarray(axis, dtype=float) for axis in (table.index, table.columns))
    spline = RectBivariateSpline(y, x, table.to_numpy())
    y, x = (np.linspace(grid[0], grid[-1], FINER * len(grid)) for grid in (y, x))
    ax.contour(x, y, spline(y, x), levels=CONTOURS, colors="#9aa5b1", linewidths=0.8, zorder=0)


def rate_label(acceptance: pd.DataFrame, sampler: str) -> str:
    """Mean acceptance over the repeats, with its standard error if there are several."""
    rate = Estimate.over(acceptance.loc[acceptance["sampler"] == sampler, "acceptance"])
    return f"{rate.value:.3f}" + (f" ± {rate.error:.3f}" if math.isfinite(rate.error) else "")
