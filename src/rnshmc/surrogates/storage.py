"""What fitted surrogates have in common as objects: arrays that do not change, and files that keep every byte."""

import zipfile
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.files import atomic_path

T = TypeVar("T")


def freeze_arrays(surrogate: Any) -> None:
    """Replace each array in the fields of a frozen dataclass by a private, read-only copy in C order.

    For use in ``__post_init__``: the object can then share no memory with whoever made it.
    """
    for field in fields(surrogate):
        value = getattr(surrogate, field.name)
        if isinstance(value, np.ndarray):
            private = np.array(value, dtype=np.float64, order="C")
            private.setflags(write=False)
            object.__setattr__(surrogate, field.name, private)


def save(surrogate: Any, path: str | Path) -> None:
    """Write the fields of a dataclass, arrays, numbers and strings, to an npz file; equal fields give equal bytes."""
    with atomic_path(Path(path)) as temporary:
        np.savez(temporary, **{field.name: getattr(surrogate, field.name) for field in fields(surrogate)})


def load(cls: type[T], path: str | Path) -> T:
    """The instance of the dataclass ``cls`` that `save` wrote.

    Raises
    ------
    StoreError
        If the file cannot be read or lacks a field; the message names both.
    """
    try:
        with Path(path).open("rb") as file, np.load(file, allow_pickle=False) as stored:
            entries = {field.name: stored[field.name] for field in fields(cls)}  # type: ignore[arg-type]
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile) as error:
        raise StoreError(f"{path}: not a saved {cls.__name__}: {error}") from error
    return cls(**{name: entry if entry.ndim else entry.item() for name, entry in entries.items()})
