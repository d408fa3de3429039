"""Base of fitted surrogates: read-only arrays, and files that restore every byte."""

from dataclasses import dataclass, fields

import numpy as np

from rnshmc.errors import StoreError
from rnshmc.files import NpzRecord


@dataclass(frozen=True, eq=False)
class Stored(NpzRecord):
    """Base of frozen dataclasses of arrays, numbers and strings that can be saved to and loaded from an npz file.

    Each array in the fields becomes a private, read-only copy in C order, so that the object shares no memory with its
    caller.
    """

    _damaged = StoreError

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                private = np.array(value, dtype=np.float64, order="C")
                private.setflags(write=False)
                object.__setattr__(self, field.name, private)
