"""Pages of the report: templates with their styles and figures inside, so that they open without a network."""

import base64
import json
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def render(template: Path, **content: Any) -> str:
    """The HTML of a jinja2 template; what it includes lies beside it, and text is escaped.

    The filter ``image`` makes a data URI of a PNG file, ``pretty_json`` indents what can be written as JSON.
    """
    environment = Environment(loader=FileSystemLoader(template.parent), undefined=StrictUndefined, autoescape=True)
    environment.filters["image"] = _image_uri
    environment.filters["pretty_json"] = lambda found: json.dumps(found, indent=2, sort_keys=True)
    return environment.get_template(template.name).render(**content)


def _image_uri(path: Path) -> str:
    return f"data:image/png;base64,{base64.b64encode(path.read_bytes()).decode()}"
