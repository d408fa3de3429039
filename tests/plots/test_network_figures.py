"""What Figs. 4 to 10 of paper B show."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.plots.densities import hyperparameters, marginal_panels
from rnshmc.plots.predictions import predictions
from rnshmc.plots.prior_swap import prior_swap
from rnshmc.plots.series import series
from rnshmc.plots.style import MARKS, sampler_style
from rnshmc.plots.trace_rows import trace_rows
from rnshmc.plots.training_losses import training_losses
from rnshmc.types import Array

X = np.linspace(0, 1, 5)


def titles(figure: Figure) -> list[str]:
    return [ax.get_title(loc="left") for ax in figure.axes]


def labels(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def xy(figure: Figure, panel: int, line: int) -> Array:
    return np.asarray(figure.axes[panel].lines[line].get_xydata(), dtype=float)


def test_a_swapped_prior_has_both_posteriors_in_each_panel() -> None:
    parts = [
        {"sampler": sampler, "prior_variance": variance, "x_coordinate": 3, "y_coordinate": 9, "x": place, "y": -place}
        for place, (sampler, variance) in enumerate(
            [("nng_hmc", 0.1), ("nng_hmc", 10.0), ("hmc", 10.0), ("hmc", 0.1)], start=1
        )
    ]
    draws = pd.DataFrame(parts)
    acceptance = draws[["sampler", "prior_variance"]].assign(acceptance=[0.6, 0.7, 0.8, 0.9])
    figure = prior_swap(draws, acceptance, "Many dimensions")
    assert titles(figure) == ["HMC", "NNg-HMC"]
    assert [xy(figure, panel, line).tolist() for panel in (0, 1) for line in (0, 1)] == [
        [[3, -3]],
        [[4, -4]],
        [[2, -2]],
        [[1, -1]],
    ]
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]  # type: ignore[union-attr]
    assert texts == ["prior variance 10: acceptance 0.80", "prior variance 0.1: acceptance 0.90"]
    assert (figure.axes[0].get_xlabel(), figure.axes[0].get_ylabel()) == (r"$\beta_{3}$", r"$\beta_{9}$")
    markers = [line.get_marker() for line in figure.axes[0].lines]
    assert markers[0] != markers[1]


def test_losses_are_means_over_chains() -> None:
    table = pd.DataFrame(
        [
            {"network": network, "chain": chain, "epoch": epoch, "loss": chain / epoch, "weights": 160000}
            for network in ("large", "small", "blocks")
            for chain in (1, 2)
            for epoch in (1, 2)
        ]
    )
    figure = training_losses(table, "Losses")
    assert figure.axes[0].lines[0].get_label() == "large: 160 000 weights"
    for line in range(3):
        assert_allclose(xy(figure, 0, line), [[1, 1.5], [2, 0.75]])


def test_the_series_is_drawn_in_full() -> None:
    figure = series(pd.DataFrame({"t": [1, 2, 3], "y": [0.5, -1.0, 2.0]}), "GARCH")
    assert_array_equal(xy(figure, 0, 0), [[1, 0.5], [2, -1.0], [3, 2.0]])


@pytest.mark.parametrize("origin", ["real", "stand-in"])
def test_marginals_lay_samplers_and_variants_over_one_another(origin: str) -> None:
    samplers = ["hmc", "nng_hmc", "sghmc_a", "sghmc_b"]
    table = pd.concat(
        pd.DataFrame({"sampler": sampler, "x_coordinate": number, "x": X, "density": k * X, "data": origin})
        for number in (2, 7)
        for k, sampler in enumerate(samplers, start=1)
    )
    figure = marginal_panels(table, "Cover Type")
    assert [ax.get_xlabel() for ax in figure.axes] == [r"$\beta_{2}$", r"$\beta_{7}$"]
    assert_allclose(xy(figure, 1, 3)[:, 1], X / X.max())
    assert labels(figure) == ["HMC", "NNg-HMC", "SGHMC (a)", "SGHMC (b)"]
    assert len({line.get_color() for line in figure.axes[0].lines}) == 4
    assert [MARKS["stand-in"] in {text.get_text() for text in figure.texts}] == [origin == "stand-in"]


def test_a_marginal_that_is_far_wider_does_not_hide_that_of_hmc() -> None:
    widths = {"hmc": 1.0, "nng_hmc": 1.1, "sghmc_a": 200.0, "sghmc_b": 3.0}
    table = pd.concat(
        pd.DataFrame({"sampler": name, "x_coordinate": 2, "x": width * (X - 0.5), "density": 1 / width, "data": "real"})
        for name, width in widths.items()
    )
    low, high = marginal_panels(table, "Cover Type").axes[0].get_xlim()
    assert_allclose((low, high), (-3.0, 3.0))
    low, high = marginal_panels(table[table["sampler"].isin(["hmc", "nng_hmc"])], "Cover Type").axes[0].get_xlim()
    assert_allclose((low, high), (-0.55, 0.55))


def test_hyperparameters_keep_their_heights() -> None:
    table = pd.concat(
        pd.DataFrame({"sampler": name, "x_coordinate": number, "x": X, "density": 2 * X, "data": "simulated"})
        for number in (1, 2)
        for name in ("hmc", "nng_hmc")
    )
    figure = hyperparameters(table, "GP")
    assert [ax.get_xlabel() for ax in figure.axes] == ["length scale $l$", r"noise variance $\sigma^2$"]
    assert_allclose(xy(figure, 1, 1)[:, 1], 2 * X)


def test_predictions_have_a_mean_and_a_band_for_each_sampler() -> None:
    table = pd.concat(
        pd.DataFrame({"sampler": sampler, "x": X, "mean": X + k, "low": X + k - 1, "high": X + k + 1})
        for k, sampler in enumerate(["hmc", "nng_hmc"])
    )
    figure = predictions(table, "GP")
    assert len(figure.axes[0].collections) == 2
    assert_allclose(xy(figure, 0, 5)[:, 1], X + 1)
    assert figure.axes[0].lines[5].get_color() == sampler_style("nng_hmc").colour


def test_traces_stand_below_each_other_on_the_same_axes() -> None:
    parts = [("sghmc_mh", [1.0, 1.1, 1.0]), ("nng_hmc", [5.0, -5.0])]
    table = pd.concat(
        pd.DataFrame(
            {"sampler": name, "coordinate": 4, "iteration": range(1, len(v) + 1), "value": v, "data": "stand-in"}
        )
        for name, v in parts
    )
    figure = trace_rows(table, "Cover Type")
    assert titles(figure) == ["NNg-HMC", "SGHMC-MH"]
    assert_array_equal(xy(figure, 0, 0)[:, 1], [5.0, -5.0])
    assert figure.axes[0].get_ylim() == figure.axes[1].get_ylim()
    assert MARKS["stand-in"] in {text.get_text() for text in figure.texts}
