"""How a figure is made: what draws it, the tables that it is drawn from, its settings, and its caption."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Drawing:
    """How a figure is made.

    Attributes
    ----------
    draw
        ``"module:function"``: takes the contents of `tables`, in that order, and the `settings` by name.
    tables
        Names of tables of the run, or of what `FIGURE_READERS` read.
    caption
        reStructuredText with Jinja2 expressions of the settings of the experiment, of the config as ``config``, and of
        the problem as ``problem`` and ``samplers``.
    settings
        Arguments of the function: ``titles`` of all problems, ``title`` or ``target`` of the figure's problem, or a
        setting of the experiment that the figure shows.
    """

    draw: str
    tables: tuple[str, ...]
    caption: str
    settings: tuple[str, ...] = ()


FIGURE_READERS: Mapping[str, str] = {
    "chains": "rnshmc.results.posterior:ProblemChains.read",
    "forward": "rnshmc.targets.forward_data:ForwardData.load",
    "metrics": "rnshmc.results.metrics:read_metrics_frame",
    "published": "rnshmc.scorecard.published:read_acceptance",
}
"""Readers of the inputs that are not CSV tables."""
