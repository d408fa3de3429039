"""Names and units of the parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.inference.given import entries

RESERVED = ("chain", "draw", "lp")
"""Dimensions of arviz's groups and the log density there, which hide parameters of the same name."""


def find_names(names: Any, x0: Any, of_prior: Sequence[str] | None, own: Sequence[str]) -> tuple[str, ...] | None:
    """Names of the parameters: given ones, those of the prior, or the keys of ``x0``; None where there are none.

    Names of the prior have the order of the model's arguments, so the order of a mapping ``x0`` does not matter. The
    likelihood's ``own`` names come last. Names that are no strings, or have no order, are a `ParameterError`.
    """
    if names is not None:
        chosen = entries(names, "names")
    elif isinstance(x0, Mapping) and not x0.keys() <= set(of_prior or ()):
        chosen = [*(name for name in x0 if name not in own), *own]
    elif of_prior is not None:
        chosen = list(of_prior)
    else:
        return None
    if wrong := [name for name in chosen if not isinstance(name, str)]:
        raise ParameterError(f"names: expected words, got {wrong[0]!r}")
    return tuple(chosen)


def make_names(names: Sequence[str] | None, dim: int, own: Sequence[str] = ()) -> tuple[str, ...]:
    """Names of the parameters, x0, x1, ... by default; the likelihood's ``own`` come last.

    Raises `ParameterError` if there is not one for each, or one is empty, appears twice or is one of `RESERVED`.
    """
    if dim <= len(own):
        raise ParameterError(f"x0: it has {dim} parameters, but the likelihood alone has {', '.join(own)}")
    if names is None:
        return (*(f"x{i}" for i in range(dim - len(own))), *own)
    chosen = tuple(entries(names, "names"))
    if own and len(chosen) == dim - len(own):
        chosen = (*chosen, *own)
    if own and chosen[-len(own) :] != tuple(own):
        raise ParameterError(f"names: the likelihood's parameters {', '.join(own)} come last, got {names!r}")
    if len(chosen) != dim:
        raise ParameterError(f"names: expected {dim}, one for each entry of x0, got {names!r}")
    if "" in chosen:
        raise ParameterError(f"names: a name is empty, got {names!r}")
    if len(set(chosen)) < dim:
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise ParameterError(f"names: {twice!r} appears twice")
    if taken := [name for name in chosen if name in RESERVED]:
        raise ParameterError(f"names: {taken[0]!r} has another meaning in arviz; choose another name")
    return chosen


def make_units(units: Any, names: Sequence[str]) -> tuple[str, ...]:
    """Units of the parameters, empty by default; from a sequence with one for each, or a mapping from some names."""
    if units is None:
        return ("",) * len(names)
    if isinstance(units, Mapping):
        if unknown := [name for name in units if name not in names]:
            raise ParameterError(f"units: no parameter is named {unknown[0]!r}; there are {', '.join(names)}")
        return tuple(str(units.get(name, "")) for name in names)
    chosen = entries(units, "units")
    if len(chosen) != len(names):
        raise ParameterError(f"units: expected {len(names)}, one for each parameter, got {units!r}")
    return tuple(map(str, chosen))
