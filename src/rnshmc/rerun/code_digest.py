"""Digest of a job's code, which changes when the code does.

Snakemake compares parameters with those of the last run, so a digest among them reruns exactly the jobs whose code has
changed. It is taken from the syntax tree: comments, docstrings, line breaks and the times of files do not count.
"""

import ast
import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path

from rnshmc.errors import ParameterError
from rnshmc.rerun.closure import Closure, files_beside, import_closure, parsed, script_imports
from rnshmc.rerun.error_classes import error_classes, named_classes
from rnshmc.rerun.memory import Memory

_PACKAGE = Path("src/rnshmc/__init__.py")
"""Offers names, each imported when it is asked for. No job asks (tests/test_architecture.py), so it never counts."""


def code_digest(
    script: Path,
    entries: Iterable[str],
    root: Path,
    *,
    registries: Collection[Path] = (),
    memory: Memory | None = None,
) -> str:
    """Digest of all code that a script runs: itself, its imports, and registry entries that it loads by name.

    Of a module of bare exception classes only those that the code names count (`rnshmc.rerun.error_classes`).

    Parameters
    ----------
    script
        Python file outside the package, relative to ``root``.
    entries
        Modules and functions that the script loads by a name computed at run time, such as
        ``"rnshmc.targets.logistic:from_file"``.
    root
        The project's folder, the one with ``src`` in it.
    registries
        Files, relative to ``root``, whose tables of entries (upper-case names) do not count: the entries that a job
        uses are in ``entries``, and a new line in a table does not affect other jobs.
    memory
        What is known of the files' texts, to which new answers are added.

    Returns
    -------
    str
        SHA-256 in hexadecimal. Equal for equal code in any folder, at any time.

    Raises
    ------
    ParameterError
        An entry module does not exist.
    """
    memory = memory or Memory()
    named = sorted(entries)
    closure = import_closure((*script_imports(root / script), *named), root, memory=memory)
    digest = hashlib.sha256("\n".join(named).encode())
    for said in _said((script, *closure.files), closure, root, registries, memory):
        digest.update(f"\n{said}".encode())
    return digest.hexdigest()


def _said(
    files: Iterable[Path], closure: Closure, root: Path, registries: Collection[Path], memory: Memory
) -> Iterator[str]:
    """Each file, and a digest of what of it counts."""
    for file in files:
        text = "" if file == _PACKAGE else (root / file).read_text(encoding="utf-8")
        if classes := json.loads(memory.recall("error classes", text, partial(_error_classes, text))):
            said = named_classes(classes, closure.taken_from(file))
        elif file in registries:
            said = memory.recall("meaning without tables", text, partial(meaning, text, tables=False))
        else:
            said = memory.recall("meaning", text, partial(meaning, text))
        yield f"{file.as_posix()} {said}"


def _error_classes(text: str) -> str:
    return json.dumps(error_classes(text))


def own_digest(file: Path, root: Path, *, memory: Memory | None = None) -> str:
    """Digest of a user's Python file, of those of its folder that it imports, and of what they use of the package.

    Parameters
    ----------
    file
        The user's.
    root, memory
        As in `code_digest`: the package is that in its folder ``src``.

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
    memory = memory or Memory()
    exports = _exports((root / _PACKAGE).read_text(encoding="utf-8"))
    entries = sorted({entry for each in files for entry in _used(each, exports)})
    closure = import_closure(entries, root, memory=memory)
    package = list(_said(closure.files, closure, root, (), memory))
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


def meaning(text: str, *, tables: bool = True) -> str:
    """Digest of the syntax tree of Python source without docstrings and, optionally, without its upper-case names.

    Empty fields are omitted, so that fields added by a later Python do not change the digest.
    """
    tree = parsed(text)
    body = tree.body if tables else [statement for statement in tree.body if not _is_table(statement)]
    return hashlib.sha256(_canonical(body).encode()).hexdigest()


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


def _is_table(statement: ast.stmt) -> bool:
    """Whether a statement binds one upper-case name, as a registry's table does."""
    if isinstance(statement, ast.Assign):
        targets = statement.targets
    elif isinstance(statement, ast.AnnAssign):
        targets = [statement.target]
    else:
        return False
    return all(isinstance(target, ast.Name) and target.id.isupper() for target in targets)
