"""Digest of a job's code, which changes when the code does.

Snakemake compares parameters with those of the last run, so a digest among them reruns exactly the jobs whose code has
changed. It is computed from the syntax tree: comments, docstrings, line breaks and file times do not matter.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from rnshmc.errors import ParameterError
from rnshmc.rerun.closure import import_closure, imported_names, module_file, syntax_tree

_SOURCES = Path("src")
_PACKAGE = Path("src/rnshmc/__init__.py")
"""Module that imports public names on first use. No job uses it (tests/test_architecture.py), so it is left out."""


def code_digest(script: Path, entries: Iterable[str], root: Path) -> str:
    """Digest of all code that a script runs: its own, its imports, and the registry entries that it loads by name.

    It is SHA-256 in hexadecimal, equal for equal code in any folder, at any time. ``script`` is a Python file outside
    the package, relative to the folder ``root`` with ``src`` in it; ``entries`` are modules and functions that it loads
    by a name computed at run time, such as ``"rnshmc.targets.logistic:from_file"``. Raises `ParameterError` if an entry
    module does not exist.
    """
    named = sorted(entries)
    for entry in named:
        module = entry.partition(":")[0]
        if module_file(module, root / _SOURCES) is None:
            raise ParameterError(f"module {module!r} does not exist in {root / _SOURCES}")
    names = [*imported_names(root / script), *(entry.replace(":", ".") for entry in named)]
    files = (root / script, *import_closure(names, root / _SOURCES))
    return hashlib.sha256("\n".join([*named, *_file_digests(files, root)]).encode()).hexdigest()


def own_digest(file: Path, root: Path) -> str:
    """Digest of a user's Python file, including the modules that it uses from its folder and from the package.

    It is SHA-256 in hexadecimal; comments, docstrings, layout and the place of the folder do not count. The package is
    in the folder ``src`` of ``root``. Raises `ParameterError` if there is no such file, or it is not Python; the
    message names the file.
    """
    if not file.is_file():
        raise ParameterError(f"there is no file {file} in {Path.cwd()}; paths are relative to snakemake's folder")
    try:
        files = sorted({file, *import_closure(imported_names(file), file.parent)})
        own = [*_file_digests(files, file.parent)]
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file} is not Python: {error}") from error
    exports = _exports(syntax_tree(root / _PACKAGE))
    used = sorted({name for each in files for name in _used(each, exports)})
    package = _file_digests(import_closure(used, root / _SOURCES), root)
    return hashlib.sha256("\n".join([*own, *used, *package]).encode()).hexdigest()


def _file_digests(files: Iterable[Path], root: Path) -> Iterator[str]:
    """Digest of each file outside the package."""
    for file in files:
        path = file.relative_to(root)
        if path != _PACKAGE:
            yield f"{path.as_posix()} {ast_digest(syntax_tree(file))}"


def _exports(package: ast.Module) -> dict[str, str]:
    """The module of each public name of the package."""
    for statement in package.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "EXPORTS":
            return dict(ast.literal_eval(statement.value))
    return {}


def _used(file: Path, exports: Mapping[str, str]) -> Iterator[str]:
    """Public names of the package that a user's file uses; an attribute of the same name counts too."""
    names = [name for name in imported_names(file) if name.partition(".")[0] == "rnshmc"]
    if names:
        yield from names
        attributes = {node.attr for node in ast.walk(syntax_tree(file)) if isinstance(node, ast.Attribute)}
        for name in attributes.union(name.rpartition(".")[2] for name in names) & exports.keys():
            yield f"{exports[name]}.{name}"


@cache
def ast_digest(tree: ast.Module) -> str:
    """Digest of a syntax tree without docstrings.

    Empty fields are omitted, so that fields added by a later Python do not change the digest.
    """
    return hashlib.sha256(_canonical(tree.body).encode()).hexdigest()


def _canonical(node: object) -> str:
    """A node of the tree, a list of nodes or a constant, as text."""
    if isinstance(node, ast.AST):
        fields = (f"{name}={_canonical(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(_canonical(item) for item in node if not _is_docstring(item))}]"
    return f"{type(node).__name__}:{node!r}"


def _is_docstring(node: object) -> bool:
    """Whether a statement is an unused string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
