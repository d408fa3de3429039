"""Likelihoods of data that are independent given the predictors, some of which may be censored."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.likelihoods.base import Bound, FlatData, Scale, ScaleArgument, flattened
from rnshmc.inference.exact.likelihoods.distributions import DISTRIBUTIONS, Distribution, Terms
from rnshmc.inference.exact.likelihoods.links import Linked
from rnshmc.types import Array

SMALLEST_CURVATURE = 1e-100
"""Lower bound of every curvature, so that its inverse is finite."""
_SMALLEST_OF_LIMIT = 1e-8
"""Lower bound of the curvature of a limit, relative to that of a datum."""
Flags = npt.ArrayLike | Sequence[str | int] | None
"""The user's flags of censored data."""
_FLAGS: dict[Any, int] = {"left": -1, "right": 1, -1: -1, 0: 0, 1: 1}


@dataclass(frozen=True, eq=False, repr=False)
class Independent:
    """A likelihood before it has data: the entry ``word`` of `DISTRIBUTIONS` and its arguments.

    ``numbers`` give its positive numbers, in the order of its formulas; ``known`` is passed to its ``read``; ``flags``
    mark censored data.
    """

    word: str
    numbers: tuple[ScaleArgument, ...] = ()
    known: tuple[Array, ...] = ()
    flags: Flags = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the unknown numbers or of the unknown factor."""
        return tuple(dict.fromkeys(name for argument in self.numbers for name in argument.names))

    @property
    def bounds(self) -> dict[str, Bound]:
        """Bounds of the unknown numbers, which are positive."""
        return dict.fromkeys(self.names, (0.0, None))

    def observing(self, data: Mapping[str, Array]) -> "ObservedIndependent":
        """The likelihood of these data."""
        flat = flattened(data)
        link, y, constants = DISTRIBUTIONS[self.word].read(flat, *self.known)
        scales = tuple(argument.bound(flat, self.names) for argument in self.numbers)
        return ObservedIndependent(flat, link, self.word, y, scales, constants, _bound_flags(self.flags, flat))


@dataclass(frozen=True, eq=False)
class ObservedIndependent(Linked):
    """An `Observed` whose likelihood is a product over the predictors.

    ``y``, shape (m,), are the data as the formulas take them; ``flags`` are those of `_censored`. The distribution is
    looked up by its name, so that the object can be pickled.
    """

    word: str
    y: Array
    scales: tuple[Scale, ...]
    constants: tuple[Any, ...]
    flags: npt.NDArray[np.intp]

    @property
    def distribution(self) -> Distribution:
        """The distribution of each datum."""
        return _censored(DISTRIBUTIONS[self.word], self.flags)

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        """-log likelihood of the rows and its derivatives."""
        numbers = self._numbers(own)
        own_slopes = np.zeros((len(predictors), own.shape[1]))
        with np.errstate(all="ignore"):
            terms, slopes, by_numbers = self.distribution.terms(predictors, self.y, *self.constants, *numbers)
            for scale, slope in zip(self.scales, by_numbers, strict=True):
                own_slopes += scale.pulled_back(np.broadcast_to(slope, predictors.shape))
            values = terms.sum(axis=1)
            for part in numbers:
                values = np.where(((part > 0) & np.isfinite(part)).all(axis=1), values, np.inf)
            return finite_rows(values, slopes, own_slopes)

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """Expected second derivatives by the predictors."""
        with np.errstate(all="ignore"):
            curvatures = self.distribution.curvatures(predictors, self.y, *self.constants, *self._numbers(own))
        return np.fmax(np.broadcast_to(curvatures, predictors.shape), SMALLEST_CURVATURE)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:
        """New observations at the entries with data, none of them censored."""
        with np.errstate(over="ignore"):
            drawn = self.distribution.draws(rng, predictors, self.y, *self.constants, *self._numbers(own))
            return drawn if self.distribution.tail is None else self.link.outputs(drawn)

    def _numbers(self, own: Array) -> list[Array]:
        return [scale.of(own) for scale in self.scales]


def finite_rows(values: Array, *slopes: Array) -> tuple[Array, Array, Array]:
    """Rows of values and two derivatives; inf and zeros in rows where one of these is not finite."""
    good = np.isfinite(values)
    for slope in slopes:
        good = good & np.isfinite(slope).all(axis=1)
    first, second = (np.where(good[:, None], slope, 0.0) for slope in slopes)
    return np.where(good, values, np.inf), first, second


def _censored(distribution: Distribution, flags: npt.NDArray[np.intp]) -> Distribution:
    """The distribution of data of which some are limits.

    For a limit y with z = (f - y) / scale, -log p is -log G(z) if the true value lies above y (flag 1), and -log G(-z)
    if it lies below (flag -1); a datum has the flag 0. Flags, shape (m,), require a distribution with a tail.
    """
    tail, at = distribution.tail, np.flatnonzero(flags)
    if tail is None or not len(at):
        return distribution
    signs = flags[at].astype(np.float64)

    def standard(f: Array, y: Array, numbers: tuple[Array, ...]) -> tuple[Array, Array, list[Array]]:
        *shape, scale = (np.broadcast_to(number, f.shape)[:, at] for number in numbers)
        return signs * (f[:, at] - y[at]) / scale, scale, shape

    def terms(f: Array, y: Array, *numbers: Array) -> Terms:
        of_data, slopes, by_numbers = distribution.terms(f, y, *numbers)
        z, scale, shape = standard(f, y, numbers)
        logs, slope, _, by_shape = tail(z, *shape)
        by_limits = (*(-by for by in by_shape), slope * z / scale)
        replaced = tuple(_replaced(by, at, new) for by, new in zip(by_numbers, by_limits, strict=True))
        return _replaced(of_data, at, -logs), _replaced(slopes, at, -slope * signs / scale), replaced

    def curvatures(f: Array, y: Array, *numbers: Array) -> Array:
        z, scale, shape = standard(f, y, numbers)
        of_data = np.broadcast_to(distribution.curvatures(f, y, *numbers), f.shape)
        return _replaced(of_data, at, np.clip(tail(z, *shape)[2], _SMALLEST_OF_LIMIT, 1.0) / scale**2)

    return replace(distribution, terms=terms, curvatures=curvatures)


def _bound_flags(given: Flags, data: FlatData) -> npt.NDArray[np.intp]:
    """-1, 0 or 1 at the entries with data, from the user's argument ``censored``; zeros if that is None."""
    if given is None:
        return np.zeros(len(data.values), dtype=np.intp)
    words = np.array(given, dtype=object)
    flags = np.array([_flag(flag) for flag in words.ravel()], dtype=np.intp).reshape(words.shape)
    return np.asarray(data.spread("censored", flags), dtype=np.intp)


def _flag(flag: Any) -> int:
    # NumPy converts a 0 among words to "0".
    key = 0 if flag == "0" else flag
    if isinstance(flag, bool | np.bool_) or key not in _FLAGS:
        raise ParameterError(f'censored: expected "left" or -1, "right" or 1, or 0, got {flag!r}')
    return _FLAGS[key]


def _replaced(rows: Array, columns: npt.NDArray[np.intp], new: Array) -> Array:
    replaced = np.array(rows)
    replaced[:, columns] = new
    return replaced
