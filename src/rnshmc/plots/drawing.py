"""The entry of a figure: what draws it, what it reads, its caption, and the page of the report that it stands on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from matplotlib.figure import Figure


@dataclass(frozen=True)
class Drawing:
    """The entry of a figure, beside the function that draws it."""

    name: str
    title: str
    """Of its files, and above its caption."""
    draw: Callable[..., Figure]
    """Takes the contents of `reads`, in that order, and settings by their names: ``titles`` of all problems, ``title``
    or ``target`` of the figure's problem, settings of the experiment. Called within `rnshmc.plots.style.theme`."""
    reads: tuple[str, ...]
    """Names of tables of the run, or keys of `rnshmc.plots.registry.FIGURE_READERS`."""
    page: str
    """The notebook that shows it."""
    caption: str
    """Text with Jinja2 expressions of the settings of the experiment, of the config as ``config``, and of the problem
    as ``problem`` and ``samplers``; code is in double backticks."""
    config: str = ""
    problem: str = ""
    """Key of the experiment in the config, such as ``experiments.fig2``, and the problem, if the experiment names none.
    """
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """The settings, in a run."""


def source(function: Callable[..., Any]) -> str:
    """The name by which a job imports a function: ``"module:function"``.

    A job imports only the functions of its own figure, so that an edit of another drawing module does not redraw it.
    """
    owner = getattr(function, "__self__", None)
    if isinstance(owner, type):  # of a class method, which may be inherited
        return f"{owner.__module__}:{owner.__qualname__}.{function.__name__}"
    return f"{function.__module__}:{function.__qualname__}"
