"""Content of Figs. 2 and 3 of paper B."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse
from numpy.testing import assert_allclose

from rnshmc.plots.gradients import network_banana, network_gaussian
from rnshmc.plots.style import sampler_style
from rnshmc.types import Array

ACCEPTANCE = pd.DataFrame({"sampler": ["hmc", "hmc", "nng_hmc"], "acceptance": [0.9, 0.92, 0.8]})


def xy(ax: Axes, line: int) -> Array:
    return np.asarray(ax.lines[line].get_xydata(), dtype=float)


@pytest.fixture(scope="module")
def banana() -> Figure:
    x1, x2 = (part.ravel() for part in np.meshgrid(np.linspace(-1, 1, 11), np.linspace(-2, 2, 11)))
    field = pd.DataFrame({"x1": x1, "x2": x2, "potential": 5 * (x1**2 + x2**2)})
    field = field.assign(hmc_1=3 * x1, hmc_2=0.0, nng_hmc_1=0.0, nng_hmc_2=2.0)
    draws = pd.DataFrame({"sampler": ["hmc", "nng_hmc", "nng_hmc"], "x1": [0.1, 0.2, 0.3], "x2": [1.0, -1.0, 0.0]})
    trajectories = pd.DataFrame(
        [
            {"sampler": sampler, "trajectory": k, "step": step, "x1": 0.1 * k * step, "x2": 0.5 * step}
            for sampler in ("hmc", "nng_hmc")
            for k in (1, 2)
            for step in (1, 0)
        ]
    )
    return network_banana(field, draws, trajectories, ACCEPTANCE)


def test_banana_has_draws_forces_and_trajectories(banana: Figure) -> None:
    titles = [ax.get_title(loc="left") for ax in banana.axes]
    assert titles == ["HMC: acceptance 0.910 ± 0.010", "NNg-HMC: acceptance 0.800", "forces", "trajectories"]
    legend = [text.get_text() for text in banana.legends[0].get_texts()]
    assert legend == ["HMC", "NNg-HMC", "start of a trajectory"]
    assert_allclose(xy(banana.axes[0], 0), [[0.1, 1.0]])
    assert_allclose(xy(banana.axes[1], 0), [[0.2, -1.0], [0.3, 0.0]])


def test_banana_arrows_point_along_the_force(banana: Figure) -> None:
    exact, network = banana.axes[2].collections[:2]
    places = np.asarray(exact.get_offsets(), dtype=float)
    assert np.all(np.sign(exact.U) == -np.sign(places[:, 0]))  # type: ignore[attr-defined]
    assert_allclose(network.V, -np.log1p(2.0))  # type: ignore[attr-defined]


def test_banana_trajectories_go_from_start_to_end(banana: Figure) -> None:
    ax = banana.axes[3]
    for line, end in ((0, [0.1, 0.5]), (2, [0.2, 0.5]), (4, [0.1, 0.5]), (6, [0.2, 0.5])):
        assert_allclose(xy(ax, line), [[0.0, 0.0], end])
        assert_allclose(xy(ax, line + 1), [end])
    assert ax.lines[0].get_color() == sampler_style("hmc").colour
    assert ax.lines[4].get_color() == sampler_style("nng_hmc").colour


def test_gaussian_has_the_same_axes_for_both_samplers() -> None:
    draws = pd.DataFrame({"sampler": ["hmc", "nng_hmc"], "narrowest": [0.1, -0.2], "widest": [30.0, -40.0]})
    figure = network_gaussian(draws, ACCEPTANCE, smallest=0.25, largest=100.0)
    top, bottom = figure.axes
    assert top.get_title(loc="left").startswith("HMC")
    assert bottom.get_title(loc="left").startswith("NNg-HMC")
    assert_allclose(xy(top, 0), [[30.0, 0.1]])
    assert_allclose(xy(bottom, 0), [[-40.0, -0.2]])
    assert top.get_xlim() == bottom.get_xlim()
    assert_allclose(np.divide(top.get_xlim(), top.get_ylim()), 20.0)
    rings = [patch for patch in top.patches if isinstance(patch, Ellipse)]
    assert_allclose([(ring.width, ring.height) for ring in rings], [(20, 1), (40, 2), (60, 3)])
