"""Chains on disk: netCDF files that ``arviz.from_netcdf`` opens."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5netcdf
import h5py
import numpy as np
import numpy.typing as npt

from rnshmc.errors import StoreError
from rnshmc.files import buffered, content_sha256
from rnshmc.types import Array

Stats = Mapping[str, npt.NDArray[Any]]
_JSON_ATTRIBUTES = ("settings", "phases", "provenance")
_HASH = "sha256"
# Exceptions of the libraries on damaged files; the last one is for a damaged global attribute.
_DAMAGE = (OSError, LookupError, ValueError, RuntimeError, TypeError, AttributeError)
# netCDF has no Boolean type: xarray, and so arviz, writes and reads Booleans as bytes with this attribute.
_TRUTH_VALUE = np.bytes_(b"bool")
_AXES = ("chain", "draw", "dim")


@dataclass(frozen=True)
class StoredChain:
    """A chain with its settings and provenance."""

    draws: Array
    """Kept draws, shape (n, dim)."""
    stats: Stats
    """Sample statistics of the kept draws, arrays of shape (n,)."""
    settings: Mapping[str, Any]
    """Problem, sampler, chain, seed and every setting that determines the draws."""
    phases: Mapping[str, Any]
    """Cost of each phase (iterations, wall-clock and CPU seconds); for a fit also its settings and quality."""
    origin: str
    """Origin of the data: "real", "simulated", "user" or "stand-in"."""
    provenance: Mapping[str, Any]
    """Versions, commit and machine."""
    warmup: Array | None = None
    """Warm-up draws, shape (m, dim)."""
    warmup_stats: Stats | None = None
    """Sample statistics of the warm-up draws."""


def write_chain(path: Path, chain: StoredChain) -> None:
    """Write a chain with its hash; the file is written atomically.

    Raises `StoreError` if the disk is full or read-only.
    """
    with buffered(path) as content, h5netcdf.File(content, "w") as file:
        posterior = _write_group(file, "posterior", chain.draws)
        for name in _JSON_ATTRIBUTES:
            posterior.attrs[name] = _text(json.dumps(getattr(chain, name), sort_keys=True))
        posterior.attrs["origin"] = _text(chain.origin)
        posterior.attrs[_HASH] = _text(_sha256(chain))
        _write_group(file, "sample_stats", chain.stats)
        if chain.warmup is not None and chain.warmup_stats is not None:
            _write_group(file, "warmup_posterior", chain.warmup)
            _write_group(file, "warmup_sample_stats", chain.warmup_stats)


def read_chain(path: str | Path) -> StoredChain:
    """Read a chain written by `write_chain`.

    Raises `StoreError` if the file is missing, damaged or not such a chain.
    """
    try:
        # HDF5 alone takes a tenth of the time: most jobs read chains, and some read all of them.
        with h5py.File(path, "r") as file:
            attributes = file["posterior"].attrs
            warm = "warmup_posterior" in file
            digest = attributes[_HASH].decode()
            chain = StoredChain(
                draws=_read_array(file["posterior"]["q"]),
                stats=_stats(file["sample_stats"]),
                settings=json.loads(attributes["settings"]),
                phases=json.loads(attributes["phases"]),
                provenance=json.loads(attributes["provenance"]),
                origin=attributes["origin"].decode(),
                warmup=_read_array(file["warmup_posterior"]["q"]) if warm else None,
                warmup_stats=_stats(file["warmup_sample_stats"]) if warm else None,
            )
        if _sha256(chain) != digest:
            raise ValueError("its content and the hash in it differ")
    except _DAMAGE as error:
        raise StoreError(
            f"{path}: cannot be read as a chain ({error}); delete it and run the workflow again"
        ) from error
    return chain


def _sha256(chain: StoredChain) -> str:
    """Hash of the whole content of a chain."""
    texts = {name: getattr(chain, name) for name in (*_JSON_ATTRIBUTES, "origin")}
    arrays = {"draws": chain.draws, **{f"stats.{name}": values for name, values in chain.stats.items()}}
    if chain.warmup is not None and chain.warmup_stats is not None:
        arrays |= {"warmup": chain.warmup, **{f"warmup.{name}": values for name, values in chain.warmup_stats.items()}}
    # As after reading: JSON keys are strings.
    return content_sha256(json.dumps(json.loads(json.dumps(texts)), sort_keys=True), arrays)


def _write_group(file: Any, name: str, content: Array | Stats) -> Any:
    """Write draws, shape (n, dim), or statistics, each of shape (n,), as the only chain of a group."""
    group = file.create_group(name)
    arrays: Stats = {"q": content} if isinstance(content, np.ndarray) else content
    sizes = (1, *next(iter(arrays.values())).shape)
    axes = _AXES[: len(sizes)]
    for axis, size in zip(axes, sizes, strict=True):
        group.dimensions[axis] = size
        _write_array(group, axis, (axis,), np.arange(size))
    for key, values in arrays.items():
        _write_array(group, key, axes, values[np.newaxis])
    return group


def _write_array(group: Any, name: str, axes: tuple[str, ...], values: npt.NDArray[Any]) -> None:
    truth = values.dtype == np.bool_
    stored = values.astype(np.int8) if truth else values
    variable = group.create_variable(name, axes, data=stored)
    if truth:
        variable.attrs["dtype"] = _TRUTH_VALUE


def _text(text: str) -> np.bytes_:
    """Text of fixed length: HDF5 may crash on damaged text of variable length."""
    return np.bytes_(text.encode("ascii"))


def _read_array(variable: Any) -> npt.NDArray[Any]:
    """The values of one chain."""
    values = np.asarray(variable[0])
    return values.astype(bool) if variable.attrs.get("dtype") == _TRUTH_VALUE else values


def _stats(group: Any) -> dict[str, npt.NDArray[Any]]:
    return {name: _read_array(variable) for name, variable in group.items() if name not in _AXES}
