"""Conversions of a result for other packages: checked before anything is spent, and never the end of it."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from rnshmc.errors import ParameterError, RnshmcError
from rnshmc.inference.exact.density import reason
from rnshmc.inference.result.arviz_view import inference_data
from rnshmc.inference.result.result import Result
from rnshmc.inference.result.variables import Variables, layout


class ConversionError(RnshmcError):
    """A result could not be converted to what another package has.

    Attributes
    ----------
    result
        The `rnshmc.Result`, with all its draws.
    """

    def __init__(self, result: Result, trouble: str) -> None:
        super().__init__(
            f"the draws could not be converted: {trouble}. The result is kept in this error: catch it with "
            "`except rnshmc.ConversionError as error`, and use `error.result`"
        )
        self.result = result


@contextmanager
def carried(result: Result) -> Iterator[None]:
    """Errors in a conversion of this result, and Ctrl-C, as a `ConversionError` that has it."""
    try:
        yield
    except (Exception, KeyboardInterrupt) as error:
        raise ConversionError(result, reason(error)) from error


def check_labels(
    variables: Variables,
    dim: int,
    *,
    groups: Mapping[str, str] | None = None,
    coords: Mapping[str, Any] | None = None,
    dims: Mapping[str, Sequence[str]] | None = None,
    observed: Mapping[str, Any] | None = None,
) -> None:
    """Check that labels fit variables of so many parameters and data, by a conversion of two draws that are zero.

    Raises
    ------
    ParameterError
        If they do not.
    """
    shapes = layout(variables, dim).shapes
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
