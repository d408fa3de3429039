"""Names of the coordinates of a posterior, for axes and tables."""

from collections.abc import Mapping
from typing import Any

from rnshmc.errors import ParameterError
from rnshmc.plots.style import plain

_SYMBOLS = {"logistic": "β", "logistic_laplace": "β", "elliptic": "θ"}
_NAMES = {"gp_regression": ("log l", "log σ²")}
_LOWERED = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def coordinate_name(target: Mapping[str, Any], number: int) -> str:
    """Name of a coordinate, counted from 1: the user's, or by the symbols of the papers; q_k where there is neither.

    `target` is the config's entry of the target, with the problem's ``names`` if it has any. Raises `ParameterError` if
    there are fewer names than coordinates.
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
        symbol, number = ("α", number - 1) if number <= 1 + terms else ("β", number - 1 - terms)
        return f"{symbol}{number}".translate(_LOWERED)
    return f"{_SYMBOLS.get(kind, 'q')}{number}".translate(_LOWERED)
