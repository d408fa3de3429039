"""The arguments ``x0`` and ``scale`` of `rnshmc.sample`: starting points, and the expected width of the posterior."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.given import numbers
from rnshmc.inference.surrogate.whitening import Whitening
from rnshmc.inference.transforms import Bounds, Transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array

MARGIN = 0.01
"""Distance to which a start on a bound is moved from it, as a part of a parameter's width: optima lie there."""
NEAR = 1e-6
"""Distance up to which a start is on a bound, in the same units."""
WIDEST = math.pi / math.sqrt(3.0)
"""Largest scale of the unconstrained coordinate of a bounded parameter, in which a uniform law is a logistic one."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Starts, the rows of (n, d), of which the first of positive density is used, for packages whose users give none.

    ``source`` names the argument by which users choose them, for messages.
    """

    rows: Array
    source: str


@dataclass(frozen=True, eq=False)
class PriorDraws:
    """Draws that integrate over a prior: points, (n, d), and log weights, (n,), of a sum over them."""

    points: Array
    log_weights: Array

    def within(self, transform: Transform) -> "PriorDraws":
        """The draws within bounds, in unconstrained coordinates."""
        inside = transform.inside(self.points)
        return PriorDraws(transform.coordinates(self.points[inside]), self.log_weights[inside])


Start = npt.ArrayLike | Mapping[str, npt.ArrayLike] | Callable[[np.random.Generator], npt.ArrayLike] | Candidates | None


def make_starts(x0: Any, rng: np.random.Generator, names: Sequence[str] | None = None) -> Array:
    """Starting points as rows, (n, d), from one of shape (d,), several, or a function of a generator.

    Or from a mapping from the parameters' names to numbers, or to as many of them as there are starts. A function gives
    more than are needed, for the density may be zero at some. Raises ParameterError if they are not finite numbers in
    one of these shapes.
    """
    if isinstance(x0, Candidates):
        return x0.rows
    return _called(x0, rng, DEFAULT.modes.drawn, names) if callable(x0) else _rows(x0, names)


def _called(x0: Callable[..., Any], rng: np.random.Generator, count: int, names: Sequence[str] | None) -> Array:
    """As many starts from a function of a generator."""
    drawn = [_rows(x0(rng), names) for _ in range(count)]
    if any(rows.shape != (1, drawn[0].shape[1]) for rows in drawn):
        raise ParameterError("x0: expected a function of a generator that returns one start, of shape (d,)")
    return np.concatenate(drawn)


def number_of_parameters(names: Sequence[str] | None, bounds: Bounds | None, own: Sequence[str]) -> int:
    """Number of parameters where there is no start, by their names, or by a sequence of bounds.

    ``own`` are names of the likelihood's parameters, which ``names`` need not repeat.
    """
    if names is not None:
        return len(names) + sum(name not in names for name in own)
    if isinstance(bounds, list):
        return len(bounds)
    raise ParameterError("x0: without a start, give the parameters' names (names), or a sequence of bounds")


def further_starts(
    x0: Any,
    forward_posterior: ForwardPosterior | None,
    transform: Transform,
    names: Sequence[str],
    rng: np.random.Generator,
) -> Array:
    """More starts as `make_starts` or `drawn_starts` drew them, (n, d), within the bounds; none if starts are given."""
    count = DEFAULT.modes.further
    if x0 is None:
        return drawn_starts(forward_posterior, transform, names, rng, count=count)
    if not callable(x0):
        return np.zeros((0, len(names)))
    drawn = transform.wrapped(_called(x0, rng, count, names))
    return np.asarray(drawn[transform.inside(drawn)])


def drawn_starts(
    forward_posterior: ForwardPosterior | None,
    transform: Transform,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    count: int = DEFAULT.modes.drawn,
) -> Array:
    """Draws from the prior of a forward model, or from the box of finite bounds, (n, d), more than are needed."""
    drawn: Array | None = None if forward_posterior is None else forward_posterior.prior.draws(rng, count)
    if drawn is not None:
        inside = transform.inside(drawn)
        if not inside.any():
            raise ParameterError(f"x0: of {count} draws from the prior none is within the bounds; give a start")
        return np.asarray(drawn[inside])
    low, high = transform.box
    open_ends = ~(np.isfinite(low) & np.isfinite(high))
    if open_ends.any():
        name = names[int(np.argmax(open_ends))]
        prior = "" if forward_posterior is None else "the prior cannot be drawn from, and "
        raise ParameterError(
            f"x0: {prior}{name} has no two finite bounds between which a start could be drawn; give a start"
        )
    return np.asarray(rng.uniform(low, high, (count, len(names))))


def prior_draws(
    forward_posterior: ForwardPosterior | None, transform: Transform, rng: np.random.Generator
) -> PriorDraws | None:
    """Draws from the prior of a forward model, or from the box of finite bounds; None where there is neither."""
    if forward_posterior is None:
        return None
    count = DEFAULT.modes.further
    drawn = forward_posterior.prior.draws(rng, count)
    if drawn is not None:
        return PriorDraws(drawn, np.full(count, -math.log(count)))
    low, high = transform.box
    if not np.isfinite([low, high]).all():
        return None
    drawn = rng.uniform(low, high, (count, transform.dim))
    weights = np.log(high - low).sum() - math.log(count) - forward_posterior.prior.potential(drawn)[0]
    return PriorDraws(drawn, weights)


def middle_of(draws: Array, possible: Callable[[Array], bool]) -> Array:
    """The medians of draws, (n, d); where they are not possible, as within a ring, the nearest draw, (d,)."""
    middle = np.median(draws, axis=0)
    if possible(middle):
        return np.asarray(middle)
    distances = (draws - middle) / np.maximum(draws.std(axis=0), np.finfo(float).tiny)
    return np.asarray(draws[np.argmin((distances**2).sum(axis=1))])


