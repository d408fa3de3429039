"""Log likelihoods given as functions."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.differentiated import RowFunction
from rnshmc.inference.exact.likelihoods.base import Bound, Observed, checked_name, flattened, structured
from rnshmc.inference.exact.likelihoods.links import Link, Linked
from rnshmc.inference.given import entries, numbers
from rnshmc.inference.transforms import make_transform
from rnshmc.types import Array

_MOST_DIFFERENCES = 50
"""Largest number of outputs and parameters for which derivatives are differences: 101 calls per position."""
_PROBES = 8
"""Random directions along which slopes are differenced: one is exact if each datum has a separate term."""
_PROBE_STEP = 1e-4
"""Step along them relative to the outputs; slopes may themselves be differences, with errors of about 1e-10."""
_SMALLEST = 1e-8
"""Lower bound of curvatures, relative to the largest of the row."""


class Custom:
    """A log likelihood given as a function.

    Predictors are the outputs. Data cannot be simulated from it.

    Parameters
    ----------
    function
        ``function(outputs, parameters)`` returns the log likelihood at one position, up to a constant. Outputs have the
        structure of the data: an array, or a dictionary of arrays. Where data are missing, outputs are a constant,
        which the function has to leave out. Parameters are its own unknown ones, shape (h,). It returns one of

        - a number computed by JAX, which is differentiated;
        - a tuple of a number, its derivative by the outputs, with their structure, and, if there are names, its
          derivative by the parameters, shape (h,);
        - a number, for at most 50 outputs and parameters; derivatives are then central differences.

        A log likelihood of -inf, or one that is not finite, excludes the position.
    names
        Names of its own unknown parameters.
    bounds
        Their bounds, by name: pairs (low, high) with None on an open side, or "positive", "unit" or "real". Parameters
        without an entry have no bounds.
    """

    def __init__(
        self,
        function: Callable[[Any, Any], Any],
        names: Sequence[str] = (),
        bounds: Mapping[str, Any] | None = None,
    ) -> None:
        if not callable(function):
            raise ParameterError(f"function: expected a function (outputs, parameters), got {function!r:.80}")
        self._function = function
        listed = [names] if isinstance(names, str) else entries(names, "names")
        self.names = tuple(checked_name("names", name) for name in listed)
        if len(set(self.names)) < len(self.names):
            raise ParameterError(f"names: expected each name once, got {', '.join(self.names)}")
        if not self.names and bounds:
            raise ParameterError(f"bounds: no parameter is named {next(iter(bounds))!r}; names is empty")
        transform = make_transform(bounds, self.names)
        if transform.angles is not None:
            name = self.names[transform.angles.columns[0]]
            raise ParameterError(f'bounds of {name}: give an angle by its prior, ("uniform_angle", low, high)')
        self._low, self._high = transform.low, transform.high

    @property
    def bounds(self) -> dict[str, Bound]:
        """Bounds of its own unknown parameters."""
        pairs = zip(self._low.tolist(), self._high.tolist(), strict=True)
        sides = ((low if np.isfinite(low) else None, high if np.isfinite(high) else None) for low, high in pairs)
        return dict(zip(self.names, sides, strict=True))

    def observing(self, data: Mapping[str, Array]) -> Observed:
        """The likelihood of these data; their numbers are used for the missing entries and the steps of differences."""
        return _ObservedCustom(flattened(data), Link(), self._function, self._low, self._high)


@dataclass(frozen=True, eq=False)
class _ObservedCustom(Linked):
    """An `Observed` of the function of a `Custom`; ``low`` and ``high``, shape (h,), bound its own parameters."""

    function: Callable[[Any, Any], Any]
    low: Array
    high: Array
    _rows: RowFunction = field(init=False, repr=False)

    def __post_init__(self) -> None:
        sizes = np.abs(self.data.values)
        typical = np.concatenate([np.where(sizes > 0, sizes, 1.0), np.where(self.low >= 0, 0.0, 1.0)])
        rows = RowFunction(self._joined, "likelihood", typical, most_differences=_MOST_DIFFERENCES)
        object.__setattr__(self, "_rows", rows)

    def potential(self, predictors: Array, own: Array) -> tuple[Array, Array, Array]:
        rows = np.hstack([predictors, own])
        values, slopes = np.full(len(rows), np.inf), np.zeros(rows.shape)
        inside = np.isfinite(predictors).all(axis=1) & ((own > self.low) & (own < self.high)).all(axis=1)
        log_likelihoods, gradients = self._rows(rows[inside])
        values[inside], slopes[inside] = -log_likelihoods, -gradients
        return values, slopes[:, : predictors.shape[1]], slopes[:, predictors.shape[1] :]

    def curvatures(self, predictors: Array, own: Array) -> Array:
        """|Second derivatives| by differences of the slopes along random directions, the same at each call."""
        rng = np.random.default_rng(0)
        sizes = np.abs(self.data.values)
        steps = _PROBE_STEP * np.maximum(np.abs(predictors), np.where(sizes > 0, sizes, 1.0))
        seconds = np.zeros(predictors.shape)
        for _ in range(_PROBES):
            moves = steps * rng.choice([-1.0, 1.0], size=predictors.shape[1])
            ahead, behind = (self.potential(predictors + sign * moves, own)[1] for sign in (1.0, -1.0))
            seconds += (ahead - behind) / (2.0 * moves)
        sizes = np.abs(seconds) / _PROBES
        floor = np.maximum(_SMALLEST * sizes.max(axis=1, keepdims=True), np.finfo(np.float64).tiny ** 0.25)
        return np.maximum(sizes, floor)

    def simulated(self, predictors: Array, own: Array, rng: np.random.Generator) -> Array:  # noqa: ARG002
        """Raise `ParameterError`: the function has no generator."""
        raise ParameterError("likelihood: data cannot be simulated from a function; predict the outputs without noise")

    def _joined(self, z: Any) -> Any:
        """The user's function of predictors and own parameters in one vector."""
        count = len(self.data.present)
        xp = np if isinstance(z, np.ndarray) else import_module("jax.numpy")
        places = np.full(self.data.size, count)
        places[self.data.present] = np.arange(count)
        # NaN at the missing entries would spread through derivatives in JAX, even where it is masked.
        outputs = structured(xp.append(z[:count], self.data.values.mean())[places], self.data.shapes)
        returned = self.function(outputs, z[count:])
        return self._flat_derivatives(returned) if isinstance(returned, tuple) else returned

    def _flat_derivatives(self, returned: tuple[Any, ...]) -> tuple[Any, Array]:
        expected = 3 if len(self.low) else 2
        if len(returned) != expected:
            raise ParameterError(
                f"likelihood: the function returned {len(returned)} things, expected {expected}: the log likelihood, "
                f"its derivative by the outputs{' and that by the parameters' if expected == 3 else ''}"
            )
        value, by_outputs, *by_own = returned
        by_name = by_outputs if isinstance(by_outputs, Mapping) else {"": by_outputs}
        if by_name.keys() != self.data.shapes.keys():
            raise ParameterError("likelihood: expected the derivative by the outputs with the structure of the data")
        vector = np.concatenate([self._derivative(by_name[name], shape) for name, shape in self.data.shapes.items()])
        own = [self._derivative(by, self.low.shape) for by in by_own]
        return value, np.concatenate([vector[self.data.present], *own])

    def _derivative(self, derivative: Any, shape: tuple[int, ...]) -> Array:
        array = numbers(derivative, "likelihood: a derivative")
        if array.shape != shape:
            raise ParameterError(f"likelihood: a derivative has shape {array.shape}, expected {shape}")
        return array.ravel()
