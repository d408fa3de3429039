"""Content of the figures of one problem."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.lines import AxLine
from numpy.testing import assert_allclose

from rnshmc.diagnostics.ess import autocorrelation
from rnshmc.errors import ParameterError
from rnshmc.plots.chain_figures import SHOWN, autocorrelations, traces
from rnshmc.plots.elliptic import PIXELS, diffusion_fields, predictive_pressures
from rnshmc.plots.marginals import marginals
from rnshmc.plots.style import MARKS
from rnshmc.results.marginals import marginal_table
from rnshmc.results.posterior import ProblemChains
from rnshmc.store.account import Account
from rnshmc.store.chains import StoredChain
from rnshmc.targets.forward_data import ForwardData, Predictions
from rnshmc.types import Array

MakeChain = Callable[..., StoredChain]
LOGISTIC = {"kind": "logistic"}


@pytest.fixture(scope="module")
def chains(make_chain: MakeChain) -> ProblemChains:
    return ProblemChains.of([make_chain("bank", sampler, k) for sampler in ("hmc", "rns_hmc") for k in (1, 2)])


def marks(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.texts if text.get_text() == MARKS["stand-in"]]


def test_traces_show_the_last_draws(make_chain: MakeChain) -> None:
    long = make_chain("bank", "hmc", 1, draws=700)
    short = make_chain("bank", "rns_hmc", 1, draws=300)
    figure = traces(ProblemChains.of([long, short]), LOGISTIC, "Bank")
    for ax, chain, shown in zip(figure.axes, (long, short), (SHOWN, 300), strict=False):
        (line,) = ax.lines
        assert_allclose(np.asarray(line.get_ydata(), dtype=float), chain.draws[-shown:, 0])
        assert (np.asarray(line.get_xdata())[[0, -1]] == [-shown, -1]).all()
    assert figure.axes[6].get_ylabel() == "β₄"


def draw_marginals(chains: ProblemChains, *, title: str, coordinates: Sequence[int] = (0, 1, 2)) -> Figure:
    return marginals(marginal_table(chains, coordinates), LOGISTIC, title)


def test_marginals_lay_the_samplers_over_one_another(chains: ProblemChains) -> None:
    figure = draw_marginals(chains, title="Bank")
    grid = np.array(figure.axes[:9]).reshape(3, 3)
    assert [len(grid[i, i].lines) for i in range(3)] == [2, 2, 2]
    assert [len(grid[2, j].collections) for j in range(2)] == [2, 2]
    assert not grid[0, 2].axison
    assert grid[2, 0].get_ylim() == grid[2, 1].get_ylim() == grid[2, 2].get_xlim()
    assert grid[1, 0].get_xlim() == grid[0, 0].get_xlim()


def test_marginals_have_a_row_of_differences(chains: ProblemChains) -> None:
    figure = draw_marginals(chains, title="Bank")
    for marginal, ax in zip(figure.axes[:9:4], figure.axes[9:], strict=True):
        hmc, rns = (np.asarray(line.get_ydata(), dtype=float) for line in marginal.lines)
        difference = np.asarray(ax.lines[1].get_ydata(), dtype=float)
        assert_allclose(difference, 100 * (rns - hmc) / hmc.max(), atol=1e-9)
        low, high = ax.get_ylim()
        assert low == -high
        assert high >= min(np.abs(difference).max(), 100)


def test_marginals_can_be_drawn_again_from_a_file(chains: ProblemChains, tmp_path: Path) -> None:
    marginal_table(chains, [0, 2]).to_csv(tmp_path / "fig6.csv", index=False, float_format="%.6g")
    again = marginals(pd.read_csv(tmp_path / "fig6.csv"), LOGISTIC, "Bank")
    first = draw_marginals(chains, title="Bank", coordinates=(0, 2))
    assert again.axes[2].get_ylabel() == "β₃"
    for drawn, wanted in zip(again.axes[2].collections, first.axes[2].collections, strict=True):
        paths = [np.concatenate([path.vertices for path in found.get_paths()]) for found in (drawn, wanted)]
        assert_allclose(paths[0], paths[1], atol=1e-3)


def test_autocorrelations_start_at_one(chains: ProblemChains) -> None:
    figure = autocorrelations(chains, "Bank")
    for ax in figure.axes:
        assert np.asarray(ax.lines[0].get_ydata())[0] == 1.0


def test_figures_of_stand_in_data_say_so(make_chain: MakeChain, chains: ProblemChains) -> None:
    stand_in = ProblemChains.of([make_chain("bank", "hmc", 1, origin="stand-in")])
    for draw in (partial(traces, target=LOGISTIC), draw_marginals, autocorrelations):
        assert marks(draw(stand_in, title="Bank")) == [MARKS["stand-in"]]
        assert marks(draw(chains, title="Bank")) == []


def test_chains_that_never_moved_can_be_drawn(make_chain: MakeChain) -> None:
    moved = make_chain("bank", "hmc", 1)
    still = ProblemChains.of([replace(moved, draws=np.ones_like(moved.draws))])
    for draw in (partial(traces, target=LOGISTIC), draw_marginals, autocorrelations):
        draw(still, title="Bank").draw_without_rendering()


def forward_data(theta_true: Array) -> ForwardData:
    points = np.array([[0.5, 0.5], [0.25, 0.75]])
    two, empty = np.zeros(2), np.zeros((1, 2))
    return ForwardData(points, two, two, theta_true, np.zeros((1, len(theta_true))), empty, 0.1, 0.5, "simulated")


def test_fields_show_the_truth_where_it_is_known(make_chain: MakeChain) -> None:
    chains = ProblemChains.of([make_chain("pde", sampler, 1, dim=4) for sampler in ("hmc", "rns_hmc")])
    target = {"kind": "elliptic", "cells": 8, "modes": 4}
    for truth, titles in (
        (np.ones(4), ["truth", "mean, HMC", "RNS-HMC - HMC", "sd, HMC", "RNS-HMC - HMC"]),
        (np.full(4, np.nan), ["mean, HMC", "RNS-HMC - HMC", "sd, HMC", "RNS-HMC - HMC"]),
    ):
        figure = diffusion_fields(chains, forward_data(truth), target, "Elliptic")
        assert [ax.get_title() or ax.get_title(loc="left") for ax in figure.axes if ax.axison and ax.lines] == titles


def test_a_field_is_drawn_cell_by_cell_up_to_the_frame(make_chain: MakeChain) -> None:
    chains = ProblemChains.of([make_chain("pde", "hmc", 1, dim=4)])
    settings = {"kind": "elliptic", "cells": 8, "modes": 4, "cell_type": "quadrilateral"}
    mean = diffusion_fields(chains, forward_data(np.full(4, np.nan)), settings, "Elliptic").axes[0].images[0]
    assert tuple(mean.get_extent()) == (0, 1, 0, 1)
    shown = np.asarray(mean.get_array())
    assert shown.shape == (PIXELS, PIXELS)
    cells = shown.reshape(8, PIXELS // 8, 8, PIXELS // 8)
    assert (cells == cells[:, :1, :, :1]).all()
    assert len(np.unique(shown)) == 64


def test_predictive_pressures_have_quantiles_over_the_observations_beside_each_other(tmp_path: Path) -> None:
    observed, prior, posterior = np.array([0.7, 0.3]), np.linspace([0, 0.2], [1, 0.4], 21), np.linspace([0.6, 0], 1, 41)
    forward = replace(forward_data(np.ones(2)), observations=observed, prior_predictive=prior)
    Predictions("rns_hmc", posterior).save(tmp_path / "pde.npz")
    axes = predictive_pressures(forward, Predictions.load(tmp_path / "pde.npz"), "Elliptic").axes
    assert [ax.get_title(loc="left") for ax in axes] == ["Prior", "Posterior, RNS-HMC"]
    for ax, drawn in zip(axes, (prior, posterior), strict=True):
        dots, *lines = ax.lines
        assert_allclose(np.asarray(dots.get_xdata()), observed)
        assert_allclose(np.asarray(dots.get_ydata(), dtype=float), np.median(drawn, axis=0), rtol=1e-14)
        (bars,) = ax.collections
        ends = [np.asarray(path.vertices)[:, 1] for path in bars.get_paths()]
        assert_allclose(ends, np.quantile(drawn, (0.05, 0.95), axis=0).T, rtol=0, atol=1e-14)
        (first, *_), shifts = zip(*(line.get_xy1() for line in lines if isinstance(line, AxLine)), strict=True)
        assert (first, shifts) == (0.0, tuple(shift * forward.noise_sd for shift in (0, -2, 2)))
        assert ax.get_xlabel() == "observed pressure (dimensionless)"


@pytest.fixture(scope="module")
def automatic(make_chain: MakeChain) -> Callable[[int], StoredChain]:
    """A chain of HMC passed off as draws of `rnshmc.sample`: so many Markov chains, or rows of a surrogate."""

    def made(markov: int) -> StoredChain:
        chain, nothing = make_chain("bank", "hmc", 1), [0.0] * 6
        account = Account("", "good", len(chain.draws), markov, nothing, nothing, nothing, nothing)
        settings = {**chain.settings, "sampler": "auto", **account.entry()}
        return replace(chain, settings=settings, warmup=None, warmup_stats=None)

    return made


@pytest.mark.parametrize("draw", [partial(traces, target=LOGISTIC), autocorrelations])
def test_draws_of_a_surrogate_are_shown_as_no_chain(
    draw: Callable[..., Figure], automatic: Callable[[int], StoredChain]
) -> None:
    for ax in draw(ProblemChains.of([automatic(0)]), title="Bank").axes:
        assert [text.get_text() for text in ax.texts] == ["no Markov chain"]
        assert not ax.lines


def test_chains_in_one_file_are_shown_as_chains(automatic: Callable[[int], StoredChain]) -> None:
    chain = automatic(4)
    shown = traces(ProblemChains.of([chain]), LOGISTIC, "Bank").axes[0].lines[0]
    assert_allclose(np.asarray(shown.get_ydata(), dtype=float), chain.draws[:50, 0])
    line = autocorrelations(ProblemChains.of([chain]), "Bank").axes[0].lines[0]
    parts = [autocorrelation(part)[:41] for part in chain.draws.reshape(4, 50, 6)]
    assert_allclose(np.asarray(line.get_ydata(), dtype=float), np.median(np.mean(parts, axis=0), axis=1), atol=1e-12)


def test_coordinates_have_the_names_of_the_user(chains: ProblemChains) -> None:
    names = ["rate", "ratio", "cost$", "d", "e", "f"]
    figure = traces(chains, {"kind": "python", "names": names}, "Mine")
    assert [ax.get_ylabel() for ax in figure.axes if ax.get_ylabel()] == ["rate", "ratio", r"cost\$", "d", "e"]
    with pytest.raises(ParameterError, match="names has 2 entries"):
        traces(chains, {"kind": "python", "names": names[:2]}, "Mine")
