"""Bijections from unconstrained coordinates to bounded parameters.

With theta = T(x), the density of x is that of theta times |dT/dx|: U(x) = -log p(T(x)) - sum_i log |dT_i/dx_i|.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.optimize
from scipy.special import expit, log_expit, logit

from rnshmc.errors import ParameterError
from rnshmc.inference.angles import Angles
from rnshmc.inference.given import entries, numbers
from rnshmc.types import Array

Bounds = Iterable[Any] | Mapping[str, Any] | scipy.optimize.Bounds
_WORDS = {
    "positive": (0.0, math.inf),
    "unit": (0.0, 1.0),
    "real": (-math.inf, math.inf),
    "angle": (0.0, 2.0 * math.pi),
}


@dataclass(frozen=True, eq=False)
class Transform:
    """theta = T(x), coordinate by coordinate: x itself, l + exp(x), u - exp(x) or l + (u - l) / (1 + exp(-x))."""

    low: Array  # Bounds l and u of each parameter, (d,); infinite if there is none.
    high: Array
    # Defaults of fields that earlier files of results lack.
    angles: Angles | None = None  # Parameters whose density is periodic; they have no bounds. None without any.
    wraps: bool = False  # Whether `parameters` moves angles into their intervals, as in results.

    @property
    def dim(self) -> int:
        """Number of parameters."""
        return len(self.low)

    def with_bound(self, coordinate: int, inside: float, outside: float) -> tuple["Transform", float]:
        """Add a bound of one parameter, the roundest number between two of its values; return that bound, too."""
        bound = roundest(inside, outside)
        low, high = self.low.copy(), self.high.copy()
        (low if outside < inside else high)[coordinate] = bound
        return replace(self, low=low, high=high), bound

    def around(self, centre: Array) -> "Transform":
        """The transform to the parameters of results: angles are in the period centred at a point, (d,)."""
        return self if self.angles is None else replace(self, angles=self.angles.around(centre), wraps=True)

    def wrapped(self, theta: Array) -> Array:
        """The same parameters with angles in their intervals; rows, or one point."""
        return theta if self.angles is None else self.angles.wrapped(theta)

    @property
    def box(self) -> tuple[Array, Array]:
        """Ends of the interval of each parameter, (d,) each: its bounds, or one period of an angle."""
        if self.angles is None:
            return self.low, self.high
        return np.maximum(self.low, self.angles.low), np.minimum(self.high, self.angles.high)

    def parameters(self, x: Array) -> Array:
        """T(x) for the rows of ``x`` or one point, strictly inside the bounds even if T(x) rounds to a bound."""
        below, above, both = self._kinds()
        theta = np.array(x, dtype=np.float64)
        with np.errstate(over="ignore"):
            theta[..., below] = self.low[below] + np.exp(theta[..., below])
            theta[..., above] = self.high[above] - np.exp(theta[..., above])
            theta[..., both] = self.low[both] + (self.high - self.low)[both] * expit(theta[..., both])
        theta = np.clip(theta, np.nextafter(self.low, math.inf), np.nextafter(self.high, -math.inf))
        return self.wrapped(theta) if self.wraps else theta

    def inside(self, theta: Array) -> npt.NDArray[np.bool_]:
        """Which rows of ``theta``, (n, d), are strictly between the bounds, (n,)."""
        return np.asarray(((self.low < theta) & (theta < self.high)).all(axis=1))

    def coordinates(self, theta: Array) -> Array:
        """x with T(x) = ``theta``, of the same shape."""
        below, above, both = self._kinds()
        x = np.array(theta, dtype=np.float64)
        x[..., below] = np.log(x[..., below] - self.low[below])
        x[..., above] = np.log(self.high[above] - x[..., above])
        x[..., both] = logit((x[..., both] - self.low[both]) / (self.high - self.low)[both])
        return x

    def log_slopes(self, x: Array) -> Array:
        """log |dT_i/dx_i| at the rows of ``x`` or one point, of the same shape; 0 where there is no bound."""
        below, above, both = self._kinds()
        slopes = np.where(below | above, x, 0.0)
        widths = np.log((self.high - self.low)[both])
        slopes[..., both] = widths + log_expit(x[..., both]) + log_expit(-x[..., both])
        return slopes

    def log_jacobians(self, x: Array) -> Array:
        """sum_i log |dT_i/dx_i| at the rows of ``x``, or at one point."""
        return np.asarray(self.log_slopes(x).sum(axis=-1))

    def pulled_back(self, gradient: Array, x: Array) -> Array:
        """Gradient in x of log p(T(x)) + sum_i log |dT_i/dx_i|, from that of log p in theta, row by row."""
        below, above, both = self._kinds()
        with np.errstate(over="ignore"):
            slopes = np.exp(self.log_slopes(x))
        slopes[..., above] *= -1.0
        change = np.zeros(x.shape)
        change[..., below | above] = 1.0
        change[..., both] = 1.0 - 2.0 * expit(x[..., both])
        return np.asarray(slopes * gradient + change)

    def _kinds(self) -> tuple[Any, Any, Any]:
        """Masks of the parameters with only a lower bound, only an upper bound, and both."""
        low, high = np.isfinite(self.low), np.isfinite(self.high)
        return low & ~high, high & ~low, low & high


def roundest(first: float, second: float) -> float:
    """The number with the fewest decimal places between two numbers; 0 if it is one of them."""
    low, high = sorted((first, second))
    if low <= 0.0 <= high:
        return 0.0
    for places in range(-int(math.log10(abs(high - low) + abs(high))) - 1, 18):
        found = math.ceil(low * 10.0**places) / 10.0**places
        if found <= high:
            return found
    return second


def make_transform(bounds: Bounds | None, names: Sequence[str]) -> Transform:
    """The transform for the user's bounds of parameters with these names.

    There is one entry for each parameter, or a mapping from some names to entries. An entry is a pair (low, high) in
    which None or an infinity stands for no bound, or one of the words "positive", "unit" and "real"; None: no bounds.
    The word "angle", or ("angle", low, high), makes the parameter an angle. A `ParameterError` names the parameter
    whose entry cannot be used.
    """
    given: list[Any] | Mapping[str, Any] = {} if bounds is None else listed(bounds)
    if isinstance(given, Mapping):
        if unknown := [name for name in given if name not in names]:
            raise ParameterError(f"bounds: no parameter is named {unknown[0]!r}; there are {', '.join(names)}")
        given = [given.get(name) for name in names]
    if len(given) != len(names):
        raise ParameterError(f"bounds: expected one entry for each of the {len(names)} parameters, got {len(given)}")
    ends = [_ends(entry, name) for entry, name in zip(given, names, strict=True)]
    turns = {k: ends[k] for k, entry in enumerate(given) if _is_angle(entry)}
    low, high = np.array([_WORDS["real"] if k in turns else pair for k, pair in enumerate(ends)]).reshape(-1, 2).T
    return Transform(low.copy(), high.copy(), Angles.of(turns, len(names)) if turns else None)


def with_prior(
    transform: Transform,
    bounds: Mapping[int, tuple[float | None, float | None]],
    angles: Mapping[int, tuple[float, float]],
    names: Sequence[str],
) -> Transform:
    """The transform with bounds and angles of a model's prior and likelihood, by the numbers of the parameters.

    A `ParameterError` names a parameter that is an angle in one place and has bounds, or other ends, in another, or of
    which nothing is within the bounds.
    """
    declared, low, high = transform.angles, transform.low.copy(), transform.high.copy()
    turns = {} if declared is None else {int(k): (declared.low[k], declared.high[k]) for k in declared.columns}
    for k, ends in angles.items():
        if np.isfinite([low[k], high[k]]).any() or turns.get(k, ends) != ends:
            raise ParameterError(
                f"bounds of {names[k]}: by its prior it is an angle from {ends[0]:g} to {ends[1]:g}; leave them out"
            )
    turns |= angles
    for k in bounds.keys() & turns.keys():
        if bounds[k] != turns[k]:
            raise ParameterError(
                f"prior of {names[k]}: it has the bounds {bounds[k]}, but {names[k]} is an angle from "
                f'{turns[k][0]:g} to {turns[k][1]:g}; give the prior ("uniform_angle", low, high)'
            )
    for k in bounds.keys() - turns.keys():
        least, most = bounds[k]
        low[k] = max(low[k], -math.inf if least is None else least)
        high[k] = min(high[k], math.inf if most is None else most)
        if not low[k] < high[k]:
            raise ParameterError(f"bounds of {names[k]}: its prior has the bounds {bounds[k]}, and no mass within them")
    return Transform(low, high, Angles.of(turns, transform.dim) if turns else None)


def listed(bounds: Bounds) -> list[Any] | Mapping[str, Any]:
    """A list or mapping of entries, from any ordered iterable of them or a `scipy.optimize.Bounds`."""
    if isinstance(bounds, Mapping):
        return bounds
    if isinstance(bounds, scipy.optimize.Bounds):
        return list(np.stack(np.broadcast_arrays(np.atleast_1d(bounds.lb), bounds.ub), axis=-1))
    return entries(bounds, "bounds")


def _is_angle(entry: Any) -> bool:
    first = entry[0] if isinstance(entry, list | tuple) and entry else entry
    return isinstance(first, str) and first == "angle"


def _ends(entry: Any, name: str) -> tuple[float, float]:
    """Lower and upper bound, or the ends of an angle."""
    if entry is None:
        return _WORDS["real"]
    if isinstance(entry, str):
        if entry not in _WORDS:
            raise ParameterError(f"bounds of {name}: expected one of {', '.join(_WORDS)}, got {entry!r}")
        return _WORDS[entry]
    if _is_angle(entry):
        if len(entry) == 3 and None not in entry:
            low, high = numbers(entry[1:], f"bounds of {name}").tolist()
            if -math.inf < low < high < math.inf:
                return low, high
        raise ParameterError(
            f'bounds of {name}: an angle has two finite ends, ("angle", low, high) with low < high, got {entry!r}'
        )
    expected = "(low, high), None or a word"
    try:
        low, high = entry
    except (TypeError, ValueError):
        raise ParameterError(f"bounds of {name}: expected {expected}, got {entry!r}") from None
    low, high = numbers(
        [-math.inf if low is None else low, math.inf if high is None else high], f"bounds of {name}", expected
    ).tolist()
    if not low < high:
        raise ParameterError(f"bounds of {name}: the lower one has to be smaller, got {low} and {high}")
    return low, high
