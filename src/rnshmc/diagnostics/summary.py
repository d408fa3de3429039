"""Rank-normalised diagnostics of Vehtari et al. (2021), computed by arviz."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.types import Array


def since_one() -> bool:
    """Whether arviz is 1.0 or later: its data are trees of xarray, and statistics are in a package of their own."""
    return int(metadata.version("arviz").partition(".")[0]) >= 1


MIN_DRAWS = 4
"""arviz splits each chain in two and needs two draws in each half."""


@dataclass(frozen=True)
class Summary:
    """Diagnostics of each coordinate over one or more chains, each of shape (d,)."""

    ess_bulk: Array
    ess_tail: Array
    """Rank-normalised effective sample sizes of the bulk and of the 5% and 95% quantiles; 1 for a coordinate that never
    moves, as in `rnshmc.diagnostics.ess`."""
    rhat: Array
    """Rank-normalised split R-hat; NaN for a single chain, infinite for a coordinate that moves in no chain."""
    mcse_mean: Array
    mcse_sd: Array
    """Monte Carlo standard errors of the mean and of the standard deviation; 0 for a coordinate that never moves."""


def summarise(chains: Array) -> Summary:
    """Diagnostics of `chains`, of shape (chains, n, d).

    Raises `ParameterError` if `chains` has another number of axes, or fewer than four draws.
    """
    _check(chains)
    # Imported here because it takes two seconds, and many importers only read existing results.
    import arviz as az

    still = _still(chains)
    return Summary(
        ess_bulk=np.where(still, 1.0, _per_coordinate(az.ess, chains, method="bulk")),
        ess_tail=np.where(still, 1.0, _per_coordinate(az.ess, chains, method="tail")),
        rhat=rhats(chains),
        mcse_mean=np.where(still, 0.0, _per_coordinate(az.mcse, chains, method="mean")),
        mcse_sd=np.where(still, 0.0, _per_coordinate(az.mcse, chains, method="sd")),
    )


def rhats(chains: Array) -> Array:
    """`Summary.rhat` alone, in a seventh of the time. Raises the errors of `summarise`."""
    _check(chains)
    import arviz as az

    still = _still(chains)
    if len(chains) < 2:
        return np.full(chains.shape[2], np.nan)
    found = np.full(chains.shape[2], np.inf)
    if not still.all():
        found[~still] = _per_coordinate(az.rhat, chains[:, :, ~still])
    return found


def effective_sizes(chains: Array) -> Array:
    """Effective sample size of the mean of each coordinate, (d,): the smaller of the plain and the rank-normalised one.

    Both compare chains and are at most the number of draws. With few draws in a heavy tail, the plain one may be too
    large by chance. Raises the errors of `summarise`.
    """
    _check(chains)
    import arviz as az

    sizes = np.minimum(*(_per_coordinate(az.ess, chains, method=method) for method in ("mean", "bulk")))
    return np.where(_still(chains), 1.0, np.minimum(sizes, chains.shape[0] * chains.shape[1]))


def _check(chains: Array) -> None:
    if chains.ndim != 3 or chains.shape[1] < MIN_DRAWS:
        raise ParameterError(f"chains: expected shape (chains, n, d) with n >= {MIN_DRAWS}, got {chains.shape}")


def _still(chains: Array) -> npt.NDArray[np.bool_]:
    """Whether each coordinate is constant in every chain, (d,)."""
    return np.asarray((np.ptp(chains, axis=1) == 0).all(axis=0))


def _per_coordinate(function: Callable[..., Any], chains: Array, **options: str) -> Array:
    import xarray as xr

    dataset = xr.Dataset({"q": (("chain", "draw", "dim"), chains)})
    # arviz divides zero by zero if a coordinate never moves
    with np.errstate(invalid="ignore"), _without_numba():
        return np.asarray(function(dataset, **options)["q"].to_numpy())


@contextmanager
def _without_numba() -> Iterator[None]:
    """Disable Numba in arviz: with it, mcse of arviz 0.23.4 fails from NumPy 2.4 on.

    From 1.0 on, arviz does not use Numba by default.
    """
    if since_one():
        yield
        return
    from arviz.utils import Numba

    before, Numba.numba_flag = Numba.numba_flag, False
    try:
        yield
    finally:
        Numba.numba_flag = before
