"""Interfaces of likelihoods, data as one vector, and positive arguments that broadcast to it.

Outputs of a forward model are flat: the M numbers of all its arrays, each in C order, in the order of the data. A
likelihood reads them through *predictors*: smooth, unbounded functions of the outputs at the entries with data. An
emulator learns the predictors; everything computed from them is exact.
"""

import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers
from rnshmc.types import Array

Bound = tuple[float | None, float | None]
Given = npt.ArrayLike | Sequence[str]
"""A number, an array that broadcasts to the data, a name, or names along the last axis of the data."""


@runtime_checkable
class Observed(Protocol):
    """-log p(data | outputs, own parameters) with the data bound, for k rows."""

    @property
    def present(self) -> npt.NDArray[np.intp]:
        """Indices, among the M outputs, of the entries with data; shape (m,)."""

    def predictors(self, outputs: Array) -> Array:
        """Predictors of outputs, (k, M) -> (k, m). NaN where an output is impossible, such as a negative mean."""

    def outputs(self, predictors: Array) -> Array:
        """Outputs at the entries with data, of predictors: (k, m) -> (k, m)."""

    def jacobian(self, outputs: Array, jacobian: Array) -> Array:
        """Jacobian of the predictors at one position, (m, p), from the outputs (M,) and their Jacobian (M, p)."""

    def pulled_back(self, outputs: Array, slopes: Array) -> Array:
        """Derivative by the outputs at one position, (M,), from the derivative by the predictors, (m,)."""

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood (k,), its derivatives by the predictors (k, m) and by the own parameters (k, h).

        ``own`` is in the user's coordinates. Constants are included: the likelihood is the density, or the probability,
        of the data as given. Where own parameters or predictors are impossible, the value is inf and the derivatives
        are zero.
        """

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives of -log likelihood by each predictor, (k, m), positive."""

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data, (k, m), on the scale of the data."""


@runtime_checkable
class Likelihood(Protocol):
    """A likelihood before it has data."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its own unknown parameters, h of them, each once."""

    @property
    def bounds(self) -> dict[str, Bound]:
        """Lower and upper bound of each own parameter; None on an open side."""

    def observing(self, data: Mapping[str, Array]) -> Observed:
        """The likelihood of these data: arrays by name, one named "" for a plain array; NaN marks missing entries.

        Raises `ParameterError` if the data or the arguments of the likelihood cannot be used.
        """


