"""Positive numbers of a likelihood, such as a standard deviation: known, unknown parameters, or a product of both."""

import keyword
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.flat import FlatData, described
from rnshmc.inference.given import numbers
from rnshmc.types import Array

Given = npt.ArrayLike | Sequence[str]
"""A number, an array that broadcasts to the data, a name, or names along the last axis of the data."""


@dataclass(frozen=True, eq=False)
class Scale:
    """A positive number for each of m entries, as a linear function of the h own parameters: known + W own.

    Attributes
    ----------
    known
        Shape (m,), or (1,) for one number for all entries; zero where the number is unknown.
    weights
        W, shape (m, h) or (1, h).
    """

    known: Array
    weights: Array

    def of(self, own: Array) -> Array:
        """The numbers for the rows of ``own``, (k, h) -> (k, m).

        There is one row if all numbers are known, and one column if all entries share one.
        """
        if not self.weights.any():
            return self.known[None, :]
        numbers: Array = self.known + own @ self.weights.T
        return numbers

    def pulled_back(self, slopes: Array) -> Array:
        """Derivative by the own parameters, (k, h), from the derivative by the numbers, (k, m)."""
        if len(self.weights) == 1:
            return np.asarray(slopes.sum(axis=1, keepdims=True) * self.weights)
        return np.asarray(slopes @ self.weights)


@dataclass(frozen=True, eq=False)
class ScaleArgument:
    """An argument of a likelihood that gives positive numbers.

    Attributes
    ----------
    what
        Name of the argument, for messages.
    known
        Known factor, any shape that broadcasts to the data.
    picked
        Names of unknown factors: none, one, or one for each index of the last axis of the data.
    """

    what: str
    known: Array
    picked: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown factors, each once."""
        return tuple(dict.fromkeys(self.picked))

    def bound(self, data: FlatData, names: tuple[str, ...]) -> Scale:
        """The numbers at the entries with data, as a function of the own parameters of these names.

        Raises
        ------
        ParameterError
            If shapes do not fit.
        """
        if self.known.ndim == 0 and len(self.picked) < 2:
            picked = np.array([[name in self.picked for name in names]])
            return Scale(np.full(1, 0.0 if self.picked else self.known), picked * self.known)
        known = np.asarray(data.spread(self.what, self.known), dtype=np.float64)
        weights = np.zeros((len(known), len(names)))
        if not self.picked:
            return Scale(known, weights)
        columns = np.array([names.index(name) for name in self.picked])
        weights[np.arange(len(known)), self._spread(data, columns)] = known
        return Scale(np.zeros(len(known)), weights)

    def _spread(self, data: FlatData, columns: npt.NDArray[np.intp]) -> npt.NDArray[Any]:
        for name, shape in data.shapes.items():
            if len(columns) > 1 and shape[-1:] != columns.shape:
                raise ParameterError(
                    f"{self.what}: got {len(columns)} names, expected one for each index of the last axis of "
                    f"{described(name)} of shape {shape}"
                )
        return data.spread(self.what, columns)


def scale_argument(what: str, given: Given, *, factor: str | None = None) -> ScaleArgument:
    """The argument ``what``: known positive numbers or names, times an unknown ``factor`` if that is given.

    Raises
    ------
    ParameterError
        If a number is not positive, a name is no identifier, or both the numbers and the factor are unknown.
    """
    names = _names(what, given)
    if factor is not None:
        if names:
            raise ParameterError(f"scale: expected no second unknown factor, as {what} is {given!r}, got {factor!r}")
        names = (checked_name("scale", factor),)
        return ScaleArgument(what, _positive(what, given), names)
    return ScaleArgument(what, np.ones(()) if names else _positive(what, given), names)


def checked_name(what: str, name: object) -> str:
    """A name of an unknown parameter.

    Raises
    ------
    ParameterError
        If it is no string or no identifier.
    """
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
