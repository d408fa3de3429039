"""Figures of a page of the report, each with its title and caption."""

import html
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from rnshmc.report.pages import image_uri

_CODE = re.compile(r"``(.+?)``")


@dataclass(frozen=True)
class Html:
    """Text that a notebook shows as HTML."""

    text: str

    def _repr_html_(self) -> str:
        return self.text


class PageFigures:
    """The figures of a page, each shown once; `figures` has ``path``, ``title`` and ``caption`` of each by its name."""

    def __init__(self, figures: Mapping[str, Mapping[str, str]]) -> None:
        self._left = dict(figures)

    def show(self, name: str) -> Html:
        """A figure with its caption; nothing if the page has no such figure."""
        return Html(_figure(**self._left.pop(name)) if name in self._left else "")

    def rest(self) -> Html:
        """The figures of the page that were not shown yet."""
        return Html("".join(self.show(name).text for name in list(self._left)))


def _figure(path: str, title: str, caption: str) -> str:
    title, caption = html.escape(title), _CODE.sub(r"<code>\1</code>", html.escape(caption, quote=False))
    image = f'<img src="{image_uri(Path(path))}" alt="{title}">'
    return f"<figure>{image}<figcaption><strong>{title}.</strong> {caption}</figcaption></figure>"
