"""What the figures of the adaptive experiment show."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.error_by_time import error_by_time
from rnshmc.plots.style import MARKS
from rnshmc.plots.training_acceptance import acceptance_by_training

TITLES = {"bank": "Bank", "a9a": "Adult", "mine": "My own"}


def origin(problem: str) -> str:
    return "stand-in" if problem == "a9a" else "real"


def marked(figure: Figure) -> list[str]:
    titles = {ax.get_title(loc="left"): [text.get_text() for text in ax.texts] for ax in figure.axes}
    return [title for title, texts in titles.items() if MARKS["stand-in"] in texts]


def test_acceptance_shows_median_band_and_hmc() -> None:
    rows = [
        {"problem": p, "chain": k, "training_points": n, "ap": 0.1 * k, "hmc_ap": 0.7, "data": origin(p)}
        for p in TITLES
        for k in range(1, 6)
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
    # Between the points of a chain, whose error falls by 10 a second at first, errors are interpolated on a log scale.
    early = seconds < 1.0
    assert_allclose(np.log(errors[early]), np.interp(seconds[early], [0.1, 1.0], np.log([2.0, 0.2])))
    assert_allclose(np.asarray(surrogate.get_xydata(), dtype=float)[0], [1.0, 0.2])
    assert_allclose(np.asarray(mark.get_xydata(), dtype=float), [[1.0, 0.2]])
    band = np.asarray(figure.axes[0].collections[0].get_paths()[0].vertices)
    at_start = band[np.isclose(band[:, 0], 0.1), 1]
    assert_allclose([at_start.min(), at_start.max()], [1.0, 4.0])
    assert marked(figure) == ["Adult"]


def test_chains_are_compared_at_equal_seconds() -> None:
    """Chains of different pace: their errors are those at one time, and HMC ends where the surrogate's chains do."""
    rows = [
        {
            "problem": "bank",
            "sampler": s,
            "chain": k,
            "phase": phase,
            "seconds": pace * k * t,
            "rem": 1 / t,
            "data": "real",
        }
        for s, pace in (("hmc", 10.0), ("rns_hmc", 1.0))
        for k in (1, 2)
        for t, phase in ((1, "explore"), (2, "sample"), (4, "sample"), (8, "sample"))
    ]
    exact, surrogate, _ = error_by_time(pd.DataFrame(rows), {"bank": "Bank"}).axes[0].lines
    seconds, errors = np.asarray(surrogate.get_xydata(), dtype=float).T
    assert_allclose(seconds[[0, -1]], [4.0, 8.0])  # from the later takeover to the earlier end
    assert_allclose([errors[0], errors[-1]], [0.5 * (1 / 4 + 1 / 2), 0.5 * (1 / 8 + 1 / 4)])
    assert np.asarray(exact.get_xdata(), dtype=float).size == 0


def test_nothing_to_draw_is_an_empty_figure() -> None:
    for draw in (acceptance_by_training, error_by_time):
        columns = ["problem", "sampler", "chain", "training_points", "ap", "data"]
        figure = draw(pd.DataFrame(columns=columns), TITLES)
        assert not any(ax.axison for ax in figure.axes)
        figure.draw_without_rendering()
