"""Results in files: netCDF that arviz opens, with a group from which all of the result is made again."""

import json
import os
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError
from rnshmc.inference.bend import Bend, Layer
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

GROUP = "rnshmc"
"""Name of the group in the file."""
KINDS = {
    kind.__name__: kind
    for kind in (
        Bend,
        Checked,
        Chosen,
        Corrected,
        Estimate,
        Layer,
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
}
"""What a file may hold: a file makes no object of another class."""

_DAMAGE = (OSError, LookupError, TypeError, ValueError, RuntimeError, AttributeError)
"""Exceptions of the libraries on damaged files."""

Arrays = dict[str, np.ndarray[Any, Any]]


def packed(
    outcome: Outcome,
    transform: Transform,
    names: tuple[str, ...],
    units: tuple[str, ...],
    prediction: Prediction | None,
) -> tuple[str, Arrays]:
    """A description of a run in JSON, and the arrays that it refers to.

    The emulator of a forward model is left out; its prediction takes its place.
    """
    arrays: Arrays = {}
    described: dict[str, Any] = {"outcome": replace(outcome, emulated=None), "transform": transform}
    described |= {"names": names, "units": units, "prediction": prediction}
    return json.dumps({key: _described(value, arrays) for key, value in described.items()}), arrays


def read(
    path: str | os.PathLike[str],
) -> tuple[Outcome, Transform, tuple[str, ...], tuple[str, ...], Prediction | None]:
    """What `packed` described, from a file.

    Raises
    ------
    DataError
        If the file cannot be read, is not of a result, or of another version's.
    """
    try:
        description, arrays = read_group(Path(path), GROUP)
        described = {key: _made(value, arrays) for key, value in json.loads(description).items()}
        return (
            described["outcome"],
            described["transform"],
            described["names"],
            described["units"],
            described.get("prediction"),
        )
    except _DAMAGE as error:
        raise DataError(f"{path} is not a result that this version of rnshmc can read: {error!r}") from error


def _described(value: Any, arrays: Arrays) -> Any:
    """A value as JSON has it, with a tag where JSON has no such kind; arrays are put aside."""
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
