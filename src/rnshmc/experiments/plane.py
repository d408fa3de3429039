"""Tables for plots of drivers in two dimensions: gradients on a grid, and trajectories from equal momenta."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from rnshmc.dynamics.leapfrog import leapfrog
from rnshmc.dynamics.metrics import IdentityMetric
from rnshmc.types import Array, Driver, Potential

SHOWN_DRAWS = 2000
"""Maximum number of draws of each sampler in a table of draws, over all repeats."""


def shown_draws(sampler: str, repeat: int, repeats: int, coordinates: Mapping[str, Array]) -> pd.DataFrame:
    """Evenly spaced draws of one repeat, each coordinate of shape (n,).

    Columns sampler, repeat, draw (its iteration, counted from 1), and the coordinates.
    """
    table = pd.DataFrame({"sampler": sampler, "repeat": repeat, **coordinates})
    table.insert(2, "draw", range(1, len(table) + 1))
    return table[:: -(-len(table) // (SHOWN_DRAWS // repeats))]


def field_on_grid(
    target: Potential, drivers: Mapping[str, Driver], *, names: tuple[str, str], grids: tuple[Array, Array]
) -> pd.DataFrame:
    """The exact potential and the gradients of drivers on a grid, one row per grid point.

    Columns: the coordinates, potential (less its smallest value on the grid), and for each sampler <sampler>_1 and
    <sampler>_2.
    """
    grid = np.stack(np.meshgrid(*grids), axis=-1).reshape(-1, 2)
    potential = np.array([target.value(q) for q in grid])
    columns = {names[0]: grid[:, 0], names[1]: grid[:, 1], "potential": potential - potential.min()}
    for sampler, driver in drivers.items():
        gradient = np.array([driver.gradient(q) for q in grid])
        columns |= {f"{sampler}_1": gradient[:, 0], f"{sampler}_2": gradient[:, 1]}
    return pd.DataFrame(columns)


def trajectories_from(
    drivers: Mapping[str, Driver],
    *,
    names: tuple[str, str],
    starts: Array,
    rng: np.random.Generator,
    step_size: float,
    n_steps: int,
) -> pd.DataFrame:
    """Leapfrog trajectories of each driver from the same starts, shape (trajectories, 2), with the same momenta.

    Columns sampler, trajectory (counted from 1), step (0 to n_steps) and the coordinates.
    """
    momenta = [IdentityMetric().sample_momentum(rng, 2) for _ in starts]
    parts = []
    for sampler, driver in drivers.items():
        for number, (start, momentum) in enumerate(zip(starts, momenta, strict=True), start=1):
            path = leapfrog_path(driver, start, momentum, step_size=step_size, n_steps=n_steps)
            part = pd.DataFrame({"step": range(len(path)), names[0]: path[:, 0], names[1]: path[:, 1]})
            parts.append(part.assign(sampler=sampler, trajectory=number))
    return pd.concat(parts, ignore_index=True)[["sampler", "trajectory", "step", *names]]


def leapfrog_path(driver: Driver, q: Array, p: Array, *, step_size: float, n_steps: int) -> Array:
    """Every position of a leapfrog trajectory, shape (n_steps + 1, dim)."""
    path, gradient = [q], driver.gradient(q)
    for _ in range(n_steps):
        end = leapfrog(
            q,
            p,
            gradient,
            step_size=step_size,
            n_steps=1,
            metric=IdentityMetric(),
            force=driver.gradient,
            at_end=lambda place: (0.0, driver.gradient(place)),
        )
        q, p, gradient = end.q, end.p, end.gradient
        path.append(q)
    return np.array(path)
