"""Names of the coordinates of a posterior on an axis."""

from collections.abc import Mapping
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.plots.style import plain

_SYMBOLS = {"logistic": r"\beta", "logistic_laplace": r"\beta", "elliptic": r"\theta"}
_NAMES = {"gp_regression": (r"$\log\,l$", r"$\log\,\sigma^2$")}


def coordinate_name(target: Mapping[str, Any], number: int) -> str:
    """Name of a coordinate, counted from 1: the user's, or by the symbols of the papers; q_k where there is neither.

    Parameters
    ----------
    target
        The config's entry of the target, with the problem's ``names`` if it has any.

    Raises
    ------
    ParameterError
        If there are fewer names than coordinates.
    """
    kind = target["kind"]
    if "names" in target:
        names: list[str] = target["names"]
        if number > len(names):
            raise ParameterError(f"names has {len(names)} entries, but the model has at least {number} parameters")
        return plain(names[number - 1])
    if kind in _NAMES:
        return _NAMES[kind][number - 1]
    if kind == "garch":
        terms = target["orders"][0]
        return f"$\\alpha_{{{number - 1}}}$" if number <= 1 + terms else f"$\\beta_{{{number - 1 - terms}}}$"
    return f"${_SYMBOLS.get(kind, 'q')}_{{{number}}}$"
