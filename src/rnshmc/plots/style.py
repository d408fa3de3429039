"""The style of all figures: a colour, a line and a marker for each sampler, distinguishable in grey."""

from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from rnshmc.errors import ParameterError
from rnshmc.results.names import base_sampler, in_order, sampler_label

STAND_IN = "stand-in"
MARKS = {STAND_IN: "stand-in data", "subset": "some of the rows"}
"""Labels of results from data other than the papers', by the origin of the data."""
ALARM = "#b2182b"
PAPER = "#8a8a8a"
INK = "#222222"
WIDTH = 7.2
"""Width of a full-page figure in inches."""
IN_A_ROW = 5
"""Samplers in a row of a legend, whose names fit into this width."""

_DPI = 170
_PNG = {"metadata": {"Software": None}, "dpi": _DPI}
_PDF = {"metadata": {"CreationDate": None, "Producer": None, "Creator": None}}
_TICKS = {"color": INK, "labelsize": 8.8, "major.size": 4.8, "major.width": 1.0, "minor.size": 3.2, "minor.width": 0.8}
# Sizes and lines are seaborn's style "ticks" in its context "paper", as numbers: importing seaborn takes longer
# than drawing most figures, so only those that it draws import it.
_RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#777777",
    "axes.labelcolor": INK,
    "axes.labelsize": 9.6,
    "axes.linewidth": 1.0,
    "axes.titlelocation": "left",
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.grid": True,
    "figure.titlesize": 11,
    "figure.titleweight": "bold",
    "font.family": ["DejaVu Sans"],
    "font.size": 9.6,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "legend.fontsize": 8.8,
    "legend.frameon": False,
    "legend.title_fontsize": 9.6,
    "lines.linewidth": 1.2,
    "lines.markersize": 4.8,
    "lines.solid_capstyle": "round",
    "patch.edgecolor": "w",
    "patch.force_edgecolor": True,
    "patch.linewidth": 0.8,
    "pdf.fonttype": 42,
    "text.color": INK,
    **{f"{axis}tick.{key}": value for axis in "xy" for key, value in _TICKS.items()},
}


@dataclass(frozen=True)
class SamplerStyle:
    """How a sampler is drawn."""

    label: str
    colour: str
    line: Any
    """A matplotlib line style."""
    marker: str

    @property
    def lines(self) -> str:
        """The label in two lines, for narrow columns."""
        return self.label.replace(" (", "\n(")

    @property
    def drawing(self) -> dict[str, Any]:
        """Keyword arguments of a line without markers."""
        return {"color": self.colour, "linestyle": self.line}


# Colours of Okabe and Ito, dark for the first of each family; dashes and markers carry the difference in grey.
_LOOKS: Mapping[str, tuple[str, Any, str]] = {
    "hmc": ("#1f2933", "-", "o"),
    "rmhmc": ("#5b6770", (0, (1, 1)), "^"),
    "rns_hmc": ("#d55e00", (0, (4, 1.5)), "s"),
    "rns_rmhmc": ("#e69f00", (0, (4, 1.5, 1, 1.5)), "D"),
    "arns_hmc": ("#0072b2", (0, (6, 1.5, 1, 1.5, 1, 1.5)), "v"),
    "arns_hmc_early": ("#4f9fd0", (0, (9, 1.5, 1, 1.5)), "p"),
    "rns_hmc_rbf": ("#cc79a7", (0, (2, 1)), "P"),
    "gp_hmc": ("#009e73", (0, (7, 2)), "X"),
    "fitc_hmc": ("#56b4e9", (0, (3, 1, 1, 1, 1, 1)), "<"),
    "nng_hmc": ("#6a3d9a", (0, (5, 1)), ">"),
    "sghmc": ("#8c6d31", (0, (1, 2)), "h"),
    "sghmc_mh": ("#b2182b", (0, (2, 2)), "*"),
}
# The first variant in a figure keeps its sampler's look; the next ones are lighter and have longer dashes.
_VARIANTS: tuple[tuple[float, Any], ...] = (
    (0.25, (0, (5, 1.5))),
    (0.45, (0, (9, 1.5, 1, 1.5))),
    (0.12, (0, (1, 1, 1, 4))),
    (0.35, (0, (3, 1, 1, 1, 1, 1))),
    (0.54, (0, (12, 2))),
)
_OTHER = ("#4d4d4d", (0, (1, 1)), "d")


