"""The argument ``x0`` of `rnshmc.sample`: starting points that are given, or drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.archive import Archive
from rnshmc.inference.exact.forward_posterior import ForwardPosterior
from rnshmc.inference.given import numbers
from rnshmc.inference.stages.start import STAGE
from rnshmc.inference.transforms import Bounds, Transform
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array

MARGIN = 0.01
"""Distance to which a start on a bound is moved from it, as a part of a parameter's width: optima lie there."""
NEAR = 1e-6
"""Distance up to which a start is on a bound, in the same units."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """Starts of which the first where the density is positive is used, for packages whose users give none.

    Attributes
    ----------
    rows
        The starts, (n, d).
    source
        What users choose them by, for messages.
    """

    rows: Array
    source: str


Start = npt.ArrayLike | Mapping[str, npt.ArrayLike] | Callable[[np.random.Generator], npt.ArrayLike] | Candidates | None


def make_starts(x0: Any, rng: np.random.Generator, names: Sequence[str] | None = None) -> Array:
    """Starting points as rows, (n, d), from one of shape (d,), several, or a function of a generator.

    Or from a mapping from the parameters' names to numbers, or to as many of them as there are starts.

    Of a function there are more than are needed, for some may be where the density is zero.

    Raises
    ------
    ParameterError
        If they are not finite numbers in one of these shapes.
    """
    if isinstance(x0, Candidates):
        return x0.rows
    return _called(x0, rng, DEFAULT.modes.drawn, names) if callable(x0) else _rows(x0, names)


def _called(x0: Callable[..., Any], rng: np.random.Generator, count: int, names: Sequence[str] | None) -> Array:
    """As many starts of a function of a generator."""
    drawn = [_rows(x0(rng), names) for _ in range(count)]
    if any(rows.shape != (1, drawn[0].shape[1]) for rows in drawn):
        raise ParameterError("x0: expected a function of a generator that returns one start, of shape (d,)")
    return np.concatenate(drawn)


def number_of_parameters(names: Sequence[str] | None, bounds: Bounds | None, own: Sequence[str]) -> int:
    """Number of parameters where there is no start, by their names, or by a sequence of bounds.

    Parameters
    ----------
    own
        Names of the likelihood's own parameters, which ``names`` need not repeat.

    Raises
    ------
    ParameterError
        If neither is given.
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
    """More of what `make_starts` or `drawn_starts` drew, (n, d), within the bounds; none of starts that are given."""
    count = DEFAULT.modes.further
    if x0 is None:
        return drawn_starts(forward_posterior, transform, names, rng, count=count)
    if not callable(x0):
        return np.zeros((0, len(names)))
    drawn = _called(x0, rng, count, names)
    return np.asarray(drawn[transform.inside(drawn)])


def drawn_starts(
    forward_posterior: ForwardPosterior | None,
    transform: Transform,
    names: Sequence[str],
    rng: np.random.Generator,
    *,
    count: int = DEFAULT.modes.drawn,
) -> Array:
    """Draws from the prior of a forward model, or from the box of finite bounds, (n, d), more than are needed.

    Raises
    ------
    ParameterError
        If there is neither.
    """
    drawn: Array | None = None if forward_posterior is None else forward_posterior.prior.draws(rng, count)
    if drawn is not None:
        inside = transform.inside(drawn)
        if not inside.any():
            raise ParameterError(f"x0: of {count} draws from the prior none is within the bounds; give a start")
        return np.asarray(drawn[inside])
    open_ends = ~(np.isfinite(transform.low) & np.isfinite(transform.high))
    if open_ends.any():
        name = names[int(np.argmax(open_ends))]
        prior = "" if forward_posterior is None else "the prior cannot be drawn from, and "
        raise ParameterError(
            f"x0: {prior}{name} has no two finite bounds, between which a start could be drawn; give one"
        )
    return np.asarray(rng.uniform(transform.low, transform.high, (count, len(names))))


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


def first_usable(archive: Archive, drawn: Array, x0: Start = None) -> Array:
    """The first few of drawn starts where the density is positive, (n, d): as many as `Modes.starts`, or all of them.

    Of `Candidates` it is one. As many evaluations may fail as `Modes.drawn`.

    Raises
    ------
    ParameterError
        If there is none.
    """
    wanted, source = (1, x0.source) if isinstance(x0, Candidates) else (DEFAULT.modes.starts, "x0")
    # Emulation does without derivatives.
    gradient, points = archive.forward_posterior is None, archive.coordinates.transform.coordinates(drawn)
    for last in range(wanted, len(drawn) + wanted, wanted):
        archive.evaluate(points[:last], STAGE, gradient=gradient)
        for at in archive.floor.neighbours():
            archive.evaluate(at[None], STAGE, gradient=False)
        seen = archive.evaluate(points[:last], STAGE, gradient=gradient)
        there = [start for start, one in zip(drawn, seen, strict=False) if one.failure is None and one.value < np.inf]
        if len(there) >= wanted and not archive.floor.constant:
            break
        if sum(one.failed for one in seen) >= DEFAULT.modes.drawn:
            break
    if not there:
        reasons = [one.failure for one in seen if one.failure]
        refused = f"the target cannot be evaluated ({reasons[-1]})" if reasons else "the density is 0"
        raise ParameterError(f"{source}: {refused} at all of {len(seen)} drawn starts; give one where it is positive")
    return np.array(there[:wanted])


def _rows(x0: Any, names: Sequence[str] | None) -> Array:
    starts = _by_name(x0, names) if isinstance(x0, Mapping) else numbers(x0, "x0")
    if starts.ndim == 0:
        starts = starts.reshape(1)
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
