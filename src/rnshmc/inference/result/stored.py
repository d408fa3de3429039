"""Results in files: netCDF that arviz opens, with a group from which the result is restored."""

import json
import os
import re
from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from rnshmc.diagnostics.summary import since_one
from rnshmc.errors import DataError
from rnshmc.files import buffered, content_sha256
from rnshmc.inference.angles import Angles
from rnshmc.inference.exact.evaluation import Spent
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
ENGINE: Literal["h5netcdf"] = "h5netcdf"
"""Library that writes and reads files; arviz before 1.0 brings it."""
_HASH = "sha256"
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


def write(path: str | os.PathLike[str], data: Any, **parts: Any) -> None:
    """Write draws for arviz with one more group, of the `PARTS` of a result: their description in JSON and arrays.

    A `StoreError` is raised if the disk is full or not writable.
    """
    import xarray as xr

    arrays: Arrays = {}
    description = json.dumps({key: _described(parts[key], arrays) for key in PARTS})
    variables = {
        name: xr.Variable([f"{name}_{axis}" for axis in range(array.ndim)], array) for name, array in arrays.items()
    }
    dataset = xr.Dataset(variables, attrs={"description": description, _HASH: content_sha256(description, arrays)})
    tree = data if since_one() else xr.DataTree.from_dict({name: data[name] for name in data.groups()})
    with buffered(Path(path)) as content:
        tree.assign({GROUP: xr.DataTree(dataset)}).to_netcdf(content, engine=ENGINE)


def read(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the `PARTS` of a result; raises a `DataError` if the file is not a result of this version."""
    import xarray as xr

    try:
        with xr.open_dataset(Path(path), group=GROUP, engine=ENGINE) as dataset:
            arrays = {str(name): np.asarray(found) for name, found in dataset.data_vars.items()}
            description = str(dataset.attrs["description"])
            # Files of earlier versions have no hash.
            if dataset.attrs.get(_HASH, (digest := content_sha256(description, arrays))) != digest:
                raise ValueError("its content and the hash in it differ")
        described = {"prediction": None, **json.loads(description)}
        return {key: _made(described[key], arrays) for key in PARTS}
    except _DAMAGE as error:
        raise DataError(f"{path} is not a result that this version of rnshmc can read: {error!r}") from error


def names_in_files(names: Sequence[str]) -> tuple[str, ...]:
    """Names of variables with percent-encoded characters that netCDF refuses, such as / between groups."""
    return tuple("%2E" if name == "." else re.sub("[%/\0]", lambda one: f"%{ord(one[0]):02X}", name) for name in names)


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