def sampler_style(sampler: str) -> SamplerStyle:
    """How a sampler is drawn: a variant like its sampler; all samplers that are not in the papers alike."""
    return SamplerStyle(sampler_label(sampler), *_LOOKS.get(sampler, _LOOKS.get(base_sampler(sampler) or "", _OTHER)))


def variant_styles(samplers: Iterable[str]) -> dict[str, SamplerStyle]:
    """How the samplers of a figure are drawn, in order; variants differ in lightness and line.

    Raises `ParameterError` if there are more variants of a sampler than styles.
    """
    styles: dict[str, SamplerStyle] = {}
    for sampler in in_order(samplers):
        style = sampler_style(sampler)
        place = sum(base_sampler(other) == base_sampler(sampler) for other in styles) if base_sampler(sampler) else 0
        if place > len(_VARIANTS):
            raise ParameterError(f"samplers: no style for more than {place} variants of a sampler, such as {sampler}")
        if place:
            lightness, line = _VARIANTS[place - 1]
            style = replace(style, colour=_lighter(style.colour, lightness), line=line)
        styles[sampler] = style
    return styles


def _lighter(colour: str, share: float) -> str:
    """A colour mixed with this share of white."""
    red, green, blue = (1 - (1 - part) * (1 - share) for part in to_rgb(colour))
    return to_hex((red, green, blue))


def theme() -> AbstractContextManager[None]:
    """Draw in the style of the project, and restore matplotlib's settings afterwards."""
    return mpl.rc_context(_RC)


def mark_origin(place: Axes | Figure, origin: str) -> None:
    """Label a panel or figure in its upper right corner if its data are not those of the papers."""
    if origin in MARKS:
        transform = place.transAxes if isinstance(place, Axes) else place.transFigure
        place.text(
            0.99, 0.99, MARKS[origin], color=ALARM, size=8, weight="bold", ha="right", va="top", transform=transform
        )


def with_title(figure: Figure, title: str, origin: str = "") -> Figure:
    """The figure with a title, marked if its data are not those of the papers."""
    figure.suptitle(plain(title))
    mark_origin(figure, origin)
    return figure


def plain(text: str) -> str:
    """Text of a config as it is shown in a figure, where dollar signs would enclose a formula."""
    return text.replace("$", r"\$")


def coefficient_label(number: int) -> str:
    """Name of a coefficient on an axis, counted from 1 as in the papers."""
    return rf"$\beta_{{{number}}}$"


def sampler_legend(
    figure: Figure, samplers: Iterable[str], *, marker: bool = False, extra: Iterable[Artist] = ()
) -> None:
    """A legend of samplers under the figure, in as few rows as the width allows."""
    handles: list[Artist] = []
    for style in map(sampler_style, in_order(samplers)):
        drawing: dict[str, Any] = {"linestyle": "", "marker": style.marker} if marker else {"linestyle": style.line}
        handles.append(Line2D([], [], color=style.colour, label=style.label, **drawing))
    handles.extend(extra)
    rows = -(-len(handles) // IN_A_ROW)
    figure.legend(handles=handles, loc="outside lower center", ncols=-(-len(handles) // max(rows, 1)))


def log_axis(axis: Axis) -> None:
    """Plain numbers on a logarithmic axis: at 1, 2 and 5 of each decade, only at decades if there are many."""
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 200 * low else (1.0,)))
    axis.set_major_formatter(FuncFormatter(lambda number, _: f"{number:g}"))
    axis.set_minor_formatter(NullFormatter())


def save(figure: Figure, *paths: Path) -> None:
    """Write a figure to each path, PNG or PDF by its suffix; equal figures give equal bytes, without dates."""
    with theme():
        # The layout is expensive: computed once, at the resolution of the PNG, for all files.
        figure.set_dpi(_DPI)
        figure.draw_without_rendering()
        figure.set_layout_engine(None)
        for path in paths:
            figure.savefig(path, **(_PDF if path.suffix == ".pdf" else _PNG))
