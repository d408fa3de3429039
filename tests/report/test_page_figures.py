"""A page shows each of its figures once, with its caption."""

from pathlib import Path

from matplotlib.figure import Figure

from rnshmc.plots.style import save
from rnshmc.report.page_figures import PageFigures


def figures(tmp_path: Path) -> PageFigures:
    path = tmp_path / "figure.png"
    save(Figure(figsize=(1, 1)), path)
    entry = {"path": str(path), "title": "A <title>", "caption": "The column ``x < y``."}
    return PageFigures({"one": entry, "other": {**entry, "title": "Another"}})


def test_a_figure_has_its_title_and_caption_and_is_embedded(tmp_path: Path) -> None:
    text = figures(tmp_path).show("one").text
    assert text.startswith('<figure><img src="data:image/png;base64,')
    assert 'alt="A &lt;title&gt;"' in text
    assert "<strong>A &lt;title&gt;.</strong> The column <code>x &lt; y</code>.</figcaption>" in text


def test_the_rest_are_the_figures_that_were_not_shown(tmp_path: Path) -> None:
    page = figures(tmp_path)
    page.show("one")
    rest = page.rest().text
    assert (rest.count("<figure>"), "Another" in rest) == (1, True)
    assert page.rest().text == page.show("other").text == page.show("missing").text == ""
