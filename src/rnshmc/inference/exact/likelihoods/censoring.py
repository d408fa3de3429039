"""Censored data: limits that the true value lies below or above."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.special import erfcx, log_ndtr

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.flat import FlatData
from rnshmc.inference.exact.likelihoods.independent import Family
from rnshmc.types import Array

Flags = npt.ArrayLike | Sequence[str | int] | None
"""The user's flags of censored data."""
_FLAGS: dict[Any, int] = {"left": -1, "right": 1, -1: -1, 0: 0, 1: 1}
_SMALLEST = 1e-8
"""Lower bound of the curvature of a limit, relative to that of a datum."""


class Tail(Protocol):
    """A symmetric standard distribution, by its cumulative distribution G(z)."""

    def terms(self, z: Array, *shape: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """log G(z), its derivative by z, and those by the shape parameters, each of the shape of ``z``."""
        ...

    def curvatures(self, z: Array, *shape: Array) -> Array:
        """Second derivative of -log G(z), or a positive number of its size, from 0 to 1."""
        ...


class NormalTail:
    """The standard normal distribution."""

    def terms(self, z: Array, *shape: Array) -> tuple[Array, Array, tuple[Array, ...]]:  # noqa: ARG002
        """log Phi(z) and phi(z) / Phi(z), in both tails to rounding error."""
        return np.asarray(log_ndtr(z)), self._slope(z), ()

    def curvatures(self, z: Array, *shape: Array) -> Array:  # noqa: ARG002
        """h (h + z) for h = phi(z) / Phi(z)."""
        slope = self._slope(z)
        return slope * (slope + z)

    def _slope(self, z: Array) -> Array:
        return np.asarray(np.sqrt(2.0 / np.pi) / erfcx(-z / np.sqrt(2.0)))


@dataclass(frozen=True, eq=False)
class Censored:
    """A family of location and scale in which some data are limits.

    The first of its positive numbers is the scale. For a limit y with z = (predictor - y) / scale, -log p is -log G(z)
    if the true value lies above y, and -log G(-z) if it lies below.

    Attributes
    ----------
    family
        The family of the data that are no limits.
    limits
        The data, shape (m,).
    flags
        -1 where the true value lies below the limit, 1 where it lies above, 0 for a datum; shape (m,).
    tail
        The standard distribution of the family.
    """

    family: Family
    limits: Array
    flags: npt.NDArray[np.intp]
    tail: Tail

    def terms(self, predictors: Array, *numbers: Array) -> tuple[Array, Array, tuple[Array, ...]]:
        """-log p of data and limits, with derivatives."""
        terms, slopes, by_numbers = self.family.terms(predictors, *numbers)
        at, signs, z, scale, shape = self._standard(predictors, numbers)
        logs, slope, by_shape = self.tail.terms(z, *shape)
        by_limits = (slope * z / scale, *(-by for by in by_shape))
        replaced = tuple(_replaced(by, at, new) for by, new in zip(by_numbers, by_limits, strict=True))
        return _replaced(terms, at, -logs), _replaced(slopes, at, -slope * signs / scale), replaced

    def curvatures(self, predictors: Array, *numbers: Array) -> Array:
        """Those of the family, and for limits the second derivative of -log p (bounded from below)."""
        curvatures = np.broadcast_to(self.family.curvatures(predictors, *numbers), predictors.shape)
        at, _, z, scale, shape = self._standard(predictors, numbers)
        return _replaced(curvatures, at, np.clip(self.tail.curvatures(z, *shape), _SMALLEST, 1.0) / scale**2)

    def simulated(self, predictors: Array, *numbers: Array, rng: np.random.Generator) -> Array:
        """New data, which are not censored."""
        return self.family.simulated(predictors, *numbers, rng=rng)

    def _standard(
        self, predictors: Array, numbers: tuple[Array, ...]
    ) -> tuple[npt.NDArray[np.intp], Array, Array, Array, list[Array]]:
        """Indices and signs of the limits; z, scale and shape there."""
        at = np.flatnonzero(self.flags)
        signs = self.flags[at].astype(np.float64)
        scale, *shape = (np.broadcast_to(number, predictors.shape)[:, at] for number in numbers)
        return at, signs, signs * (predictors[:, at] - self.limits[at]) / scale, scale, shape


def censored_family(family: Family, limits: Array, flags: npt.NDArray[np.intp], tail: Tail) -> Family:
    """The family in which the flagged data are limits."""
    return Censored(family, limits, flags, tail) if flags.any() else family


def bound_flags(censored: Flags, data: FlatData) -> npt.NDArray[np.intp]:
    """-1, 0 or 1 at the entries with data, from the user's argument ``censored``; zeros if that is None.

    Raises
    ------
    ParameterError
        If a flag is unknown, or the flags do not broadcast to the data.
    """
    if censored is None:
        return np.zeros(len(data.values), dtype=np.intp)
    given = np.array(censored, dtype=object)
    flags = np.array([_flag(flag) for flag in given.ravel()], dtype=np.intp).reshape(given.shape)
    return np.asarray(data.spread("censored", flags), dtype=np.intp)


def _flag(flag: Any) -> int:
    # numpy makes "0" of a 0 among words.
    key = 0 if flag == "0" else flag
    if isinstance(flag, bool | np.bool_) or key not in _FLAGS:
        raise ParameterError(f'censored: expected "left" or -1, "right" or 1, or 0, got {flag!r}')
    return _FLAGS[key]


def _replaced(rows: Array, columns: npt.NDArray[np.intp], new: Array) -> Array:
    replaced = np.array(rows)
    replaced[:, columns] = new
    return replaced
