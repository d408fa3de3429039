"""How units and overhead of `rnshmc.sample` grow with the dimension: a section of the page, and its figure."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter
from peers.judge import Verdict
from peers.wording import count, median, seconds, spread

from rnshmc.plots.style import INK, WIDTH, theme

SERIES = {
    "logistic regression, simulated": (("lr_simulated", "lr_200", "lr_300", "lr_500"), "o", "#0072b2"),
    "logistic regression, real data": (("bank", "news", "a9a", "dota2"), "s", "#d55e00"),
    "elliptic problem": (("pde", "pde_50", "pde_100", "pde_200"), "^", "#7f7f7f"),
}
"""Problems, marker and colour of each kind of posterior."""
PER_DIMENSION = 6
"""Units for each parameter that were aimed at."""


def growth(runs: Sequence[Verdict], dims: Mapping[str, int], figure: str, command: str) -> str:
    """The section: a row for each problem, in the order of their dimensions; empty if none has a hundred."""
    groups = {name: [run for run in runs if run.problem == name] for names, *_ in SERIES.values() for name in names}
    there = sorted((name for name, found in groups.items() if found), key=lambda name: dims[name])
    if not there or dims[there[-1]] < 100:
        return ""
    lines = [
        "## Many dimensions",
        "",
        "`rnshmc.sample` with gradients, by the number of parameters d. Units are medians over seeds, with the "
        f"largest in parentheses. The goal, the line in the figure, is at most {PER_DIMENSION} d.",
        "",
        f"    {command} --config part=dimensions",
        "",
        f"![Units of rnshmc.sample over the number of parameters]({figure})",
        "",
        "| posterior | d | seeds | units | units / d | overhead | good | rightly |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in there:
        found, d = groups[name], dims[name]
        good = [run for run in found if run.says_good]
        cells = [
            name,
            str(d),
            str(len(found)),
            spread(found, "units_goal"),
            f"{median(found, 'units_goal') / d:.1f}",
            seconds(median(found, "overhead_s")),
            count(len(good)),
            count(sum(run.honest for run in good)),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def draw(runs: Sequence[Verdict], dims: Mapping[str, int]) -> Figure:
    """Units until the accuracy of 1000 draws over d: a mark for each seed, and their medians joined."""
    with theme():
        return _drawn(runs, dims)


def _drawn(runs: Sequence[Verdict], dims: Mapping[str, int]) -> Figure:
    figure = Figure(figsize=(WIDTH, 3.8), layout="constrained")
    axes = figure.add_subplot()
    for label, (names, marker, colour) in SERIES.items():
        groups = {dims[name]: [run for run in runs if run.problem == name] for name in names if name in dims}
        points = [(d, run.units_goal) for d, found in groups.items() for run in found if np.isfinite(run.units_goal)]
        if not points:
            continue
        x, y = np.array(points).T
        axes.plot(x, y, marker, color=colour, markersize=4, alpha=0.35, linestyle="none")
        medians = sorted((d, median(found, "units_goal")) for d, found in groups.items() if found)
        joined = "" if names == SERIES["logistic regression, real data"][0] else "-"
        axes.plot(*np.array(medians).T, marker=marker, color=colour, markersize=7, linestyle=joined, label=label)
    d = np.array([20.0, 600.0])
    axes.plot(d, PER_DIMENSION * d, color=INK, linestyle="--", label=f"{PER_DIMENSION} d")
    axes.set(
        xscale="log", yscale="log", xlabel="number of parameters d", ylabel="units until the accuracy of 1000 draws"
    )
    axes.set_xticks([20, 50, 100, 200, 500])
    axes.set_yticks([100, 200, 500, 1000, 2000, 5000])
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())
    figure.legend(loc="outside lower center", ncols=4)
    return figure
