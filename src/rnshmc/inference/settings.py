"""`rnshmc.sample` from a settings file.

    target: {kind: python, path: my_model.py, make: posterior}
    x0: [0.0, 1.0]
    names: [shift, scale]
    bounds: {scale: positive}
    output: draws.nc

``make`` names a function of the file that takes no arguments (or those under ``settings``) and returns a target of
`sample`. ``{kind: umbridge, url: ..., data: ..., noise_sd: ...}`` is a `UMBridge`, with arguments by name. All other
keys are arguments of `sample`. Paths are relative to the file.
"""

import difflib
import inspect
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError, ParameterError, StoreError
from rnshmc.files import read_yaml, write_remedy
from rnshmc.inference.call import sample
from rnshmc.inference.exact.umbridge import UMBridge
from rnshmc.inference.result.result import Result
from rnshmc.targets.own import made


def run_file(path: Path) -> tuple[Result, Path]:
    """Sample the posterior of a settings file; return the result and the path of its output.

    Besides errors of `sample`, a `DataError` is raised if the file cannot be read, and a `ParameterError` if a key is
    missing, misspelt or cannot be used, or the output cannot be written; that is checked before any evaluation.
    """
    settings = read_yaml(path)
    if not isinstance(settings, dict):
        raise DataError(f"{path}: expected keys and values, such as target and x0")
    # Functions are not in a file.
    known = inspect.signature(sample).parameters.keys() - {"gradient", "callback"} | {"output"}
    check_keys(settings, known, required=("target", "x0"), where=str(path))
    folder = path.parent
    output = folder / _word(settings.pop("output", f"{path.stem}.nc"), "output", "the path of a file")
    _check_output(output)
    target = make_target(settings.pop("target"), folder)
    for key in ("filepath", "evaluations"):
        if isinstance(settings.get(key), str):
            settings[key] = folder / settings[key]
    return sample(target, settings.pop("x0"), **settings), output


def save(result: Result, output: Path) -> None:
    """Write a result as netCDF; if that fails, to a new temporary folder, its draws as npz if need be.

    A `StoreError` then reports where the draws are.
    """
    try:
        result.save(output)
    except Exception as error:  # libraries for netCDF raise errors of many types
        where = _rescued(result, output.name)
        raise StoreError(f"output: {output} was not written ({' '.join(str(error).split())}); {where}") from error


def _rescued(result: Result, name: str) -> str:
    """Write a result to a temporary file, and return a sentence on its place."""
    try:
        file = Path(tempfile.mkdtemp(prefix="rnshmc-")) / name
        try:
            result.save(file)
        except Exception:
            file = file.with_suffix(".npz")
            np.savez(file, names=np.array(result.names), draws=result.draws, chains=result.chains)
    except Exception:
        return "and no temporary file could be written. With the key filepath, the same command repeats no evaluation"
    return f"the draws are in {file}"


def _check_output(output: Path) -> None:
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=output.parent):
            pass
    except OSError as error:
        raise ParameterError(f"output: {output} cannot be written: {write_remedy(error) or error}") from error
    if output.is_dir():
        raise ParameterError(f"output: {output} is a folder; name a file, such as draws.nc")


def make_target(entry: Any, folder: Path) -> Any:
    """The target of an entry of a settings file; a `ParameterError` names a key that cannot be used."""
    if not isinstance(entry, Mapping):
        raise ParameterError(f"target: expected kind: python or kind: umbridge with their keys, got {entry!r}")
    keys = {key: value for key, value in entry.items() if key != "kind"}
    match entry.get("kind"):
        case "python":
            check_keys(keys, {"path", "make", "settings"}, required=("path", "make"), where="target")
            file = folder / _word(keys["path"], "target, path", "the path of a Python file")
            make = _word(keys["make"], "target, make", "the name of a function")
            arguments = keys.get("settings") or {}
            if not (isinstance(arguments, Mapping) and all(isinstance(key, str) for key in arguments)):
                raise ParameterError(f"target, settings: expected arguments of {make} by name, got {arguments!r:.80}")
            return made(file, make, arguments)
        case "umbridge":
            check_keys(keys, inspect.signature(UMBridge).parameters.keys(), required=("url",), where="target")
            if isinstance(prior := keys.get("prior"), Mapping):
                check_keys(prior, {"mean", "sd"}, required=("mean", "sd"), where="target, prior")
                keys["prior"] = (prior["mean"], prior["sd"])
            elif isinstance(prior, list):  # YAML has no tuples
                keys["prior"] = tuple(prior)
            return UMBridge(**keys)
        case kind:
            raise ParameterError(f"target: expected the kind python or umbridge, got {kind!r}")


def check_keys(settings: Mapping[str, Any], known: Any, *, required: tuple[str, ...], where: str) -> None:
    """Check that all keys are known and none is missing; a `ParameterError` names the key and the closest known one."""
    for key in settings:
        if key not in known:
            near = difflib.get_close_matches(str(key), sorted(known), n=1)
            meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
            raise ParameterError(f"{where}: {key!r} is not known; {meant}")
    for key in required:
        if key not in settings:
            raise ParameterError(f"{where}: {key!r} is missing")


def _word(value: Any, key: str, expected: str) -> str:
    if not isinstance(value, str):
        raise ParameterError(f"{key}: expected {expected}, got {value!r:.80}")
    return value
