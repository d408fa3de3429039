"""An executed notebook as a page of the report: self-contained, without scripts, readable offline."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from nbconvert.exporters import HTMLExporter
from traitlets.config import Config

_CONFIG = Config(TagRemovePreprocessor={"enabled": True, "remove_cell_tags": ["parameters", "injected-parameters"]})


def notebook_page(notebook: Path, template_folder: Path, *, title: str, run: str, opening: str) -> str:
    """The HTML of an executed notebook, its figures embedded, its code folded and its parameters left out.

    The folder has `style.css` and the nbconvert template `notebook`. `opening` is a sentence above the title of the
    page; empty for none.
    """
    make_exporter: Callable[..., Any] = HTMLExporter
    exporter = make_exporter(template_name="notebook", extra_template_basedirs=[str(template_folder)], config=_CONFIG)
    resources = {
        "page_title": title,
        "page_css": (template_folder / "style.css").read_text(encoding="utf-8"),
        "run": run,
        "opening": opening,
    }
    page, _ = exporter.from_filename(str(notebook), resources=resources)
    return str(page)
