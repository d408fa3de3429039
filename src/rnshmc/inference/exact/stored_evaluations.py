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
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.exact.lines import in_order, outputs_of, parse, parse_all
from rnshmc.inference.given import numbers
from rnshmc.types import Array

StoredEvaluations = str | os.PathLike[str] | Mapping[str, Any] | None
_UNREADABLE = "cannot be read as evaluations: {}"


def read_known(
    source: StoredEvaluations,
    names: Sequence[str],
    forward_posterior: ForwardPosterior | None = None,
    start: Array | None = None,
) -> tuple[Evaluation, ...]:
    """Read evaluations in the user's coordinates.

    Parameters
    ----------
    source
        A file that `rnshmc.sample` wrote (``filepath=``), an npz file or a mapping with ``points``, shape (n, d),
        ``log_densities``, (n,), and optionally ``gradients`` of the log density, (n, d), with rows of NaN where
        there is none; of a forward model with its parameters as ``points``, (n, p), and ``outputs``, (n, m), for any
        data of the same names and sizes. None: no evaluations.
    names
        Names of the parameters.
    forward_posterior, start
        The posterior of a forward model, and the point whose values the parameters of the likelihood have, (d,).

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
    kept = names if forward_posterior is None else names[: forward_posterior.inputs]
    path = None if isinstance(source, Mapping) else Path(source)
    if path is not None and path.suffix != ".npz":
        lines = _lines(path)
        found = parse(lines, path, kept, runs=forward_posterior is not None)
        if forward_posterior is not None:
            found = in_order(found, outputs_of(lines), forward_posterior.sizes, path)
    else:
        arrays = source if isinstance(source, Mapping) else read_npz(Path(source), says=_UNREADABLE)
        size = None if forward_posterior is None else sum(forward_posterior.sizes.values())
        found = _of_arrays(arrays, str(path or "evaluations"), len(kept), size)
    if forward_posterior is None or start is None:
        return found
    return tuple(replace(one, point=np.concatenate((one.point, start[forward_posterior.inputs :]))) for one in found)


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


def _of_arrays(arrays: Mapping[str, Any], where: str, dim: int, size: int | None) -> tuple[Evaluation, ...]:
    """Log densities, perhaps with gradients, or runs with so many outputs each, at points that are finite."""
    needed, optional = ("points", "log_densities" if size is None else "outputs"), "gradients" if size is None else None
    missing = [key for key in needed if key not in arrays]
    unknown = [key for key in arrays if key not in (*needed, optional)]
    if missing or unknown:
        found = f"{missing[0]!r} is missing" if missing else f"{unknown[0]!r} is not known"
        perhaps = f" and perhaps {optional}" if optional else ""
        raise ParameterError(f"{where}: {found}; expected {', '.join(needed)}{perhaps}")
    points, values = (numbers(arrays[key], f"{where}, {key}") for key in needed)
    if points.ndim != 2 or points.shape[1] != dim:
        raise ParameterError(f"{where}, points: expected shape (n, {dim}), got {points.shape}")
    finite = np.isfinite(points).all(axis=1)
    if size is not None:
        if values.ndim != 2 or len(values) != len(points):
            raise ParameterError(f"{where}, outputs: expected shape ({len(points)}, m), got {values.shape}")
        if values.shape[1] != size:
            raise ParameterError(f"{where}, outputs: a run has {values.shape[1]}, and there are {size} data")
        runs = zip(points[finite], values[finite], strict=True)
        return tuple(Evaluation(x, 0.0, with_gradient=False, run=Run(y)) for x, y in runs)
    if values.shape != (len(points),):
        raise ParameterError(f"{where}, log_densities: expected shape ({len(points)},), got {values.shape}")
    given = arrays.get("gradients")
    gradients = np.full(points.shape, math.nan) if given is None else numbers(given, f"{where}, gradients")
    if gradients.shape != points.shape:
        raise ParameterError(f"{where}, gradients: expected shape {points.shape}, got {gradients.shape}")
    sloped, usable = np.isfinite(gradients).all(axis=1), finite & (values < math.inf)
    return tuple(
        Evaluation(points[i], -float(values[i]), -gradients[i] if sloped[i] else None, with_gradient=bool(sloped[i]))
        for i in np.flatnonzero(usable)
    )