def moved_inside(starts: Array, low: Array, high: Array, width: Array) -> Array:
    """Starts, (n, d), those on a bound (within `NEAR`) or beyond moved inside by `MARGIN` of the widths, (d,)."""
    raised = np.where(starts <= low + NEAR * width, low + MARGIN * width, starts)
    return np.where(starts >= high - NEAR * width, high - MARGIN * width, raised)


def _rows(x0: Any, names: Sequence[str] | None) -> Array:
    starts = _by_name(x0, names) if isinstance(x0, Mapping) else numbers(x0, "x0")
    if starts.ndim > 2 or starts.size == 0:
        raise ParameterError(f"x0: expected shape (d,), or (n, d) for several starts, got {starts.shape}")
    starts = np.atleast_2d(starts)
    if not np.isfinite(starts).all():
        row, column = np.argwhere(~np.isfinite(starts))[0]
        raise ParameterError(f"x0: {starts[row, column]} for parameter {column} is not finite")
    return starts


def _by_name(x0: Mapping[str, Any], names: Sequence[str] | None) -> Array:
    """The values of a mapping in the order of the names, (d,), or (n, d) if there are n for each."""
    if names is None:
        raise ParameterError("x0: a function that returns a mapping needs names=, in the order of the parameters")
    for name in (*x0, *names):
        if name not in names:
            raise ParameterError(f"x0: no parameter is named {name!r}; there are {', '.join(names)}")
        if name not in x0:
            raise ParameterError(f"x0: {name!r} is missing")
    columns = [numbers(x0[name], f"x0 of {name}") for name in names]
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        shapes = ", ".join(str(column.shape) for column in columns)
        raise ParameterError(f"x0: expected a number for each name, or as many for each, got shapes {shapes}") from None


def make_coordinates(scale: npt.ArrayLike | None, start: Array, transform: Transform) -> Whitening | None:
    """Unconstrained coordinates in which the scale of the posterior is expected to be one; None without a scale.

    The scale is a number or a vector of standard deviations, shape (d,), a covariance, (d, d), or prior draws, (n, d)
    with n > d; a ParameterError is raised if it is none of these, or not positive. Scales and covariances are
    translated by the slope of the transform at the start, (d,), and those of bounded parameters are cut to `WIDEST`;
    prior draws are transformed one by one.
    """
    if scale is None:
        return None
    given = numbers(scale, "scale")
    if not np.isfinite(given).all():
        raise ParameterError("scale: expected finite numbers")
    point = transform.coordinates(start)
    covariance = _covariance(given, point, transform)
    # L with L L' its inverse, whatever the units of its coordinates.
    units = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    refused = ParameterError("scale: the covariance is not positive definite")
    if not (units > 0).all():
        raise refused
    correlations, directions = np.linalg.eigh(covariance / np.outer(units, units))
    if correlations[0] <= len(units) * np.finfo(float).eps:
        raise refused
    # Rows of the root are directions; QR makes it triangular.
    root = (directions / np.sqrt(correlations)).T / units
    return Whitening(point, np.asarray(np.linalg.qr(root)[1].T))


def prior_scale(forward_posterior: ForwardPosterior | None, start: Array) -> Array | None:
    """Standard deviations of the prior, (d,); None unless those of all inputs of a forward model are known.

    The scale of a likelihood's parameter is its value at the start, unless the prior specifies one.
    """
    scale = None if forward_posterior is None else forward_posterior.prior.scale
    if forward_posterior is None or scale is None or not np.isfinite(scale[: forward_posterior.inputs]).all():
        return None
    return np.where(np.isfinite(scale), scale, np.where(start == 0.0, 1.0, np.abs(start)))


def inside(scale: npt.ArrayLike | None, transform: Transform) -> npt.ArrayLike | None:
    """A scale where a bound was found: of prior draws, those between the bounds; None if too few remain."""
    if scale is None or not _is_draws(given := numbers(scale, "scale"), transform.dim):
        return scale
    kept = given[transform.inside(given)]
    return kept if _is_draws(kept, transform.dim) else None


def _is_draws(given: Array, dim: int) -> bool:
    return given.ndim == 2 and given.shape[1] == dim and len(given) > dim


def _covariance(given: Array, point: Array, transform: Transform) -> Array:
    """The covariance of unconstrained coordinates, shape (d, d)."""
    dim = len(point)
    if _is_draws(given, dim):
        if not transform.inside(given).all():
            raise ParameterError("scale: some of the prior draws are not strictly between the bounds")
        return np.cov(transform.coordinates(given).T).reshape(dim, dim)
    if given.shape == (dim, dim):
        if not np.allclose(given, given.T, rtol=1e-8, atol=0.0):
            raise ParameterError(
                f"scale: an array of shape ({dim}, {dim}) is a covariance, and this one is not symmetric"
            )
        covariance = given
    elif given.shape in ((), (dim,)):
        if not (given > 0).all():
            raise ParameterError("scale: expected positive standard deviations")
        covariance = np.diag(np.broadcast_to(given, dim) ** 2)
    else:
        raise ParameterError(
            f"scale: expected a number, or an array of shape ({dim},), ({dim}, {dim}) or (n, {dim}) with n > {dim}, "
            f"got shape {given.shape}"
        )
    slopes = np.exp(transform.log_slopes(point))
    covariance = covariance / np.outer(slopes, slopes)
    widths = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    bounded = np.isfinite(transform.low) | np.isfinite(transform.high)
    shares = np.where(bounded, WIDEST / np.maximum(widths, WIDEST), 1.0)
    return covariance * np.outer(shares, shares)
