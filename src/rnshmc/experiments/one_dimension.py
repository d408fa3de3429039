"""Random networks and Gaussian processes fitted to few observations of a parabola (paper A, Fig. 1)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from rnshmc.datasets.receipt import read_published
from rnshmc.errors import ParameterError
from rnshmc.random import stream
from rnshmc.run.recipes import recipe
from rnshmc.run.registry import fit
from rnshmc.types import Array

GRID = np.linspace(-4.0, 4.0, 161)
"""Grid on which the fits are compared; few of the observations, at standard normal points, lie beyond 2."""
REGIONS = {"all": (0.0, 4.0), "near": (0.0, 2.0), "far": (2.0, 4.0)}
"""Ranges of |x| over which errors are computed."""
ERROR_COLUMNS = ("repeat", "n", "method", "region", "rmse_average", "rmse_single", "data")
WITHOUT_CHANCE = frozenset({"gp_hmc"})
"""Samplers whose surrogate has no random basis: refits to the same observations are identical."""


class OneDimension(NamedTuple):
    """Results of `one_dimension` as tidy tables."""

    points: pd.DataFrame
    """Columns n (size of the smallest data set with the observation), x, y, data: observations of the first repeat."""
    curves: pd.DataFrame
    """Columns n, method, fits, x, mean, sd, low, high, data: mean, spread, 10% and 90% of the first repeat's fits."""
    errors: pd.DataFrame
    """Columns repeat, n, method, region, rmse_average, rmse_single, as in `region_errors`, and data."""


def read_points(receipts: Sequence[str]) -> Sequence[Array] | None:
    """The published observations; None without a receipt, or if they could not be fetched."""
    return read_published(receipts[0], "X", "Y") if receipts else None


def parabola(x: Array) -> Array:
    """The truth: x^2 / 2, the potential of a standard normal variable."""
    return 0.5 * x**2


def one_dimension(
    *,
    seed: int,
    sizes: Sequence[int],
    noise_sd: float,
    fits: int,
    repeats: int,
    surrogates: Mapping[str, Mapping[str, Any]],
    published: Sequence[Array] | None = None,
) -> OneDimension:
    """Fit surrogates to noisy observations of x^2 / 2 at nested standard normal points.

    The settings are explained in config/README.md (`experiments.fig1`); ``surrogates`` are keywords of the ``fit`` of
    each, by the sampler that it drives. ``published`` are points and observations of the first repeat; without them,
    it is simulated as the others are. The curves are from the first repeat. Raises `ParameterError` if there are fewer
    published observations than the largest size, or a setting of a surrogate is out of range.
    """
    if published is not None and len(published[0]) < max(sizes):
        raise ParameterError(f"sizes: {max(sizes)} is more than the {len(published[0])} published observations")
    points, curves, errors = [], [], []
    for repeat in range(1, repeats + 1):
        if repeat == 1 and published is not None:
            (x, y), data = (array[: max(sizes)] for array in published), "published"
        else:
            rng = stream(seed, "fig1", f"repeat{repeat}")
            (x, y), data = observe(rng, count=max(sizes), noise_sd=noise_sd), "simulated"
        if repeat == 1:
            smallest = [min(n for n in sizes if n > index) for index in range(len(x))]
            points.append(pd.DataFrame({"n": smallest, "x": x, "y": y, "data": data}))
        for n in sizes:
            for method, settings in surrogates.items():
                streams = [
                    stream(seed, "fig1", method, f"n{n}", f"repeat{repeat}", f"fit{k}")
                    for k in range(1, 1 + (1 if method in WITHOUT_CHANCE else fits))
                ]
                predictions = fit_curves(method, x[:n], y[:n], settings=settings, streams=streams)
                if repeat == 1:
                    columns = {"n": n, "method": method, "fits": len(predictions), **_summary(predictions)}
                    curves.append(pd.DataFrame({**columns, "data": data}))
                errors.append(region_errors(predictions).assign(repeat=repeat, n=n, method=method, data=data))
    return OneDimension(
        points=pd.concat(points, ignore_index=True),
        curves=pd.concat(curves, ignore_index=True),
        errors=pd.concat(errors, ignore_index=True)[list(ERROR_COLUMNS)],
    )


def observe(rng: np.random.Generator, *, count: int, noise_sd: float) -> tuple[Array, Array]:
    """Standard normal points and the parabola there with normal noise, each of shape (count,)."""
    x = rng.standard_normal(count)
    return x, parabola(x) + noise_sd * rng.standard_normal(count)


def fit_curves(
    method: str, x: Array, y: Array, *, settings: Mapping[str, Any], streams: Sequence[np.random.Generator]
) -> Array:
    """Predictions on `GRID` of one fit to the observations per stream, shape (fits, 161).

    Surrogates match potentials up to a constant, so the smallest observation, which they subtract, is added back.
    """
    surrogate = recipe(method).surrogate
    fits = [fit(surrogate, x[:, np.newaxis], y, settings=settings, rng=rng) for rng in streams]
    predictions: Array = y.min() + np.array([fit.predict(GRID[:, np.newaxis]) for fit in fits])
    return predictions


def region_errors(predictions: Array) -> pd.DataFrame:
    """Root mean squared errors over each of `REGIONS`, from predictions on `GRID` of shape (fits, 161).

    Columns region, rmse_average (of the mean of all fits), rmse_single (median over the fits of their own).
    """
    rows = []
    for region, (low, high) in REGIONS.items():
        inside = (np.abs(GRID) >= low) & (np.abs(GRID) <= high)
        deviations = predictions[:, inside] - parabola(GRID[inside])
        rows.append(
            {
                "region": region,
                "rmse_average": float(np.sqrt(np.mean(deviations.mean(axis=0) ** 2))),
                "rmse_single": float(np.median(np.sqrt(np.mean(deviations**2, axis=1)))),
            }
        )
    return pd.DataFrame(rows)


def _summary(predictions: Array) -> dict[str, Array]:
    low, high = np.quantile(predictions, [0.1, 0.9], axis=0)
    return {"x": GRID, "mean": predictions.mean(axis=0), "sd": predictions.std(axis=0), "low": low, "high": high}
