"""Content of Figs. 4 to 10 of paper B."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import StepPatch
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.plots.gradient_logistic import prior_swap, training_losses
from rnshmc.plots.gradient_models import hyperparameters, predictions, series
from rnshmc.plots.gradient_stochastic import coefficient_histograms, trace_rows
from rnshmc.plots.style import MARKS, sampler_style
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


def histograms(widths: dict[str, float], origin: str = "real") -> pd.DataFrame:
    """Two bins of equal heights for each sampler, in two coefficients."""
    return pd.concat(
        pd.DataFrame(
            {
                "sampler": sampler,
                "coordinate": number,
                "low": [-width, 0.0],
                "high": [0.0, width],
                "density": 0.5 / width,
                "data": origin,
            }
        )
        for number in (2, 7)
        for sampler, width in widths.items()
    )


@pytest.mark.parametrize("origin", ["real", "stand-in"])
def test_histograms_have_a_row_for_each_sampler_over_hmc(origin: str) -> None:
    widths = {"hmc": 1.0, "sghmc_a": 200.0, "sghmc_b": 3.0, "nng_hmc": 1.1}
    figure = coefficient_histograms(histograms(widths, origin), "Cover Type")
    assert [ax.get_xlabel() for ax in figure.axes[-2:]] == [r"$\beta_{2}$", r"$\beta_{7}$"]
    rows = {"NNg-HMC": 1.1, "SGHMC (a)": 200.0, "SGHMC (b)": 3.0}
    assert [title.removesuffix(", over HMC in grey") for title in titles(figure)[::2]] == list(rows)
    for ax, width in zip(figure.axes[::2], rows.values(), strict=True):
        exact, other = (patch for patch in ax.patches if isinstance(patch, StepPatch))
        assert (exact.get_fill(), other.get_fill()) == (True, False)
        assert [patch.get_data()[1][-1] for patch in (exact, other)] == [1.0, width]
    assert [MARKS["stand-in"] in {text.get_text() for text in figure.texts}] == [origin == "stand-in"]


def test_histograms_share_the_place_of_the_narrowest_approximation() -> None:
    widths = {"hmc": 1.0, "nng_hmc": 1.1, "sghmc_a": 200.0, "sghmc_b": 3.0}
    assert_allclose(coefficient_histograms(histograms(widths), "Cover Type").axes[0].get_xlim(), (-3.3, 3.3))
    exact = {"hmc": 1.0, "nng_hmc": 1.1}
    assert_allclose(coefficient_histograms(histograms(exact), "Cover Type").axes[0].get_xlim(), (-1.21, 1.21))


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


def test_traces_of_samplers_that_are_corrected_have_the_same_axes() -> None:
    places = {"sghmc_mh": (1.0, 0.0), "nng_hmc": (5.0, 0.4), "sghmc_c": (90.0, 1.0)}
    table = pd.concat(
        pd.DataFrame(
            {
                "sampler": sampler,
                "coordinate": 4,
                "iteration": [1, 2],
                "value": [end, -end],
                "acceptance": acceptance,
                "data": "stand-in",
            }
        )
        for sampler, (end, acceptance) in places.items()
    )
    figure = trace_rows(table, "Cover Type")
    assert titles(figure) == [
        "NNg-HMC: acceptance 0.40",
        "SGHMC (c): no Metropolis step",
        "SGHMC-MH: acceptance 0.00",
    ]
    assert_array_equal(xy(figure, 0, 0)[:, 1], [5.0, -5.0])
    assert figure.axes[0].get_ylim() == figure.axes[2].get_ylim()
    assert figure.axes[1].get_ylim()[1] > 90
    assert MARKS["stand-in"] in {text.get_text() for text in figure.texts}
