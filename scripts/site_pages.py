"""A hook of mkdocs that adds pages from outside docs and adapts links to the site.

A link to a file that is not on the site becomes its text. Importing this needs only the standard library.
"""

import posixpath
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = {
    "CHANGELOG.md": "development/changelog.md",
    "CONTRIBUTING.md": "development/contributing.md",
    "README.md": "index.md",
    "config/README.md": "configuration.md",
    "data/README.md": "data.md",
    "papers/README.md": "papers.md",
    "results/README.md": "run-files.md",
}
"""Pages outside docs, and their paths on the site."""
_SOURCES = {place: source for source, place in OUTSIDE.items()}
_LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?P<path>[^)\s#:]+)(?P<anchor>#[^)\s]*)?\)")


def relinked(markdown: str, source: str) -> str:
    """The page with links for the site.

    Parameters
    ----------
    markdown
        Text of the page.
    source
        Path of the page in the repository.
    """
    here = posixpath.dirname(OUTSIDE.get(source, posixpath.relpath(source, "docs")))

    def link(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(source), found["path"]))
        place = OUTSIDE.get(target, posixpath.relpath(target, "docs"))
        if place.startswith("../"):
            return found["text"]
        return f"{found['picture']}[{found['text']}]({posixpath.relpath(place, here or '.')}{found['anchor'] or ''})"

    return _LINK.sub(link, markdown)


def on_files(files: Any, *, config: Any) -> Any:
    """Add the pages from outside docs."""
    from mkdocs.structure.files import File

    for source, place in OUTSIDE.items():
        files.append(File.generated(config, place, content=(ROOT / source).read_text(encoding="utf-8")))
    return files


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:  # noqa: ARG001
    """The page with links for the site."""
    place = page.file.src_uri
    return relinked(markdown, _SOURCES.get(place, f"docs/{place}"))