@dataclass(frozen=True, eq=False)
class FlatData:
    """Entries with data, in the order of the outputs.

    ``values``, shape (m,), have the indices ``present`` among all entries; ``shapes`` are those of the arrays by name.
    """

    values: Array
    present: npt.NDArray[np.intp]
    shapes: dict[str, tuple[int, ...]]

    @property
    def size(self) -> int:
        """Number M of entries, missing ones included."""
        return sum(int(np.prod(shape)) for shape in self.shapes.values())

    def spread(self, what: str, given: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """An array that broadcasts to the data, at the entries with data: (m,). Errors name the argument ``what``."""
        parts = []
        for name, shape in self.shapes.items():
            try:
                parts.append(np.broadcast_to(given, shape).ravel())
            except ValueError:
                raise ParameterError(
                    f"{what}: expected an array that broadcasts to {_described(name)} of shape {shape}, "
                    f"got shape {given.shape}"
                ) from None
        return np.asarray(np.concatenate(parts)[self.present])

    def where(self, flags: npt.NDArray[np.bool_]) -> str:
        """The first flagged entry and its place, for a message."""
        places = [(name, index) for name, shape in self.shapes.items() for index in np.ndindex(shape)]
        first = int(np.argmax(flags))
        name, index = places[self.present[first]]
        place = f"[{', '.join(map(str, index))}]" if index else ""
        return f"{float(self.values[first])} in {_described(name)}{place}"


def structured(outputs: Any, shapes: Mapping[str, tuple[int, ...]]) -> Any:
    """Outputs in the last axis with the structure of the data: one array, or one per name; of NumPy or JAX."""
    parts, start = {}, 0
    for name, shape in shapes.items():
        end = start + int(np.prod(shape))
        parts[name], start = outputs[..., start:end].reshape((*outputs.shape[:-1], *shape)), end
    return parts[""] if list(parts) == [""] else parts


def flattened(data: Mapping[str, Array]) -> FlatData:
    """The data of a mapping as a vector; an infinite entry is a `ParameterError`."""
    vector = np.concatenate([array.ravel() for array in data.values()])
    present = np.flatnonzero(~np.isnan(vector))
    flat = FlatData(vector[present], present, {name: array.shape for name, array in data.items()})
    if len(present) == 0:
        raise ParameterError(f"data: all {len(vector)} entries are missing (NaN), expected at least one number")
    if np.isinf(flat.values).any():
        raise ParameterError(
            f"data: got {flat.where(np.isinf(flat.values))}, expected finite numbers, or NaN where data are missing"
        )
    return flat


def _described(name: str) -> str:
    return f"data {name!r}" if name else "the data"


@dataclass(frozen=True, eq=False)
class Scale:
    """A positive number for each of m entries, as a linear function of the h own parameters: known + W own.

    ``known`` has shape (m,), or (1,) for one number for all entries, and is zero where the number is unknown; the
    ``weights`` W have shape (m, h) or (1, h).
    """

    known: Array
    weights: Array

    def of(self, own: Array) -> Array:
        """The numbers for the rows of ``own``, (k, h) -> (k, m).

        The result has one row if all numbers are known, and one column if all entries share one.
        """
        if not self.weights.any():
            return self.known[None, :]
        return np.asarray(self.known + own @ self.weights.T)

    def pulled_back(self, slopes: Array) -> Array:
        """Derivative by the own parameters, (k, h), from the derivative by the numbers, (k, m)."""
        if len(self.weights) == 1:
            return np.asarray(slopes.sum(axis=1, keepdims=True) * self.weights)
        return np.asarray(slopes @ self.weights)


@dataclass(frozen=True, eq=False)
class ScaleArgument:
    """An argument ``what`` of a likelihood that gives positive numbers: a known factor times unknown ones.

    ``picked`` names the unknown factors: none, one, or one for each index of the last axis of the data.
    """

    what: str
    known: Array
    picked: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown factors, each once."""
        return tuple(dict.fromkeys(self.picked))

    def bound(self, data: FlatData, names: tuple[str, ...]) -> Scale:
        """The numbers at the entries with data, as a function of the own parameters with these names."""
        if self.known.ndim == 0 and len(self.picked) < 2:
            picked = np.array([[name in self.picked for name in names]])
            return Scale(np.full(1, 0.0 if self.picked else self.known), picked * self.known)
        known = np.asarray(data.spread(self.what, self.known), dtype=np.float64)
        weights = np.zeros((len(known), len(names)))
        if not self.picked:
            return Scale(known, weights)
        columns = np.array([names.index(name) for name in self.picked])
        for name, shape in data.shapes.items():
            if len(columns) > 1 and shape[-1:] != columns.shape:
                raise ParameterError(
                    f"{self.what}: got {len(columns)} names, expected one for each index of the last axis of "
                    f"{_described(name)} of shape {shape}"
                )
        entries: npt.NDArray[Any] = data.spread(self.what, columns)
        weights[np.arange(len(known)), entries] = known
        return Scale(np.zeros(len(known)), weights)


def scale_argument(what: str, given: Given, *, factor: str | None = None) -> ScaleArgument:
    """The argument ``what``: known positive numbers or names, times an unknown ``factor`` if that is given.

    Raises `ParameterError` if a number is not positive, a name is no identifier, or numbers and factor are unknown.
    """
    names = _names(what, given)
    if names and factor is not None:
        raise ParameterError(f"scale: expected no second unknown factor, as {what} is {given!r}, got {factor!r}")
    known = np.ones(()) if names else _positive(what, given)
    return ScaleArgument(what, known, names if factor is None else (checked_name("scale", factor),))


def checked_name(what: str, name: object) -> str:
    """The name of an unknown parameter; a `ParameterError` if it is no identifier."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise ParameterError(f"{what}: expected the name of a parameter (letters, digits and _), got {name!r}")
    return name


def _names(what: str, given: Given) -> tuple[str, ...]:
    if isinstance(given, str):
        return (checked_name(what, given),)
    if isinstance(given, Sequence) and any(isinstance(entry, str) for entry in given):
        return tuple(checked_name(what, entry) for entry in given)
    return ()


def _positive(what: str, given: Given) -> Array:
    found = numbers(given, what, "positive numbers or names of parameters")
    good = np.isfinite(found) & (found > 0)
    if found.size == 0 or not good.all():
        raise ParameterError(f"{what}: expected positive numbers, got {found[~good][0] if found.size else 'none'}")
    return found
