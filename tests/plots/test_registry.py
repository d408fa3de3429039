"""The registry of figures: what it names exists, and takes what it is given."""

import inspect
from pkgutil import resolve_name

import pytest

from rnshmc.plots.drawing import FIGURE_READERS
from rnshmc.plots.registry import FIGURES, PROBLEM_FIGURES

DRAWINGS = {**FIGURES, **{f"problem_{name}": drawing for name, drawing in PROBLEM_FIGURES.items()}}


@pytest.mark.parametrize("name", DRAWINGS)
def test_a_drawing_function_takes_its_tables_and_settings(name: str) -> None:
    drawing = DRAWINGS[name]
    signature = inspect.signature(resolve_name(drawing.draw))
    bound = signature.bind(*drawing.tables, **dict.fromkeys(drawing.settings))
    assert set(drawing.settings) <= set(bound.arguments)


@pytest.mark.parametrize("reader", FIGURE_READERS.values())
def test_a_reader_exists(reader: str) -> None:
    assert callable(resolve_name(reader))
