"""Results for other packages: variables computed from the parameters, draws for arviz, errors that keep the result."""

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from rnshmc.diagnostics.summary import since_one
from rnshmc.errors import ParameterError, RnshmcError
from rnshmc.inference.exact.density import reason
from rnshmc.inference.given import numbers, plain
from rnshmc.types import Array

if TYPE_CHECKING:
    from rnshmc.inference.result.result import Result

DIMS = ("chain", "draw")
"""Dimensions of draws in arviz: a variable of that name would be missing from them."""
Variables = Callable[[Array], Mapping[str, Array]]
"""From parameters, (n, d), to variables by name, (n, ...) each: constrained, transformed or generated ones. n may be
0."""
Shapes = Mapping[str, tuple[int, ...]]
"""Shapes of a draw of each variable, by name, in the order of their columns in one matrix."""


class ConversionError(RnshmcError):
    """A result could not be converted for another package.

    Attributes
    ----------
    result
        The `rnshmc.Result`, with all its draws.
    """

    def __init__(self, result: "Result", trouble: str) -> None:
        super().__init__(
            f"the draws could not be converted: {trouble}. This error keeps the result: catch it with "
            "`except rnshmc.ConversionError as error`, and use `error.result`"
        )
        self.result = result


@contextmanager
def carried(result: "Result") -> Iterator[None]:
    """Errors in a conversion of this result, and Ctrl-C, as a `ConversionError` that has it."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        raise ConversionError(result, reason(error)) from error


def shapes_of(variables: Variables, dim: int) -> Shapes:
    """Shapes of the variables that a function of ``dim`` parameters computes."""
    return _shapes(variables(np.zeros((0, dim))), 0)


def labels_of(shapes: Shapes) -> tuple[str, ...]:
    """Names of the columns, as in arviz: ``sigma``, ``rates[0]``, ``m[0, 1]``."""
    return tuple(
        f"{name}[{', '.join(map(str, index))}]" if shape else name
        for name, shape in shapes.items()
        for index in np.ndindex(*shape)
    )


def columns(variables: Variables) -> Callable[[Array], Array]:
    """The same function with all variables in the columns of a matrix, (n, k)."""

    def flat(theta: Array) -> Array:
        found = variables(theta)
        _shapes(found, len(theta))
        arrays = [numbers(array, f"variables: {name}") for name, array in found.items()]
        return np.concatenate([one.reshape(len(theta), math.prod(one.shape[1:])) for one in arrays], axis=1)

    return flat


def along_chains(variables: Variables, chains: Array) -> dict[str, Array]:
    """Variables along chains of parameters, (chains, n, d): (chains, n, ...) each.

    A `ParameterError` is raised if one has another number of rows, units, or a name of `DIMS`.
    """
    count, n, dim = chains.shape
    found = variables(chains.reshape(-1, dim).copy())
    _shapes(found, count * n)
    if taken := [name for name in found if name in DIMS]:
        raise ParameterError(f"variables: {taken[0]!r} is the name of a dimension in arviz; choose another")
    plain_ones = {name: plain(array, f"variables: {name}") for name, array in found.items()}
    return {name: np.reshape(array, (count, n, *np.shape(array)[1:])) for name, array in plain_ones.items()}


def _shapes(variables: Mapping[str, Array], rows: int) -> Shapes:
    shapes = {name: np.shape(array) for name, array in variables.items()}
    for name, shape in shapes.items():
        if shape[:1] != (rows,):
            raise ParameterError(f"variables: {name}: expected a row for each of {rows} draws, got shape {shape}")
    return {name: shape[1:] for name, shape in shapes.items()}


def check_labels(
    variables: Variables,
    dim: int,
    *,
    groups: Mapping[str, str] | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    observed: Mapping[str, Any] | None = None,
) -> None:
    """Check that labels fit variables of ``dim`` parameters and data, by a conversion of two draws that are zero."""
    shapes = shapes_of(variables, dim)
    sizes = {**shapes, **{name: np.shape(array) for name, array in (observed or {}).items()}}
    for name, labels in (dims or {}).items():
        if name not in sizes:
            raise ParameterError(f"dims: {name!r} is not known; there are {', '.join(sizes)}")
        if isinstance(labels, str) or len(labels) > len(sizes[name]):
            raise ParameterError(
                f"dims: expected at most {len(sizes[name])} names in a list for {name!r}, got {labels!r}"
            )
    zeros = {name: np.zeros((1, 2, *shape)) for name, shape in shapes.items()}
    try:
        with warnings.catch_warnings(action="ignore"):
            inference_data(
                draws=zeros,
                exact=zeros,
                log_densities=np.zeros((1, 2)),
                observed=observed or {},
                groups=groups or {},
                labelled={"coords": coords, "dims": dims},
                units={},
                attributes={},
            )
    except ParameterError:
        raise
    except Exception as error:  # arviz and xarray raise errors of many types
        raise ParameterError(f"coords, dims: they do not fit the variables: {reason(error)}") from error


def inference_data(
    *,
    draws: Mapping[str, Array] | None,
    exact: Mapping[str, Array],
    log_densities: Array,
    observed: Mapping[str, Any],
    groups: Mapping[str, str],
    labelled: Mapping[str, Any],
    units: Mapping[str, str],
    attributes: Mapping[str, Any],
) -> Any:
    """Draws for arviz: an `arviz.InferenceData` before 1.0, an `xarray.DataTree` since.

    Variables are (chains, n, ...) each. Those of ``exact``, along chains in which the exact density decides, are a
    group ``exact`` with the log densities as ``lp`` if there are ``draws`` of a surrogate, which are ``posterior``
    then; else they are ``posterior`` and ``sample_stats``. ``groups`` names other groups of some variables;
    ``labelled`` has ``coords`` and ``dims``.
    """
    if unknown := [name for name in groups if name not in exact]:
        raise ParameterError(f"groups: {unknown[0]!r} is not known; there are {', '.join(exact)}")
    shown: dict[str, dict[str, Any]] = {"posterior": {}}
    for name, values in (exact if draws is None else draws).items():
        shown.setdefault(groups.get(name, "posterior"), {})[name] = values
    if draws is None:
        shown["sample_stats"] = {"lp": log_densities}
    else:
        shown["exact"] = {"lp": log_densities, **exact}
    if observed:
        shown["observed_data"] = dict(observed)
    data = _in_groups(shown, labelled, attributes)
    for name, unit in units.items():
        if unit:
            data.posterior[name].attrs["units"] = unit
    return data


def _in_groups(shown: Mapping[str, Any], labelled: Mapping[str, Any], attributes: Mapping[str, Any]) -> Any:
    # Imported here, for it takes two seconds.
    import arviz as az

    if since_one():
        return az.from_dict(dict(shown), **labelled, attrs={"posterior": dict(attributes)})
    known = {name: group for name, group in shown.items() if name != "exact"}
    data = az.from_dict(**known, **labelled, posterior_attrs=dict(attributes))
    if "exact" in shown:
        data.add_groups({"exact": az.dict_to_dataset(shown["exact"], **labelled)})
    return data


def by_origin(rows: Array, draws: Array | None, chains: int = 4) -> Array:
    """Resampled draws (m, d) as chains (chains, n, d), each from a part of the surrogate's chains, in order.

    Their R-hat and effective sample size show chains that disagree, and draws that are repeated or correlated. Up to
    ``chains`` - 1 draws are left out, for chains of equal length. ``draws`` are the surrogate's, (s, d), its chains one
    after the other; None: they are of different modes, and rows stay in their random order.
    """
    places = {draw.tobytes(): place for place, draw in enumerate(() if draws is None else draws)}
    order = np.argsort([places.get(row.tobytes(), -1) for row in rows], kind="stable")
    n = len(rows) // chains
    return np.asarray(rows[order[: n * chains]].reshape(chains, n, rows.shape[1]))
