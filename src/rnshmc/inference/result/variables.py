"""Variables with shapes of their own, computed from the parameters: constrained, transformed or generated ones."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.given import numbers, plain
from rnshmc.types import Array

DIMS = ("chain", "draw")
"""Dimensions of draws in arviz: a variable of that name would be missing from them."""
Variables = Callable[[Array], Mapping[str, Array]]
"""From parameters, (n, d), to variables by name, (n, ...) each; n may be 0."""


@dataclass(frozen=True)
class Layout:
    """Where variables are in the columns of one matrix.

    Attributes
    ----------
    shapes
        Of a draw of each variable, by name, in the order of the columns.
    """

    shapes: Mapping[str, tuple[int, ...]]

    @classmethod
    def of(cls, variables: Mapping[str, Array], rows: int) -> "Layout":
        """That of some variables at so many rows.

        Raises
        ------
        ParameterError
            If one of them has another number of rows.
        """
        shapes = {name: np.shape(array) for name, array in variables.items()}
        for name, shape in shapes.items():
            if shape[:1] != (rows,):
                raise ParameterError(f"variables: {name}: expected a row for each of {rows} draws, got shape {shape}")
        return cls({name: shape[1:] for name, shape in shapes.items()})

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the columns, as arviz has them: ``sigma``, ``rates[0]``, ``m[0, 1]``."""
        return tuple(
            f"{name}[{', '.join(map(str, index))}]" if shape else name
            for name, shape in self.shapes.items()
            for index in np.ndindex(*shape)
        )


def layout(variables: Variables, dim: int) -> Layout:
    """That of variables that a function of so many parameters computes."""
    return Layout.of(variables(np.zeros((0, dim))), 0)


def columns(variables: Variables) -> Callable[[Array], Array]:
    """The same function with all variables in the columns of a matrix, (n, k)."""

    def flat(theta: Array) -> Array:
        found = variables(theta)
        Layout.of(found, len(theta))
        arrays = [numbers(array, f"variables: {name}") for name, array in found.items()]
        return np.concatenate([one.reshape(len(theta), math.prod(one.shape[1:])) for one in arrays], axis=1)

    return flat


def along_chains(variables: Variables, chains: Array) -> dict[str, Array]:
    """Variables along chains of parameters, (chains, n, d): (chains, n, ...) each.

    Raises
    ------
    ParameterError
        As `Layout.of`; or if one has units, or a name of `DIMS`.
    """
    count, n, dim = chains.shape
    found = variables(chains.reshape(-1, dim).copy())
    Layout.of(found, count * n)
    if taken := [name for name in found if name in DIMS]:
        raise ParameterError(f"variables: {taken[0]!r} is the name of a dimension in arviz; choose another")
    plain_ones = {name: plain(array, f"variables: {name}") for name, array in found.items()}
    return {name: np.reshape(array, (count, n, *np.shape(array)[1:])) for name, array in plain_ones.items()}
