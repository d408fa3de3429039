"""A mistake in a config gives one line: key, problem, file and line."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnshmc.errors import DataError, ParameterError
from rnshmc.run.schema import check_schema

ROOT = Path(__file__).parents[2]
SCHEMA: dict[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["chains"],
    "properties": {
        "chains": {"type": "integer", "minimum": 1},
        "start": {"type": "array", "items": {"type": "number"}},
        "sd": {"oneOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]},
        "samplers": {
            "type": "object",
            "additionalProperties": False,
            "properties": {"hmc": {"type": "object"}},
            "patternProperties": {"^nng_[a-z0-9]+$": {"type": "object"}},
        },
    },
}


def said(folder: Path, *texts: str) -> str:
    """Messages about files with these texts, each overriding the one before it."""
    files = [folder / f"{name}.yaml" for name, _ in zip("abc", texts, strict=False)]
    config: dict[str, Any] = {}
    for file, text in zip(files, texts, strict=True):
        file.write_text(text, encoding="utf-8")
        config |= yaml.safe_load(text)
    with pytest.raises(ParameterError) as error:
        check_schema(config, SCHEMA, files)
    return str(error.value).replace(f"{folder}/", "")


@pytest.mark.parametrize("name", ["config", "quick", "test"])
def test_our_configs_have_no_key_twice(name: str) -> None:
    schema = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))
    paper = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    check_schema(paper, schema, [ROOT / f"config/{name}.yaml"])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("chains: 1\nchians: 3\n", "chians: there is no such key; did you mean 'chains'? (a.yaml, line 2)"),
        ("chains: 1\nquux: 3\n", "quux: there is no such key; there are chains, samplers, sd, start (a.yaml, line 2)"),
        (
            "chains: 1\nsamplers:\n  nng_10: {}\n  hcm: {}\n",
            "samplers.hcm: there is no such key; did you mean 'hmc'? (a.yaml, line 4)",
        ),
        ("chains: 30.0\n", "chains: 30.0 is not of type 'integer' (a.yaml, line 1)"),
        ("chains: true\n", "chains: True is not of type 'integer' (a.yaml, line 1)"),
        ("chains: 1\nstart:\n- 1\n- .nan\n", "start.1: nan is not of type 'number' (a.yaml, line 2)"),
        ("chains: 1\nstart: [.inf]\n", "start.0: inf is not of type 'number' (a.yaml, line 2)"),
        (
            "chains: 1\nstart: [1e-3]\n",
            "start.0: '1e-3' is not of type 'number', but a string: YAML needs a point and a sign in it, as in 1.0e-3"
            " (a.yaml, line 2)",
        ),
        ("chains: 1\nsd: .nan\n", "sd: nan is not of type 'number' or nan is not of type 'array' (a.yaml, line 2)"),
        ("sd: 1\n", "top level: 'chains' is a required property"),
        ("chains: 1\nNO: 2\n", "False is a key, but not a string: put it in quotes"),
    ],
)
def test_a_mistake_is_one_line(tmp_path: Path, text: str, line: str) -> None:
    assert said(tmp_path, text) == f"configuration:\n  {line}"


@pytest.mark.parametrize(
    ("text", "key", "line"),
    [("chains: 1\nchains: 2\n", "chains", 2), ("chains: 1\nsamplers: {hmc: {}, hmc: {}}\n", "hmc", 2)],
)
def test_a_key_that_is_there_twice_is_an_error(tmp_path: Path, text: str, key: str, line: int) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=f"{re.escape(str(file))}, line {line}: the key '{key}' appears twice"):
        check_schema({"chains": 1}, SCHEMA, [file])


def test_every_mistake_is_named_and_the_last_file_that_has_it(tmp_path: Path) -> None:
    lines = said(tmp_path, "chains: 1\n", "\nchains: 0\n", "chans: 1").splitlines()
    assert lines[1:] == [
        "  chans: there is no such key; did you mean 'chains'? (c.yaml, line 1)",
        "  chains: 0 is less than the minimum of 1 (b.yaml, line 2)",
    ]


def test_a_long_value_is_cut(tmp_path: Path) -> None:
    assert len(said(tmp_path, f"chains: {'x' * 5000}")) < 300


def test_what_is_in_no_file_is_named_alone() -> None:
    with pytest.raises(ParameterError, match=r"  chans: there is no such key; did you mean 'chains'\?$"):
        check_schema({"chains": 1, "chans": 2}, SCHEMA)


def test_json_with_tabs_is_a_config(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{\n\t"chains": 1\n}', encoding="utf-8")
    check_schema({"chains": 1}, SCHEMA, [tmp_path / "a.json"])
