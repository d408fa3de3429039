"""Results in files: netCDF that arviz opens, with a group from which the result is restored."""

import json
import os
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError
from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.evaluation import Spent
from rnshmc.inference.result.arviz_view import read_group
from rnshmc.inference.result.corrected import Corrected
from rnshmc.inference.result.estimates import Estimate
from rnshmc.inference.result.mixture import Mixture
from rnshmc.inference.result.outcome import ModeFound, Outcome
from rnshmc.inference.result.prediction import Prediction
from rnshmc.inference.stages.correction import Checked
from rnshmc.inference.stages.walls import Wall
from rnshmc.inference.surrogate.uncertainty import Paths, Tails
from rnshmc.inference.surrogate.weights import Chosen, Weights
from rnshmc.inference.transforms import Transform
from rnshmc.inference.warp import Warp, WarpLayer

GROUP = "rnshmc"
"""Name of the group in the file."""
KINDS = {
    kind.__name__: kind
    for kind in (
        Angles,
        Warp,
        Checked,
        Chosen,
        Corrected,
        Estimate,
        WarpLayer,
        Mixture,
        ModeFound,
        Outcome,
        Paths,
        Prediction,
        Spent,
        Tails,
        Transform,
        Wall,
        Weights,
    )
} | {"Bend": Warp, "Layer": WarpLayer}
"""Classes that a file may hold, the last two by their names in earlier files; it makes no object of another one."""

PARTS = ("outcome", "transform", "names", "units", "prediction")
"""Parts from which a result is restored."""
_DAMAGE = (OSError, LookupError, TypeError, ValueError, RuntimeError, AttributeError)
"""Exceptions of the libraries on damaged files."""

Arrays = dict[str, np.ndarray[Any, Any]]


def packed(**parts: Any) -> tuple[str, Arrays]:
    """A description of the `PARTS` of a result in JSON, and the arrays that it refers to."""
    arrays: Arrays = {}
    return json.dumps({key: _described(parts[key], arrays) for key in PARTS}), arrays


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the `PARTS` of a result; raises a `DataError` if the file is not a result of this version."""
    try:
        description, arrays = read_group(Path(path), GROUP)
        described = {"prediction": None, **json.loads(description)}
        return {key: _made(described[key], arrays) for key in PARTS}
    except _DAMAGE as error:
        raise DataError(f"{path} is not a result that this version of rnshmc can read: {error!r}") from error


def _described(value: Any, arrays: Arrays) -> Any:
    """A value for JSON, with a tag where JSON has no such kind; arrays are put aside."""
    if is_dataclass(value):
        described = {field.name: _described(getattr(value, field.name), arrays) for field in fields(value)}
        return {"kind": type(value).__name__, "fields": described}
    if isinstance(value, np.ndarray):
        if not value.size:  # netCDF knows no dimension of length 0
            return {"kind": "empty", "shape": value.shape}
        arrays[f"array{len(arrays)}"] = value
        return {"kind": "array", "name": f"array{len(arrays) - 1}"}
    if isinstance(value, tuple):
        return {"kind": "tuple", "entries": [_described(one, arrays) for one in value]}
    if isinstance(value, dict):
        return {"kind": "dict", "entries": {key: _described(one, arrays) for key, one in value.items()}}
    return value.item() if isinstance(value, np.generic) else value


def _made(described: Any, arrays: Arrays) -> Any:
    """The value of a description."""
    if not isinstance(described, dict):
        return described
    match described["kind"]:
        case "empty":
            return np.empty(described["shape"])
        case "array":
            return arrays[described["name"]]
        case "tuple":
            return tuple(_made(one, arrays) for one in described["entries"])
        case "dict":
            return {key: _made(one, arrays) for key, one in described["entries"].items()}
        case kind:
            return KINDS[kind](**{name: _made(one, arrays) for name, one in described["fields"].items()})
