"""Content of the figures of the adaptive experiment."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.adaptive import acceptance_by_training, error_by_time
from rnshmc.plots.style import MARKS

TITLES = {"bank": "Bank", "a9a": "Adult", "mine": "My own"}


def origin(problem: str) -> str:
    return "stand-in" if problem == "a9a" else "real"


def marked(figure: Figure) -> list[str]:
    titles = {ax.get_title(loc="left"): [text.get_text() for text in ax.texts] for ax in figure.axes}
    return [title for title, texts in titles.items() if MARKS["stand-in"] in texts]


def test_acceptance_shows_median_band_and_hmc() -> None:
    rows = [
        {"problem": p, "sampler": s, "chain": k, "training_points": n, "ap": ap, "hmc_ap": 0.7, "data": origin(p)}
        for p in TITLES
        for k in range(1, 6)
        for s, ap in (("arns_hmc", 0.1 * k), ("arns_hmc_early", 0.9))
        for n in (500, 600)
    ]
    figure = acceptance_by_training(pd.DataFrame(rows), TITLES)
    median, hmc = figure.axes[0].lines
    assert_allclose(np.asarray(median.get_xydata(), dtype=float), [[500, 0.3], [600, 0.3]])
    assert_allclose(np.asarray(hmc.get_ydata(), dtype=float), 0.7)
    assert hmc.get_linestyle() != median.get_linestyle()
    band = figure.axes[0].collections[0].get_datalim(figure.axes[0].transData)
    assert_allclose([band.ymin, band.ymax], [0.12, 0.48])  # 5% and 95% of 0.1, ..., 0.5
    assert marked(figure) == ["Adult"]
    assert not figure.axes[3].axison


def test_errors_are_medians_over_chains_and_takeovers_are_marked() -> None:
    rows = [
        {
            "problem": p,
            "sampler": s,
            "chain": k,
            "iteration": t,
            "phase": phase,
            "seconds": 0.1 * t,
            "rem": k / t,
            "data": origin(p),
        }
        for p in TITLES
        for s in ("hmc", "rns_hmc")
        for k in (1, 2, 4)
        for t, phase in ((1, "explore"), (10, "sample"), (100, "sample"))
    ]
    figure = error_by_time(pd.DataFrame(rows), TITLES)
    exact, surrogate, mark = figure.axes[0].lines
    seconds, errors = np.asarray(exact.get_xydata(), dtype=float).T
    assert_allclose(seconds[[0, -1]], [0.1, 10.0])
    assert_allclose(errors, [2.0, 0.2, 0.02])
    assert_allclose(np.asarray(surrogate.get_xydata(), dtype=float)[0], [1.0, 0.2])
    assert_allclose(np.asarray(mark.get_xydata(), dtype=float), [[1.0, 0.2]])
    band = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)
    at_start = band[np.isclose(band[:, 0], 0.1), 1]
    assert_allclose([at_start.min(), at_start.max()], [1.0, 4.0])
    assert marked(figure) == ["Adult"]


def test_a_line_begins_when_the_last_chain_has_taken_over() -> None:
    """On a slow machine some chains, or all, take over when the time that is drawn is nearly or quite over."""
    takeovers = {"rns_hmc": (2, 4), "rns_rmhmc": (8, 8), "arns_hmc": (2, 16)}
    rows = [
        {
            "problem": "bank",
            "sampler": sampler,
            "chain": chain,
            "phase": "sample" if seconds >= takeover else "explore",
            "seconds": seconds,
            "rem": chain / seconds,
            "data": "real",
        }
        for sampler, both in takeovers.items()
        for chain, takeover in enumerate(both, start=1)
        for seconds in (1, 2, 4, 8)
    ]
    lines = error_by_time(pd.DataFrame(rows), {"bank": "Bank"}).axes[0].lines
    drawn = [np.asarray(line.get_xydata(), dtype=float).tolist() for line in lines]
    early, late = [[4, 1.5 / 4], [8, 1.5 / 8]], [[8, 1.5 / 8]]
    assert sorted(drawn) == sorted([early, early[:1], late, late])


def test_nothing_to_draw_is_an_empty_figure() -> None:
    for draw in (acceptance_by_training, error_by_time):
        columns = ["problem", "sampler", "chain", "training_points", "ap", "data"]
        figure = draw(pd.DataFrame(columns=columns), TITLES)
        assert not any(ax.axison for ax in figure.axes)
        figure.draw_without_rendering()
