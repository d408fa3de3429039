"""Digest of a job's code, which changes when the code does.

Snakemake compares parameters with those of the last run, so a digest among them reruns exactly the jobs whose code has
changed. It is taken from the syntax tree: comments, docstrings, line breaks and the times of files do not count.
"""

import ast
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

from rnshmc.errors import ParameterError
from rnshmc.rerun.closure import files_beside, import_closure, parsed, script_imports

_PACKAGE = Path("src/rnshmc/__init__.py")
"""Offers names, each imported when it is asked for. No job asks (tests/test_architecture.py), so it never counts."""


def code_digest(script: Path, entries: Iterable[str], root: Path) -> str:
    """Digest of all code that a script runs: itself, its imports, and registry entries that it loads by name.

    Parameters
    ----------
    script
        Python file outside the package, relative to ``root``.
    entries
        Modules and functions that the script loads by a name computed at run time, such as
        ``"rnshmc.targets.logistic:from_file"``.
    root
        The project's folder, the one with ``src`` in it.

    Returns
    -------
    str
        SHA-256 in hexadecimal. Equal for equal code in any folder, at any time.

    Raises
    ------
    ParameterError
        An entry module does not exist.
    """
    named = sorted(entries)
    files = (script, *import_closure((*script_imports(root / script), *named), root))
    return hashlib.sha256("\n".join([*named, *_meanings(files, root)]).encode()).hexdigest()


def _meanings(files: Iterable[Path], root: Path) -> Iterator[str]:
    """Each file but the package's own, with the digest of what it says."""
    for file in files:
        if file != _PACKAGE:
            yield f"{file.as_posix()} {meaning((root / file).read_text(encoding='utf-8'))}"


def own_digest(file: Path, root: Path) -> str:
    """Digest of a user's Python file, of those of its folder that it imports, and of what they use of the package.

    Parameters
    ----------
    file
        The user's.
    root
        The project's folder: the package is that in its folder ``src``.

    Returns
    -------
    str
        SHA-256 in hexadecimal. Comments, docstrings, layout and the place of the folder do not count.

    Raises
    ------
    ParameterError
        There is no such file, or it is not Python; the message names the file.
    """
    if not file.is_file():
        raise ParameterError(f"there is no file {file} in {Path.cwd()}; paths start where snakemake runs")
    try:
        files = files_beside(file)
        said = {each.relative_to(file.parent).as_posix(): meaning(each.read_text(encoding="utf-8")) for each in files}
    except (SyntaxError, UnicodeDecodeError) as error:
        raise ParameterError(f"{file} is not Python: {error}") from error
    exports = _exports((root / _PACKAGE).read_text(encoding="utf-8"))
    entries = sorted({entry for each in files for entry in _used(each, exports)})
    package = list(_meanings(import_closure(entries, root), root))
    return hashlib.sha256(repr((sorted(said.items()), entries, package)).encode()).hexdigest()


def _exports(text: str) -> dict[str, str]:
    """The module of each name that the package offers."""
    for statement in parsed(text).body:
        if isinstance(statement, ast.Assign) and [ast.unparse(name) for name in statement.targets] == ["EXPORTS"]:
            return dict(ast.literal_eval(statement.value))
    return {}


def _used(file: Path, exports: Mapping[str, str]) -> Iterator[str]:
    """What a user's file uses of the package, as entries for `import_closure`."""
    tree = parsed(file.read_text(encoding="utf-8"), str(file))
    aliases = {
        alias.asname or "rnshmc"
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "rnshmc" or (alias.name.startswith("rnshmc.") and not alias.asname)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in aliases and node.attr in exports:
            yield f"{exports[node.attr]}:{node.attr}"
    for entry in script_imports(file):
        module, _, name = entry.partition(":")
        yield f"{exports[name]}:{name}" if module == "rnshmc" and name in exports else entry


@cache
def meaning(text: str) -> str:
    """Digest of the syntax tree of Python source without docstrings.

    Empty fields are omitted, so that fields added by a later Python do not change the digest.
    """
    return hashlib.sha256(_canonical(parsed(text).body).encode()).hexdigest()


def _canonical(node: object) -> str:
    """A node of the tree, a list of nodes or a constant as text."""
    if isinstance(node, ast.AST):
        fields = (f"{name}={_canonical(value)}" for name, value in ast.iter_fields(node) if value not in (None, []))
        return f"{type(node).__name__}({','.join(fields)})"
    if isinstance(node, list):
        return f"[{','.join(_canonical(item) for item in node if not _is_docstring(item))}]"
    return f"{type(node).__name__}:{node!r}"


def _is_docstring(node: object) -> bool:
    """Whether a statement is an unused string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
