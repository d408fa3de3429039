"""One look for all figures."""

from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from rnshmc.errors import ParameterError
from rnshmc.plots.style import log_axis, mark_origin, sampler_style, save, theme, variant_styles
from rnshmc.results.names import SAMPLERS


def test_every_sampler_has_a_look_of_its_own() -> None:
    styles = [sampler_style(sampler) for sampler in SAMPLERS]
    assert len({style.colour for style in styles}) == len(styles)
    assert len({str(style.line) for style in styles}) == len(styles)
    assert len({style.marker for style in styles}) == len(styles)


def test_a_sampler_of_a_user_goes_by_its_name() -> None:
    assert sampler_style("my_own").label == "my_own"


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_colours_stand_out_from_white_paper_in_grey(sampler: str) -> None:
    red, green, blue = to_rgb(sampler_style(sampler).colour)
    assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75


def test_the_theme_leaves_no_trace() -> None:
    with mpl.rc_context({"axes.grid": False}):
        before = dict(mpl.rcParams)
        with theme():
            assert dict(mpl.rcParams) != before
        assert dict(mpl.rcParams) == before


@pytest.mark.parametrize("suffix", ["png", "pdf"])
def test_equal_figures_give_equal_files(tmp_path: Path, suffix: str) -> None:
    for name in ("one", "two"):
        with theme():
            figure = Figure()
            figure.subplots().plot([1, 2, 3])
        save(figure, tmp_path / f"{name}.{suffix}")
    assert (tmp_path / f"one.{suffix}").read_bytes() == (tmp_path / f"two.{suffix}").read_bytes()


@pytest.mark.parametrize(("other", "mark"), [("stand-in", "stand-in data"), ("subset", "some of the rows")])
def test_only_data_other_than_the_papers_are_marked(other: str, mark: str) -> None:
    figure = Figure()
    ax = figure.subplots()
    for origin in ("real", "simulated", "user"):
        mark_origin(ax, origin)
    assert not ax.texts
    mark_origin(ax, other)
    mark_origin(figure, other)
    assert [text.get_text() for text in (*ax.texts, *figure.texts)] == [mark, mark]


def test_logarithmic_axes_have_plain_numbers() -> None:
    figure = Figure()
    ax = figure.subplots()
    ax.set(xscale="log", xlim=(0.008, 0.3))
    log_axis(ax.xaxis)
    figure.draw_without_rendering()
    labels = {label.get_text() for label in ax.get_xticklabels()}
    assert {"0.01", "0.02", "0.05", "0.1", "0.2"} <= labels


def test_variants_of_a_sampler_are_told_apart_in_one_figure() -> None:
    styles = variant_styles(["sghmc_b", "hmc", *(f"sghmc_{name}" for name in "acdef"), "sghmc_mh", "one", "two"])
    assert list(styles) == ["hmc", *(f"sghmc_{name}" for name in "abcdef"), "sghmc_mh", "one", "two"]
    assert styles["sghmc_a"] == sampler_style("sghmc_a")
    variants = [styles[f"sghmc_{name}"] for name in "abcdef"]
    assert len({style.colour for style in variants}) == len({str(style.line) for style in variants}) == 6
    for style in variants:
        red, green, blue = to_rgb(style.colour)
        assert 0.2126 * red + 0.7152 * green + 0.0722 * blue < 0.75


def test_more_variants_than_looks_are_refused() -> None:
    with pytest.raises(ParameterError, match="sghmc_g"):
        variant_styles([f"sghmc_{name}" for name in "abcdefg"])
