"""Pages of the report: templates with embedded styles and figures, so that they open without a network."""

import base64
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render(template: Path, **content: Any) -> str:
    """The HTML of a jinja2 template; its includes are in the same folder, and text is escaped.

    The filter ``image`` makes a data URI of a PNG file, ``pretty_json`` formats a value as indented JSON.
    """
    environment = Environment(loader=FileSystemLoader(template.parent), undefined=StrictUndefined, autoescape=True)
    environment.filters["image"] = _image_uri
    environment.filters["pretty_json"] = lambda value: json.dumps(value, indent=2, sort_keys=True)
    return environment.get_template(template.name).render(**content)


def _image_uri(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
