"""Validation of a configuration by its JSON schema, with one line per mistake: key, remedy, file and line."""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from textwrap import shorten
from typing import Any

import yaml
from jsonschema import Draft202012Validator, ValidationError
from jsonschema.validators import extend

from rnshmc.errors import ParameterError
from rnshmc.files import read_yaml

_LONGEST_MESSAGE = 200
"""Maximum length of a message in characters: the library's contain the value, which may be a whole section."""


def _is_number(_: object, value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


# In the standard, 30.0 is an integer, and YAML allows numbers that are not finite.
_TYPES = Draft202012Validator.TYPE_CHECKER.redefine_many(
    {"integer": lambda _, value: type(value) is int, "number": _is_number}
)
_Validator = extend(Draft202012Validator, type_checker=_TYPES)


def check_schema(config: Mapping[str, Any], schema: Mapping[str, Any], files: Iterable[Path] = ()) -> None:
    """Check a configuration by a JSON schema, draft 2020-12, and that no file that it was merged from has a key twice.

    Integers have to be written as such, and numbers have to be finite. Later ones of the YAML or JSON ``files`` take
    precedence. Raises `DataError` if a file has a key twice; `ParameterError` with a line for each mistake: the key
    and, where it is in one of the files, file and line.
    """
    trees = {file: _tree(file) for file in files}
    for file in (file for file, tree in trees.items() if tree):
        read_yaml(file)
    # Key patterns match strings only.
    complaints = [f"{key!r} is a key, but not a string: put it in quotes" for key in _odd_keys(config)]
    if not complaints:
        for error in _Validator(schema).iter_errors(config):
            complaints += _complaints(error, trees)
    if complaints:
        raise ParameterError("\n  ".join(["configuration:", *complaints]))


def _tree(file: Path) -> yaml.Node | None:
    """The nodes of a file, with their lines; None for JSON that is not YAML, such as with tabs."""
    try:
        return yaml.compose(file.read_text(encoding="utf-8"), yaml.SafeLoader)
    except yaml.YAMLError:
        return None


def _complaints(error: ValidationError, trees: Mapping[Path, yaml.Node | None]) -> Iterator[str]:
    path = [str(key) for key in error.absolute_path]
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        patterns = error.schema.get("patternProperties", {})
        for key in error.instance.keys() - known:
            if not any(re.search(pattern, key) for pattern in patterns):
                near = get_close_matches(key, known, n=1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(sorted(known))}"
                yield f"{'.'.join([*path, key])}: there is no such key; {hint}{_place([*path, key], trees)}"
        return
    # For alternatives, the requirement of each.
    messages = dict.fromkeys(each.message for each in error.context or [error])
    text = " or ".join(shorten(message, _LONGEST_MESSAGE, placeholder=" ...") for message in messages)
    if (
        error.validator == "type"
        and error.schema["type"] == "number"
        and re.fullmatch(r"[-+\d.]+e[-+\d]+", str(error.instance))
    ):
        text += ", but a string: YAML needs a point and a sign in it, as in 1.0e-3"
    yield f"{'.'.join(path) or 'top level'}: {text}{_place(path, trees)}"


def _place(path: Sequence[str], trees: Mapping[Path, yaml.Node | None]) -> str:
    """Location of a key: the last file that has it, and the line."""
    found = [f" ({file}, line {line})" for file, tree in trees.items() if (line := _line(tree, path))]
    return found[-1] if found else ""


def _line(node: yaml.Node | None, path: Sequence[str]) -> int | None:
    """The line of the key at the end of a path, or of the list that contains it; None if the file does not have it."""
    line = None
    for part in path:
        if not isinstance(node, yaml.MappingNode):
            break
        found = [(key, value) for key, value in node.value if key.value == part]
        if not found:
            return None
        key, node = found[-1]
        line = key.start_mark.line + 1
    return line


def _odd_keys(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        yield from (key for key in value if not isinstance(key, str))
    if isinstance(value, Mapping | list):
        for each in value.values() if isinstance(value, Mapping) else value:
            yield from _odd_keys(each)
