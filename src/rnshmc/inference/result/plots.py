"""Figures of a result, with matplotlib: parameters in pairs, U against V, the training, predictions."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rnshmc.errors import ParameterError
from rnshmc.inference.result.prediction import as_label
from rnshmc.inference.tuning import DEFAULT
from rnshmc.types import Array

if TYPE_CHECKING:
    from rnshmc.inference.result.result import Result

MOST_PARAMETERS = 8
"""Maximum number of parameters in pairs where none are named."""
SHADE, INK, MARK = "#7a9cc6", "#222222", "#b2182b"
STYLE: dict[Any, Any] = {"axes.spines.top": False, "axes.spines.right": False, "font.size": 9, "axes.titlesize": 9}


def plot(result: "Result", kind: str, names: Sequence[str] | None) -> Any:
    """A figure of a result, see `Result.plot`."""
    if kind not in FIGURES:
        raise ParameterError(f"kind: expected one of {', '.join(FIGURES)}, got {kind!r}")
    if names is not None and not names:
        raise ParameterError("names: expected at least one parameter")
    if names is not None and (unknown := [name for name in names if name not in result.names]):
        raise ParameterError(f"names: no parameter is named {unknown[0]!r}; there are {', '.join(result.names)}")
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ParameterError("plot: matplotlib is not installed: pip install matplotlib") from error
    # Loads the backend, which in a notebook turns on that figures are shown; the context would undo that.
    plt.draw_if_interactive()  # type: ignore[no-untyped-call]
    with plt.rc_context(STYLE):
        return FIGURES[kind](result, result.names[:MOST_PARAMETERS] if names is None else names)


def pairs(result: "Result", names: Sequence[str]) -> Any:
    """Draws of each pair of parameters, with contours of 50% and 90% of the mass, and marginals with quantiles."""
    import matplotlib.pyplot as plt

    if not len(result.draws):
        raise ParameterError("plot: there are no draws")
    chosen = [result.names.index(name) for name in names]
    draws, labels = result.draws[:, chosen], [_label(result, i) for i in chosen]
    quantiles = result.quantile([0.05, 0.5, 0.95]).value[:, chosen]
    size, side = len(chosen), max(1.6, min(2.6, 12.0 / len(chosen)))
    figure, axes = plt.subplots(
        size, size, figsize=(side * size + 0.6, side * size + 0.4), squeeze=False, sharex="col", layout="constrained"
    )
    # A few draws far out must not press all others together.
    ranges = [_range(column) for column in draws.T]
    for row, column in np.ndindex(size, size):
        panel = axes[row, column]
        if column > row:
            panel.axis("off")
        elif column == row:
            _marginal(panel, draws[:, row], ranges[row], quantiles[:, row])
        else:
            _pair(panel, draws[:, [column, row]], ranges[column], ranges[row])
            panel.set_ylim(ranges[row])
        panel.set_xlim(ranges[column])
        panel.locator_params(nbins=3)
        if row == size - 1:
            panel.set_xlabel(labels[column])
            panel.tick_params(axis="x", labelrotation=30)
        if column == 0 and row > 0:
            panel.set_ylabel(labels[row])
        elif column < row:
            panel.tick_params(labelleft=False)
    return figure


def surrogate(result: "Result", _: Sequence[str]) -> Any:
    """Exact potentials against the surrogate's, at draws of it, and their differences."""
    import matplotlib.pyplot as plt

    checked = result.outcome.checked
    usable = np.zeros(0, dtype=bool) if checked is None else np.isfinite(checked.differences)
    if checked is None or not usable.any():
        raise ParameterError(f"plot: no draw of a surrogate was checked ({result.outcome.reason})")
    exact, differences = checked.values[usable], checked.differences[usable]
    lowest, off = exact.min(), differences.mean()
    exact, differences = exact - lowest, differences - off
    approximate = exact - differences
    figure, (above, below) = plt.subplots(
        2, 1, figsize=(4.6, 5.6), sharex=True, height_ratios=(2, 1), layout="constrained"
    )
    ends = [min(approximate.min(), 0.0), max(approximate.max(), exact.max())]
    above.plot(ends, ends, color=INK, linewidth=0.8, label="U = V")
    above.plot(approximate, exact, "o", color=SHADE, markeredgecolor=INK, markeredgewidth=0.4, markersize=4)
    above.set_ylabel("exact potential U")
    above.legend(frameon=False, loc="upper left")
    sd = float(np.std(differences, ddof=1)) if len(differences) > 1 else np.nan
    failed = len(usable) - int(usable.sum())
    rest = f"\n{failed} more failed or have density 0" if failed else ""
    above.set_title(f"{len(exact)} draws of the surrogate, sd(U - V) = {sd:.2g}{rest}", loc="left")
    below.axhline(0.0, color=INK, linewidth=0.8)
    below.plot(approximate, differences, "o", color=SHADE, markeredgecolor=INK, markeredgewidth=0.4, markersize=4)
    largest = 1.15 * max(float(np.abs(differences).max()), float(np.finfo(float).tiny))
    below.set(xlabel="surrogate potential V", ylabel="U - V", ylim=(-largest, largest))
    figure.align_ylabels()
    return figure


