"""Content of Figs. 1 to 3."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.testing import assert_allclose

from rnshmc.plots.style import sampler_style
from rnshmc.plots.surrogates import banana, one_dimension
from rnshmc.plots.sweeps import gaussian_sweep
from rnshmc.types import Array

METHODS = ("rns_hmc", "gp_hmc")


def legend(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def xy(ax: Axes, line: int) -> Array:
    return np.asarray(ax.lines[line].get_xydata(), dtype=float)


def test_one_dimension_has_a_panel_for_each_number_of_observations() -> None:
    points = pd.DataFrame({"n": [2, 2, 3], "x": [0.0, 1.0, -1.0], "y": [0.1, 0.4, 0.6]})
    x = np.linspace(-4, 4, 9)
    curves = pd.concat(
        pd.DataFrame({"n": n, "method": method, "fits": 1, "x": x, "mean": n * x, "sd": 0.0, "low": 0.0, "high": 0.0})
        for n in (2, 3)
        for method in METHODS
    )
    figure = one_dimension(points, curves)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["N = 2", "N = 3"]
    for ax, n in zip(figure.axes, (2, 3), strict=True):
        assert_allclose(xy(ax, 0)[:, 1], xy(ax, 0)[:, 0] ** 2 / 2)
        assert_allclose(xy(ax, 1), np.stack([x, n * x], axis=1))
        assert [line.get_color() for line in ax.lines[1:3]] == [sampler_style(method).colour for method in METHODS]
        assert len(xy(ax, 3)) == n
    assert legend(figure) == ["$x^2/2$", "observations", "network, additive", "full GP"]


@pytest.fixture
def banana_figure() -> Figure:
    theta1, theta2 = (part.ravel() for part in np.meshgrid(np.linspace(-1, 1, 11), np.linspace(-2, 2, 11)))
    field = pd.DataFrame({"theta1": theta1, "theta2": theta2, "potential": 5 * (theta1**2 + theta2**2)})
    field = field.assign(hmc_1=3 * theta1, hmc_2=0.0, rns_hmc_1=0.0, rns_hmc_2=2.0)
    trajectories = pd.DataFrame(
        [
            {"sampler": sampler, "trajectory": k, "step": step, "theta1": 0.1 * k * step, "theta2": end * step}
            for sampler, end in (("hmc", 4.0), ("rns_hmc", 40.0))
            for k in (1, 2)
            for step in (0, 1)
        ]
    )
    acceptance = pd.DataFrame({"sampler": ["hmc", "hmc", "rns_hmc"], "acceptance": [0.9, 0.92, 0.8]})
    return banana(field, trajectories, acceptance)


def test_banana_says_the_acceptance_of_each_sampler(banana_figure: Figure) -> None:
    titles = [ax.get_title(loc="left") for ax in banana_figure.axes]
    assert titles == ["forces", "HMC\nacceptance 0.910 ± 0.010", "RNS-HMC\nacceptance 0.800"]
    assert legend(banana_figure) == ["HMC", "RNS-HMC", "start", "proposals"]


def test_banana_draws_every_trajectory_from_the_start_to_its_proposal(banana_figure: Figure) -> None:
    for ax in banana_figure.axes[1:]:
        paths = [xy(ax, line) for line in (0, 2)]
        assert_allclose([path[0] for path in paths], 0.0)
        assert_allclose(xy(ax, 1), paths[0][-1:])
        assert_allclose(xy(ax, 3), paths[1][-1:])
        assert_allclose(xy(ax, 4), [[0.0, 0.0]])
        # A surrogate's trajectory that runs off does not shrink the rest.
        assert 4.0 < ax.get_ylim()[1] < 5.0


def test_banana_arrows_point_along_the_force(banana_figure: Figure) -> None:
    exact, surrogate = banana_figure.axes[0].collections[:2]
    places = np.asarray(exact.get_offsets(), dtype=float)
    assert np.all(np.sign(exact.U) == -np.sign(places[:, 0]))  # type: ignore[attr-defined]
    assert_allclose(exact.V, 0.0)  # type: ignore[attr-defined]
    assert_allclose(surrogate.V, -np.log1p(2.0))  # type: ignore[attr-defined]


def test_gaussian_sweep_shows_medians_quantiles_and_the_level_of_hmc() -> None:
    values = np.arange(1.0, 12.0)
    rows = [
        {"method": method, "size": size, "train_s": size * v, "acceptance": v / 20, "ess_per_s": v}
        for method, size in (("hmc", 0), ("rns_hmc", 100), ("rns_hmc", 200), ("gp_hmc", 100))
        for v in values
    ]
    figure = gaussian_sweep(pd.DataFrame(rows))
    times, acceptance, efficiency = figure.axes
    assert_allclose(xy(times, 0)[:, 1], [600.0, 1200.0])
    bars = times.containers[0].lines[2][0].get_segments()  # type: ignore[attr-defined]
    assert_allclose([bar[:, 1] for bar in bars], [[200.0, 1000.0], [400.0, 2000.0]])
    for ax, level in ((acceptance, 0.3), (efficiency, 6.0)):
        assert_allclose(xy(ax, -1)[:, 1], level)
        assert ax.lines[-1].get_color() == sampler_style("hmc").colour
    assert legend(figure) == ["HMC", "RNS-HMC", "GP-HMC"]
    assert not any(line.get_color() == sampler_style("hmc").colour for line in times.lines)
