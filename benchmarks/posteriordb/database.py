"""Posteriors with reference draws, from a folder of them or from a clone of posteriordb.

A folder of posteriors has ``<posterior>/model.stan``, ``data.json`` and ``reference.npz`` (``names`` (k,), ``draws``
(chains, n, k), on the constrained scale). A clone of posteriordb has ``posterior_database/``, laid out as its README
says (Magnusson et al., https://github.com/stan-dev/posteriordb).
"""

import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.errors import DataError
from rnshmc.types import Array


@dataclass(frozen=True)
class Posterior:
    """A Stan program, its data, and nearly independent draws of its posterior."""

    name: str
    code: str
    data: dict[str, Any]
    names: tuple[str, ...]
    """Of the constrained parameters that have reference draws, as Stan prints them: ``beta[1]``."""
    draws: Array
    """Shape (n, k)."""


def names(folder: Path) -> list[str]:
    """The posteriors of a database that have reference draws.

    Raises
    ------
    DataError
        If there are none.
    """
    found = sorted(_of_clone(folder) if _clone(folder) else (path.parent.name for path in folder.glob("*/model.stan")))
    if not found:
        raise DataError(f"{folder}: neither <posterior>/model.stan nor posterior_database/posteriors in this folder")
    return found


def read(folder: Path, name: str) -> Posterior:
    """A posterior of a database by its name."""
    reader: Callable[[Path, str], Posterior] = _from_clone if _clone(folder) else _from_folder
    try:
        return reader(folder, name)
    except (OSError, KeyError, ValueError) as error:
        raise DataError(f"{folder}: posterior {name} cannot be read: {error}") from error


def _clone(folder: Path) -> bool:
    return (folder / "posterior_database").is_dir()


def _of_clone(folder: Path) -> list[str]:
    posteriors = (folder / "posterior_database/posteriors").glob("*.json")
    return [path.stem for path in posteriors if json.loads(path.read_text()).get("reference_posterior_name")]


def _from_folder(folder: Path, name: str) -> Posterior:
    own = folder / name
    reference = np.load(own / "reference.npz")
    draws = reference["draws"].reshape(-1, len(reference["names"])).astype(np.float64)
    data = json.loads((own / "data.json").read_text())
    return Posterior(name, (own / "model.stan").read_text(), data, tuple(map(str, reference["names"])), draws)


def _from_clone(folder: Path, name: str) -> Posterior:
    root = folder / "posterior_database"
    about = json.loads((root / f"posteriors/{name}.json").read_text())
    code = (root / f"models/stan/{about['model_name']}.stan").read_text()
    data = _zipped(root / f"data/data/{about['data_name']}.json.zip")
    reference = about["reference_posterior_name"]
    chains = _zipped(root / f"reference_posteriors/draws/draws/{reference}.json.zip")
    seen = tuple(chains[0])
    draws = np.concatenate([np.column_stack([chain[name] for name in seen]) for chain in chains])
    return Posterior(name, code, data, seen, draws.astype(np.float64))


def _zipped(path: Path) -> Any:
    with zipfile.ZipFile(path) as archive:
        return json.loads(archive.read(archive.namelist()[0]))