def training(result: "Result", _: Sequence[str]) -> Any:
    """sd(U - V) at each batch of draws of the surrogate of that time, against the units spent until then."""
    import matplotlib.pyplot as plt

    units, errors = result.outcome.training.T
    if not np.isfinite(errors).any():
        raise ParameterError(f"plot: no surrogate was trained ({result.outcome.reason})")
    limits = DEFAULT.judging
    figure, panel = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
    panel.semilogy(units, errors, "o-", color=SHADE, markeredgecolor=INK, markeredgewidth=0.4, markersize=4)
    for limit, word in ((limits.sd_good, "good"), (limits.sd_bad, "doubtful")):
        panel.axhline(limit, color=MARK, linewidth=0.8, linestyle="--")
        panel.annotate(
            f"{word} below {limit:g}",
            (1.0, limit),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2),
            textcoords="offset points",
            ha="right",
            color=MARK,
            fontsize=8,
        )
    panel.set(xlabel="evaluation units spent", ylabel="sd(U - V) at new draws")
    return figure


def predictions(result: "Result", _: Sequence[str]) -> Any:
    """Data over the outputs of a forward model and over new observations: `Prediction.plot`."""
    return np.ravel(result.predict().plot())[0].figure


def _marginal(panel: Any, values: Array, ends: tuple[float, float], quantiles: Array) -> None:
    panel.hist(values, bins=40, range=ends, density=True, color=SHADE, histtype="stepfilled")
    for quantile, line in zip(quantiles, ("--", "-", "--"), strict=True):
        panel.axvline(quantile, color=INK, linewidth=0.8, linestyle=line)
    low, middle, high = quantiles
    digits = max(0, 2 - int(np.floor(np.log10(max(high - low, np.finfo(float).tiny)))))
    # Rounded first, and no minus sign before a zero.
    texts = [f"{round(float(x), digits) + 0.0:.{digits}f}" if digits < 6 else f"{x:.4g}" for x in (middle, low, high)]
    panel.set_title("{}  ({}, {})".format(*texts))
    panel.set_yticks([])
    panel.spines["left"].set_visible(False)


def _pair(panel: Any, values: Array, across: tuple[float, float], up: tuple[float, float]) -> None:
    from scipy.ndimage import gaussian_filter

    panel.plot(*values.T, ".", color=SHADE, markersize=2, alpha=0.5, rasterized=True)
    counts, *edges = np.histogram2d(values[:, 0], values[:, 1], bins=40, range=[across, up])
    density = gaussian_filter(counts, 1.5)
    ordered = np.sort(density.ravel())[::-1]
    mass = np.cumsum(ordered) / ordered.sum()
    levels = sorted({float(ordered[np.searchsorted(mass, share)]) for share in (0.5, 0.9)})
    centres = [0.5 * (edge[1:] + edge[:-1]) for edge in edges]
    panel.contour(*centres, density.T, levels=levels, colors=INK, linewidths=0.8)


def _range(values: Array) -> tuple[float, float]:
    """Where the draws are, but for a few far out."""
    low, high = np.quantile(values, [0.002, 0.998])
    margin = 0.08 * (high - low) or max(abs(high), 1.0)
    return float(low - margin), float(high + margin)


def _label(result: "Result", i: int) -> str:
    unit = f" [{result.units[i]}]" if result.units[i] else ""
    return as_label(result.names[i] + unit)


FIGURES: dict[str, Callable[["Result", Sequence[str]], Any]] = {
    "pairs": pairs,
    "surrogate": surrogate,
    "training": training,
    "predictions": predictions,
}
