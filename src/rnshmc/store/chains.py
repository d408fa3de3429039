"""Chains on disk: netCDF files that ``arviz.from_netcdf`` opens."""

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from rnshmc.errors import StoreError
from rnshmc.files import atomic_path
from rnshmc.types import Array

Stats = Mapping[str, npt.NDArray[Any]]
_JSON_ATTRIBUTES = ("settings", "phases", "provenance")
# What the libraries raise on damaged files; the last one where a global attribute is hit.
_DAMAGE = (OSError, LookupError, ValueError, RuntimeError, TypeError, AttributeError)


@dataclass(frozen=True)
class StoredChain:
    """A chain with all that says how it came about."""

    draws: Array
    """Kept draws, shape (n, dim)."""
    stats: Stats
    """Sample statistics of the kept draws, arrays of shape (n,)."""
    settings: Mapping[str, Any]
    """Problem, sampler, chain, seed and every setting that shaped the draws."""
    phases: Mapping[str, Any]
    """What each phase took (iterations, wall-clock and CPU seconds), and of a fit, its settings and its quality."""
    origin: str
    """Where the data came from: "real", "simulated", "user" or "stand-in"."""
    provenance: Mapping[str, Any]
    """Versions, commit and machine."""
    warmup: Array | None = None
    """Warm-up draws, shape (m, dim)."""
    warmup_stats: Stats | None = None
    """Sample statistics of the warm-up draws."""


def write_chain(path: Path, chain: StoredChain) -> None:
    """Write a chain with checksums; the file appears whole or not at all.

    Raises
    ------
    StoreError
        If the disk is full or not to be written.
    """
    attributes = {name: json.dumps(getattr(chain, name), sort_keys=True) for name in _JSON_ATTRIBUTES}
    attributes["origin"] = chain.origin
    groups = {
        "posterior": _draws_group(chain.draws).assign_attrs(attributes),
        "sample_stats": _stats_group(chain.stats),
    }
    if chain.warmup is not None and chain.warmup_stats is not None:
        groups["warmup_posterior"] = _draws_group(chain.warmup)
        groups["warmup_sample_stats"] = _stats_group(chain.warmup_stats)
    # In memory first: HDF5 does not survive a disk that fills up under it.
    content = io.BytesIO()
    checksums = {f"/{name}": {str(key): {"fletcher32": True} for key in group} for name, group in groups.items()}
    xr.DataTree.from_dict(groups).to_netcdf(content, engine="h5netcdf", encoding=checksums)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content.getbuffer())


def read_chain(path: Path) -> StoredChain:
    """Read a chain that `write_chain` wrote.

    Raises
    ------
    StoreError
        If the file is missing, damaged or not such a chain.
    """
    try:
        with xr.open_datatree(path, engine="h5netcdf") as tree:
            groups = {name: group.to_dataset().load() for name, group in tree.children.items()}
        attributes = groups["posterior"].attrs
        return StoredChain(
            draws=_draws(groups["posterior"]),
            stats=_stats(groups["sample_stats"]),
            settings=json.loads(attributes["settings"]),
            phases=json.loads(attributes["phases"]),
            provenance=json.loads(attributes["provenance"]),
            origin=attributes["origin"],
            warmup=_draws(groups["warmup_posterior"]) if "warmup_posterior" in groups else None,
            warmup_stats=_stats(groups["warmup_sample_stats"]) if "warmup_sample_stats" in groups else None,
        )
    except _DAMAGE as error:
        raise StoreError(
            f"{path}: cannot be read as a chain ({error}); delete it and run the workflow again"
        ) from error


def _draws_group(draws: Array) -> xr.Dataset:
    return xr.Dataset(
        {"q": (("chain", "draw", "dim"), draws[None])},
        coords={"chain": [0], "draw": np.arange(len(draws)), "dim": np.arange(draws.shape[1])},
    )


def _stats_group(stats: Stats) -> xr.Dataset:
    n = len(next(iter(stats.values())))
    return xr.Dataset(
        {name: (("chain", "draw"), values[None]) for name, values in stats.items()},
        coords={"chain": [0], "draw": np.arange(n)},
    )


def _draws(group: xr.Dataset) -> Array:
    return np.asarray(group["q"].to_numpy()[0], dtype=float)


def _stats(group: xr.Dataset) -> dict[str, npt.NDArray[Any]]:
    return {str(name): values.to_numpy()[0] for name, values in group.data_vars.items()}
