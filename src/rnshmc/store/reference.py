"""Reference posterior moments on disk."""

import json
from collections.abc import Mapping
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.diagnostics.reference import Reference
from rnshmc.errors import StoreError
from rnshmc.files import atomic_path, read_npz


def write_reference(
    path: Path, reference: Reference, *, origin: str, settings: Mapping[str, Any], provenance: Mapping[str, Any]
) -> None:
    """Write an npz file: the fields of `Reference`, the origin of the data, and its provenance as JSON."""
    with atomic_path(path) as temporary:
        np.savez(
            temporary,
            **asdict(reference),
            origin=origin,
            settings=json.dumps(settings, sort_keys=True),
            provenance=json.dumps(provenance, sort_keys=True),
        )


def read_reference(path: Path) -> Reference:
    """Read a file written by `write_reference`.

    Raises `StoreError` if the file is missing, truncated or not a reference.
    """
    says = "cannot be read as a reference ({}); delete it and run again"
    arrays: dict[str, Any] = read_npz(path, *(field.name for field in fields(Reference)), says=says, error=StoreError)
    draws, chains = (int(arrays.pop(name)) for name in ("draws", "chains"))
    return Reference(**arrays, draws=draws, chains=chains)
