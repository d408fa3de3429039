"""Reference posterior moments on disk."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from rnshmc.diagnostics.reference import Reference
from rnshmc.errors import StoreError
from rnshmc.files import atomic_path


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

    Raises
    ------
    StoreError
        If the file is missing, truncated or not a reference.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            return Reference(
                **{name: file[name] for name in ("mean", "sd", "mcse_mean", "mcse_sd", "ess_bulk")},
                draws=int(file["draws"]),
                chains=int(file["chains"]),
            )
    except (OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: cannot be read as a reference ({error}); delete it and run again") from error
