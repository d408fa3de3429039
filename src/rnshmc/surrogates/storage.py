"""Base of fitted surrogates: read-only arrays, and files that restore every byte."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Self

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.files import atomic_path, read_npz


@dataclass(frozen=True, eq=False)
class Stored:
    """Base of frozen dataclasses of arrays, numbers and strings that can be saved to and loaded from an npz file.

    Each array in the fields becomes a private, read-only copy in C order, so that the object shares no memory with its
    caller.
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                private = np.array(value, dtype=np.float64, order="C")
                private.setflags(write=False)
                object.__setattr__(self, field.name, private)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file written by `save`.

        Raises `StoreError` if the file cannot be read or lacks a field; the message names both.
        """
        says = f"not a saved {cls.__name__}: {{}}"
        entries = read_npz(path, *(field.name for field in fields(cls)), says=says, error=StoreError)
        return cls(**{name: entry if entry.ndim else entry.item() for name, entry in entries.items()})

    def save(self, path: str | Path) -> None:
        """Write the fields to an npz file; equal fields give equal bytes."""
        with atomic_path(Path(path)) as temporary:
            np.savez(temporary, **{field.name: getattr(self, field.name) for field in fields(self)})
