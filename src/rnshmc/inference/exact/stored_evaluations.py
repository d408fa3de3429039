"""Evaluations that the user already has, in a file of this package, an npz file or arrays, and a selection of them."""

import logging
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import DataError, ParameterError
from rnshmc.files import read_npz
from rnshmc.inference.exact.evaluation import Evaluation, Run, within
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.exact.lines import in_order, outputs_of, parse
from rnshmc.inference.given import numbers
from rnshmc.inference.transforms import Transform
from rnshmc.types import Array

StoredEvaluations = str | os.PathLike[str] | Mapping[str, Any] | None
_UNREADABLE = "cannot be read as evaluations: {}"

_log = logging.getLogger(__name__)


def read_known(
    source: StoredEvaluations,
    names: Sequence[str],
    forward_posterior: ForwardPosterior | None = None,
    start: Array | None = None,
) -> tuple[Evaluation, ...]:
    """The argument ``evaluations`` of `rnshmc.sample` in the user's coordinates, for parameters with these names.

    Runs of a forward model are for any data of the same names and sizes; their points get the likelihood's parameters
    from ``start``, shape (d,), if that is given.

    Raises `DataError` if a file cannot be read or is of another kind, `StoreError` if runs have other outputs than the
    data, or in an unknown order, and `ParameterError` if an array is missing, unknown or of the wrong shape.
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
    """All evaluations in a file of `rnshmc.sample`, log densities or runs; a `DataError` if it cannot be read."""
    return parse(_lines(path), path)


def _lines(path: Path) -> list[str]:
    """The complete lines of a file."""
    try:
        content = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"evaluations: {path} cannot be read: {error}") from error
    return content[: content.rfind("\n") + 1].splitlines()


def _of_arrays(arrays: Mapping[str, Any], where: str, dim: int, size: int | None) -> tuple[Evaluation, ...]:
    """Log densities, optionally with gradients, or runs with ``size`` outputs each, at the finite points."""
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


def chosen(
    known: Sequence[Evaluation],
    transform: Transform,
    forward_posterior: ForwardPosterior | None,
    *,
    most: int,
    height: float,
) -> tuple[Evaluation, ...]:
    """At most ``most`` evaluations: those of the lowest potentials, or a selection spread over all plausible ones.

    Potentials are compared in the unconstrained coordinates of ``transform``; a point is plausible up to a ``height``
    above the lowest.
    """
    if len(known) <= most:
        return tuple(known)
    usable = within(known, transform)
    if len(usable) <= most:
        return tuple(usable)
    points = transform.coordinates(np.array([one.point for one in usable]))
    values = np.array(
        [(one if forward_posterior is None else forward_posterior.read(one, one.point)).value for one in usable]
    )
    potentials = np.nan_to_num(values - transform.log_jacobians(points), nan=np.inf)
    order = np.argsort(potentials, kind="stable")
    plausible = int(np.count_nonzero(potentials <= potentials[order[0]] + height))
    taken = order[:most] if plausible <= most else order[:plausible][_spread(points[order[:plausible]], most)]
    _log.warning(
        "evaluations: %d of %d are used, chosen near the mode; a surrogate can use no more", len(taken), len(known)
    )
    return tuple(usable[i] for i in np.sort(taken))


def _spread(points: Array, most: int) -> npt.NDArray[np.intp]:
    """Indices of the first point and of others, each as far as possible from all before; fewer where some are equal.

    Distances are in units of the points' standard deviations.
    """
    z = (points - points.mean(axis=0)) / np.maximum(points.std(axis=0), np.finfo(float).tiny)
    taken, distances = [0], ((z - z[0]) ** 2).sum(axis=1)
    while len(taken) < most and distances.any():
        taken.append(int(np.argmax(distances)))
        distances = np.minimum(distances, ((z - z[taken[-1]]) ** 2).sum(axis=1))
    return np.array(taken)
