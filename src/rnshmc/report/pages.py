"""Pages of the report: templates with embedded styles and figures, so that they open without a network."""

import base64
import io
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from matplotlib.image import imread, imsave

_SHRINK = 5
"""Pixels of a figure, in each direction, to one of its small version."""


def render(template: Path, **content: Any) -> str:
    """The HTML of a jinja2 template; its includes are in the same folder, and text is escaped.

    The filter ``thumbnail`` makes a data URI of a small version of a PNG file, ``pretty_json`` formats a value as
    indented JSON.
    """
    environment = Environment(loader=FileSystemLoader(template.parent), undefined=StrictUndefined, autoescape=True)
    environment.filters["thumbnail"] = _thumbnail_uri
    environment.filters["pretty_json"] = lambda value: json.dumps(value, indent=2, sort_keys=True)
    return environment.get_template(template.name).render(**content)


def image_uri(path: Path) -> str:
    """A PNG file as a data URI."""
    return _uri(path.read_bytes())


def _thumbnail_uri(path: Path) -> str:
    image = imread(path)
    rows, columns = (size // _SHRINK for size in image.shape[:2])
    blocks = image[: rows * _SHRINK, : columns * _SHRINK].reshape(rows, _SHRINK, columns, _SHRINK, -1)
    small = io.BytesIO()
    imsave(small, blocks.mean(axis=(1, 3)), format="png")
    return _uri(small.getvalue())


def _uri(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode()}"
