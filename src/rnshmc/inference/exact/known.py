"""Evaluations that the user already has: in a file of this package, an npz file or arrays."""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError, ParameterError
from rnshmc.files import read_npz
from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.inference.exact.lines import in_order, outputs_of, parse, parse_all
from rnshmc.inference.exact.posed import Posed
from rnshmc.inference.given import numbers
from rnshmc.types import Array

Known = str | os.PathLike[str] | Mapping[str, Any] | None
_KEYS = ("points", "log_densities", "gradients")


def read_known(source: Known, names: Sequence[str]) -> tuple[Evaluation, ...]:
    """Read evaluations in the user's coordinates.

    Parameters
    ----------
    source
        A file that `rnshmc.sample` wrote (``filepath=``), an npz file or a mapping with ``points``, shape (n, d),
        ``log_densities``, (n,), and optionally ``gradients`` of the log density, (n, d), with rows of NaN where
        there is none. None: no evaluations.
    names
        Names of the parameters.

    Raises
    ------
    DataError
        If a file cannot be read, or is not of this kind.
    ParameterError
        If an array is missing, unknown or of the wrong shape.
    """
    if source is None:
        return ()
    if isinstance(source, Mapping):
        return _of_arrays(source, "evaluations", len(names))
    path = Path(source)
    if path.suffix == ".npz":
        return _of_arrays(_stored(path), str(path), len(names))
    return parse(_lines(path), path, names)


def read_runs(source: Known, names: Sequence[str], posed: Posed, start: Array) -> tuple[Evaluation, ...]:
    """Read runs of a forward model.

    Parameters
    ----------
    source
        A file that `rnshmc.sample` wrote for this model, with any data of the same names and sizes; an npz file or a
        mapping with ``points``, the model's parameters, shape (n, p), and ``outputs``, (n, m). None: no runs.
    names
        Names of all parameters.
    posed
        The posterior.
    start
        Whose values the parameters of the likelihood have, shape (d,).

    Raises
    ------
    DataError
        If a file cannot be read, or is not of this kind.
    StoreError
        If runs have other outputs than the data, or do not say which.
    ParameterError
        If an array is missing, unknown or of the wrong shape.
    """
    if source is None:
        return ()
    own = start[posed.inputs :]
    kept = names[: posed.inputs]
    path = None if isinstance(source, Mapping) else Path(source)
    if path is not None and path.suffix != ".npz":
        lines = _lines(path)
        runs = in_order(parse(lines, path, kept, runs=True), outputs_of(lines), posed.sizes, path)
        return tuple(replace(one, point=np.concatenate((one.point, own))) for one in runs)
    arrays, where = (source, "evaluations") if path is None else (_stored(path), str(path))
    assert isinstance(arrays, Mapping)
    _check_keys(arrays, where, ("points", "outputs"))
    points, outputs = numbers(arrays["points"], f"{where}, points"), numbers(arrays["outputs"], f"{where}, outputs")
    if points.ndim != 2 or points.shape[1] != len(kept):
        raise ParameterError(f"{where}, points: expected shape (n, {len(kept)}), got {points.shape}")
    if outputs.ndim != 2 or len(outputs) != len(points):
        raise ParameterError(f"{where}, outputs: expected shape ({len(points)}, m), got {outputs.shape}")
    if outputs.shape[1] != (size := sum(posed.sizes.values())):
        raise ParameterError(f"{where}, outputs: a run has {outputs.shape[1]}, and there are {size} data")
    return tuple(
        Evaluation(np.concatenate((x, own)), 0.0, with_gradient=False, run=Run(y))
        for x, y in zip(points, outputs, strict=True)
        if np.isfinite(x).all()
    )


def read_all(path: Path) -> tuple[Evaluation, ...]:
    """All evaluations in a file that `rnshmc.sample` wrote, of a density or runs of a forward model.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    return parse_all(_lines(path), path)


def _lines(path: Path) -> list[str]:
    """The whole lines of a file."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"evaluations: {path} cannot be read: {error}") from error
    return content[: content.rfind("\n") + 1].splitlines()


def _check_keys(arrays: Mapping[str, Any], where: str, needed: Sequence[str], optional: str | None = None) -> None:
    missing = [key for key in needed if key not in arrays]
    unknown = [key for key in arrays if key not in (*needed, optional)]
    if missing or unknown:
        found = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is not known"
        perhaps = f" and perhaps {optional}" if optional else ""
        raise ParameterError(f"{where}: {found}; expected {', '.join(needed)}{perhaps}")


def _stored(path: Path) -> dict[str, Any]:
    """The arrays of an npz file."""
    return read_npz(path, says="cannot be read as evaluations: {}")


def _of_arrays(arrays: Mapping[str, Any], where: str, dim: int) -> tuple[Evaluation, ...]:
    _check_keys(arrays, where, _KEYS[:2], _KEYS[2])
    points = numbers(arrays["points"], f"{where}, points")
    if points.ndim != 2 or points.shape[1] != dim:
        raise ParameterError(f"{where}, points: expected shape (n, {dim}), got {points.shape}")
    densities = numbers(arrays["log_densities"], f"{where}, log_densities")
    if densities.shape != (len(points),):
        raise ParameterError(f"{where}, log_densities: expected shape ({len(points)},), got {densities.shape}")
    given = arrays.get("gradients")
    gradients = np.full(points.shape, math.nan) if given is None else numbers(given, f"{where}, gradients")
    if gradients.shape != points.shape:
        raise ParameterError(f"{where}, gradients: expected shape {points.shape}, got {gradients.shape}")
    return tuple(
        Evaluation(x, -float(density), -slope if there else None, with_gradient=bool(there))
        for x, density, slope, there in zip(
            points, densities, gradients, np.isfinite(gradients).all(axis=1), strict=True
        )
        if np.isfinite(x).all() and density < math.inf
    )
