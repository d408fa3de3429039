"""The lines of a file of evaluations, in the user's coordinates.

    {"x": [0.5, 2.0], "log_density": -3.1, "gradient": [0.2, -1.0]}
    {"x": [9.0, 2.0], "log_density": null, "gradient": null, "failure": "ValueError: no convergence"}

or, of runs of a forward model,

    {"x": [0.5, 2.0], "outputs": [1.2, 0.3, 0.1]}
    {"x": [9.0, 2.0], "outputs": null, "failure": "ValueError: no convergence"}

with "jacobian", or "along" and "pulled", where derivatives were requested. JSON has no infinities: the logarithm of a
zero density is "-inf". The key gradient is missing where none was requested. Doubles are read back exactly. The first
line of a file of runs has the number of outputs under each name of the data, in the order of the outputs in the lines.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError, StoreError
from rnshmc.inference.exact.evaluation import Evaluation, Run
from rnshmc.types import Array

_DENSITIES, _RUNS = "rnshmc evaluations 1", "rnshmc runs 1"
_UNKNOWN = "the file gives no reason"
_PARTS = ("jacobian", "along", "pulled")
_MALFORMED = (ValueError, TypeError, KeyError, IndexError, OverflowError)


def format_of(runs: bool) -> str:
    """Format in the first line of a file of runs or of log densities."""
    return _RUNS if runs else _DENSITIES


def written(found: Evaluation, dim: int, *, runs: bool) -> dict[str, Any]:
    """An evaluation as the content of a line, of a file of runs or of log densities of ``dim`` parameters."""
    # A run that no worker answered has the parameters of the likelihood, too, after those of the model.
    x = found.point[:dim].tolist()
    why = {} if found.failure is None else {"failure": found.failure}
    if runs:
        outputs = None if found.run is None else _numbers(found.run.outputs)
        parts = {name: _numbers(part) for name in _PARTS if (part := getattr(found.run, name, None)) is not None}
        asked: dict[str, Any] = {"derivatives": True} if found.with_gradient else {}
        return {"x": x, "outputs": outputs, **parts, **asked, **why}
    gradient = None if found.gradient is None else (-found.gradient).tolist()
    asked = {"gradient": gradient} if found.with_gradient else {}
    density = None if found.failed else -found.value if math.isfinite(found.value) else "-inf"
    return {"x": x, "log_density": density, **asked, **why}


def _numbers(array: Array) -> Any:
    """As lists, with null where numbers are not finite."""
    return np.where(np.isfinite(array), array, None).tolist()  # type: ignore[call-overload]


def _header(lines: Sequence[str], path: Path) -> tuple[str, list[str]]:
    """Format of a file, and the names of its parameters."""
    try:
        header = json.loads(lines[0])
        kind, names = header["format"], [str(name) for name in header["names"]]
        sound = all(isinstance(size, int) for size in (header.get("outputs") or {}).values())
    except (*_MALFORMED, AttributeError):
        kind, names, sound = "", [], False
    if not sound or kind not in (_DENSITIES, _RUNS):
        raise DataError(f"{path} is not a file of evaluations of rnshmc; name another one")
    return kind, names


def parse(
    lines: Sequence[str], path: Path, names: Sequence[str] | None = None, *, runs: bool = False
) -> tuple[Evaluation, ...]:
    """The evaluations in the lines of a file, runs or log densities of these parameters; None: of any.

    Raises `DataError` if a line is malformed, and `StoreError` if the file has another content.
    """
    kind, theirs = _header(lines, path)
    if names is None:
        names, runs = theirs, kind == _RUNS
    if kind != format_of(runs):
        holds, wants = ("runs of a forward model", "log densities")[:: 1 if kind == _RUNS else -1]
        raise StoreError(f"{path} holds {holds}, and this target has {wants}; name another file")
    if theirs != list(names):
        raise StoreError(
            f"{path} holds evaluations of the parameters {', '.join(theirs)}, this target has {', '.join(names)}; "
            "name another file"
        )
    numbered = enumerate(lines[1:], start=2)
    return tuple(_record(line, f"{path}, line {i}", len(names), runs=runs) for i, line in numbered)


def outputs_of(lines: Sequence[str]) -> dict[str, int] | None:
    """The number of outputs of each run under each name, in their order; None where the first line has none."""
    found: dict[str, int] | None = json.loads(lines[0]).get("outputs")
    return found


def in_order(
    runs: Sequence[Evaluation], theirs: Mapping[str, int] | None, wanted: Mapping[str, int], path: Path
) -> tuple[Evaluation, ...]:
    """Runs with their outputs in the order of the data; ``theirs`` is None where their file has no order.

    Raises `StoreError` if the outputs differ, or their order is unknown.
    """
    if theirs is None and len(wanted) > 1:
        raise StoreError(
            f"{path} does not record the order of its runs' outputs {listed(wanted)}; pass them as a mapping with "
            "points and outputs"
        )
    theirs = wanted if theirs is None else theirs
    if dict(theirs) != dict(wanted):
        raise StoreError(f"{path} holds runs with the outputs {listed(theirs)}; the data are {listed(wanted)}")
    starts = dict(zip(theirs, np.cumsum([0, *theirs.values()]), strict=False))
    order = np.concatenate([starts[name] + np.arange(size) for name, size in wanted.items()])

    def arranged(run: Run) -> Run:
        if len(run.outputs) != len(order):
            raise StoreError(f"{path} holds a run with {len(run.outputs)} outputs, and there are {len(order)} data")
        parts = {name: part[order] for name in _PARTS[:2] if (part := getattr(run, name)) is not None}
        return replace(run, outputs=run.outputs[order], **parts)

    return tuple(one if one.run is None else replace(one, run=arranged(one.run)) for one in runs)


def listed(outputs: Mapping[str, int]) -> str:
    """Names of outputs with their sizes."""
    return ", ".join(f"{name} ({size})" if name else str(size) for name, size in outputs.items())


def _refused(constant: str) -> float:
    """Refuse NaN and Infinity, which Python reads, but are no JSON."""
    raise ValueError(f"{constant} is not a finite number")


def _finite(entries: Any, *, missing: bool = False) -> Array:
    """Numbers of a line as an array; with ``missing``, NaN where it has null."""
    array = np.array(entries, dtype=np.float64)
    if np.isinf(array).any() or (np.isnan(array).any() and not missing):
        raise ValueError("a number is not finite")
    return array


def _log_density(entry: Any) -> float:
    if entry == "-inf":
        return -math.inf
    if isinstance(entry, bool) or not isinstance(entry, int | float) or not math.isfinite(entry):
        raise ValueError(f'log_density is {entry!r:.80}, expected a finite number, null or "-inf"')
    return float(entry)


def _record(line: str, where: str, dim: int, *, runs: bool) -> Evaluation:
    """The evaluation of a line: a log density, perhaps with its gradient, or a run of a forward model."""
    try:
        entry = json.loads(line, parse_constant=_refused)
        found = _run(entry, dim) if runs else _evaluation(entry)
    except _MALFORMED as error:
        raise DataError(f"{where}: not {'a run' if runs else 'an evaluation'} ({error}); remove the line") from error
    if found.point.shape != (dim,) or not _fits(found, dim):
        raise DataError(f"{where}: expected {dim} parameters, and derivatives by as many; remove the line")
    return found


def _evaluation(entry: Any) -> Evaluation:
    density, gradient = entry["log_density"], entry.get("gradient")
    return Evaluation(
        point=_finite(entry["x"]),
        value=math.inf if density is None else -_log_density(density),
        gradient=None if gradient is None else -_finite(gradient),
        failure=entry.get("failure", _UNKNOWN if density is None else None),
        with_gradient="gradient" in entry,
    )


def _run(entry: Any, dim: int) -> Evaluation:
    # Old files: failed runs have no key outputs, and the parameters of the likelihood after those of the model.
    missing = "outputs" not in entry and "failure" in entry
    outputs = None if missing else entry["outputs"]
    parts = {name: _finite(entry[name], missing=True) for name in _PARTS if name in entry}
    run = None if outputs is None else Run(_finite(outputs, missing=True), **parts)
    failure, value = entry.get("failure", _UNKNOWN if run is None else None), math.inf if run is None else 0.0
    asked = "derivatives" in entry
    return Evaluation(_finite(entry["x"])[:dim], value, None, failure, with_gradient=asked, run=run)


def _fits(found: Evaluation, dim: int) -> bool:
    run = found.run
    if run is None:
        return found.gradient is None or found.gradient.shape == (dim,)
    m = run.outputs.shape
    shapes = ((run.jacobian, (*m, dim)), (run.along, m), (run.pulled, (dim,)))
    return len(m) == 1 and all(part is None or part.shape == shape for part, shape in shapes)
