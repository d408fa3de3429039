"""Data as one vector without the missing entries."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.types import Array


@dataclass(frozen=True, eq=False)
class FlatData:
    """The entries with data, in the order of the outputs.

    Attributes
    ----------
    values
        The data, shape (m,).
    present
        Their indices among all entries, shape (m,).
    shapes
        Shape of each array, by its name.
    """

    values: Array
    present: npt.NDArray[np.intp]
    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number M of entries, with those that are missing."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def spread(self, what: str, given: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """An array that broadcasts to the data, at the entries with data: shape (m,).

        Raises
        ------
        ParameterError
            If it does not broadcast; the message starts with ``what``.
        """
        parts = []
        for name, shape in self.shapes.items():
            try:
                parts.append(np.broadcast_to(given, shape).ravel())
            except ValueError:
                raise ParameterError(
                    f"{what}: expected an array that broadcasts to {described(name)} of shape {shape}, "
                    f"got shape {given.shape}"
                ) from None
        entries: npt.NDArray[np.generic] = np.concatenate(parts)[self.present]
        return entries

    def where(self, flags: npt.NDArray[np.bool_]) -> str:
        """The first entry that is flagged, in words, for a message."""
        entry, name, index = next(entry for entry, flag in zip(self._entries(), flags, strict=True) if flag)
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return f"{entry} in {described(name)}{place}"

    def _entries(self) -> Iterator[tuple[float, str, tuple[int, ...]]]:
        """Value, name of the array and index in it, of each entry with data."""
        places = [(name, index) for name, shape in self.shapes.items() for index in np.ndindex(shape)]
        return ((value, *places[flat]) for value, flat in zip(self.values.tolist(), self.present, strict=True))


def flattened(data: Mapping[str, Array]) -> FlatData:
    """The data of a mapping as a vector; NaN marks missing entries.

    Raises
    ------
    ParameterError
        If an entry is no real number or infinite, or all entries are missing.
    """
    arrays = {name: _numbers(name, array) for name, array in data.items()}
    vector = np.concatenate([array.ravel() for array in arrays.values()] or [np.empty(0)])
    present = np.flatnonzero(~np.isnan(vector))
    flat = FlatData(vector[present], present, {name: array.shape for name, array in arrays.items()})
    if len(present) == 0:
        raise ParameterError(f"data: all {len(vector)} entries are missing (NaN), expected at least one number")
    if np.isinf(flat.values).any():
        raise ParameterError(
            f"data: got {flat.where(np.isinf(flat.values))}, expected finite numbers, or NaN where data are missing"
        )
    return flat


def _numbers(name: str, array: npt.ArrayLike) -> Array:
    given = np.asarray(array)
    if given.dtype.kind not in "fiub":
        raise ParameterError(f"data: expected real numbers in {described(name)}, got {given.dtype}")
    return given.astype(np.float64)


def described(name: str) -> str:
    """An array of the data in words."""
    return f"data {name!r}" if name else "the data"
