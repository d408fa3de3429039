"""Content of the figures over all problems."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.chain_metrics import acceptance, evaluations
from rnshmc.plots.efficiency import efficiency
from rnshmc.plots.style import MARKS

TITLES = {"bank": "Bank", "a9a": "Adult, a9a", "mine": "My own"}
CELLS = [(problem, sampler) for problem in TITLES for sampler in ("hmc", "rns_hmc")]


def origin(problem: str) -> str:
    return "stand-in" if problem == "a9a" else "real"


@pytest.fixture
def table() -> pd.DataFrame:
    rows = [
        {
            "problem": problem,
            "sampler": sampler,
            "min_ess_per_s": 10.0 if sampler == "hmc" else 85.0,
            "min_ess_per_value": 0.1 if sampler == "hmc" else 0.4,
            "speedup": 1.0 if sampler == "hmc" else 8.5,
            "data": origin(problem),
        }
        for problem, sampler in CELLS
    ]
    return pd.DataFrame(rows)


@pytest.fixture
def chains() -> pd.DataFrame:
    rows = [
        {
            "problem": problem,
            "sampler": sampler,
            "chain": chain,
            "ap": 0.7 + 0.01 * chain,
            "values_per_iter": 1.0,
            "gradients_per_iter": 5.0 if sampler == "hmc" else 0.0,
            "metrics_per_iter": 0.0,
            "surrogate_gradients_per_iter": 0.0 if sampler == "hmc" else 5.0,
            "data": origin(problem),
        }
        for problem, sampler in CELLS
        for chain in (1, 2)
    ]
    return pd.DataFrame(rows)


def marked(figure: Figure) -> list[str]:
    titles = {ax.get_title(loc="left"): [text.get_text() for text in ax.texts] for ax in figure.axes}
    return [title for title, texts in titles.items() if MARKS["stand-in"] in texts]


def tick_labels(figure: Figure) -> list[str]:
    return [label.get_text() for label in figure.axes[0].get_yticklabels()]


def test_efficiency_writes_the_ratio_to_hmc(table: pd.DataFrame) -> None:
    errors = table.assign(min_ess_per_s=0.5, min_ess_per_value=np.nan)
    figure = efficiency(table, errors, TITLES)
    assert [text.get_text() for text in figure.axes[0].texts] == ["HMC = 1", "× 8.5"] * 3
    assert [text.get_text() for text in figure.axes[1].texts] == ["HMC = 1", "× 4"] * 3
    assert tick_labels(figure) == ["Bank", f"Adult,\na9a\n[{MARKS['stand-in']}]", "My own"]


def test_efficiency_has_no_ratio_to_chains_that_did_not_mix(table: pd.DataFrame) -> None:
    figure = efficiency(table.assign(speedup=np.nan), table.assign(min_ess_per_s=0.5, min_ess_per_value=0.1), TITLES)
    assert [len(ax.texts) for ax in figure.axes] == [0, 0]


def test_acceptance_shows_each_chain_beside_the_paper(chains: pd.DataFrame) -> None:
    paper = pd.DataFrame({"problem": ["bank"], "sampler": ["hmc"], "ap": [0.7]})
    figure = acceptance(chains, paper, TITLES)
    lines = figure.axes[0].lines
    assert len(lines) == len(CELLS) + 1
    assert_allclose(np.asarray(lines[0].get_xdata(), dtype=float), [0.71, 0.72])
    assert_allclose(np.asarray(lines[1].get_xdata(), dtype=float), 0.7)
    assert MARKS["stand-in"] in tick_labels(figure)[1]


def test_acceptance_has_one_order_of_samplers(chains: pd.DataFrame) -> None:
    paper = pd.DataFrame({"problem": ["bank"], "sampler": ["hmc"], "ap": [0.7]})
    figures = [acceptance(table, paper, TITLES) for table in (chains, chains.iloc[[2, 3, 0, 1, *range(4, 12)]])]
    first, second = ([line.get_marker() for line in figure.axes[0].lines] for figure in figures)
    assert first == second


def test_only_exact_evaluations_are_filled(chains: pd.DataFrame) -> None:
    bars = evaluations(chains, TITLES).axes[0].patches
    # Of HMC and RNS-HMC from below: values, gradients, gradients of the surrogate.
    assert [to_rgba(bar.get_facecolor())[3] for bar in bars] == [1, 1, 1, 1, 0, 0]


def test_evaluations_leave_out_what_nobody_evaluated(chains: pd.DataFrame) -> None:
    figure = evaluations(chains, TITLES)
    labels = [text.get_text() for text in figure.legends[0].get_texts()]
    assert labels == ["exact potential", "exact gradient", "surrogate gradient"]
    widths = [patch.get_width() for patch in figure.axes[0].patches]  # type: ignore[attr-defined]
    assert_allclose(widths, [1, 1, 0, 5, 5, 0])
    assert marked(figure) == ["Adult, a9a"]


def test_numbers_and_bars_stay_inside_their_frames(table: pd.DataFrame, chains: pd.DataFrame) -> None:
    figure = efficiency(table, table.assign(min_ess_per_s=1.0, min_ess_per_value=0.01), TITLES)
    figure.draw_without_rendering()
    for ax in figure.axes:
        frame = ax.get_window_extent()
        extents = [text.get_window_extent() for text in ax.texts]
        assert extents
        assert all(frame.x0 <= extent.x0 and extent.x1 <= frame.x1 for extent in extents)
    for ax in evaluations(chains, TITLES).axes[:3]:
        assert max(bar.get_bbox().x1 for bar in ax.patches) < ax.get_xlim()[1]  # type: ignore[attr-defined]


def test_acceptance_of_problems_that_no_paper_has_names_no_paper(chains: pd.DataFrame) -> None:
    paper = pd.DataFrame({"problem": ["bank", "elsewhere"], "sampler": ["hmc", "hmc"], "ap": [0.7, 0.8]})

    def legend(problems: list[str]) -> list[str]:
        shown = acceptance(chains, paper[paper["problem"].isin(problems)], TITLES)
        return [text.get_text() for text in shown.legends[0].get_texts()]

    assert "paper" in legend(["bank", "elsewhere"])
    assert "paper" not in legend(["elsewhere"])
