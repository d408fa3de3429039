"""Files of the package that a stage uses, by a static walk through the imports.

Snakemake does not track imported modules, so each rule has a digest of the closure of its entry modules among its
parameters (`rnshmc.rerun.code_digest`). The walk reads the files and imports nothing. It does not follow modules
imported by a name computed at run time. So registries do not make a stage depend on every entry, and a rule names its
registry entries itself.
"""

import ast
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from rnshmc.errors import ParameterError

_PACKAGE = "rnshmc"
_SOURCES = "src"


def import_closure(modules: Iterable[str], root: Path) -> tuple[Path, ...]:
    """The files that are read when modules are imported, directly or indirectly: relative to ``root``, sorted.

    Includes the ``__init__`` files of parent packages, and imports inside functions. Imports under
    ``if TYPE_CHECKING:`` do not run and are excluded, as is everything outside ``root / "src"``. An entry is a module,
    ``"rnshmc.targets.logistic"``, or a name in one, such as ``"rnshmc.targets.logistic:from_file"``.

    Raises
    ------
    ParameterError
        An entry module does not exist.
    """
    sources = root / _SOURCES
    pending: list[str] = []
    for entry in modules:
        module, _, name = entry.partition(":")
        if _file_of(module, sources) is None:
            raise ParameterError(f"module {module!r} does not exist in {sources}")
        pending += [module, f"{module}.{name}"] if name else [module]
    files: dict[str, Path | None] = {}
    while pending:
        module = pending.pop()
        if module in files:
            continue
        file = files[module] = _file_of(module, sources)
        parent = module.rpartition(".")[0]
        if parent:
            pending.append(parent)
        if file is not None:
            package = module if file.name == "__init__.py" else parent
            pending += _imported_names(file.read_text(encoding="utf-8"), package)
    return tuple(sorted(file.relative_to(root) for file in files.values() if file is not None))


def files_beside(file: Path) -> tuple[Path, ...]:
    """A user's Python file, and those of its folder that it imports, directly or indirectly.

    Raises
    ------
    SyntaxError
        If one of them is not Python.
    """
    folder = str(file.parent)
    found: dict[Path, None] = {}
    pending: list[Path] = [file]
    while pending:
        current = pending.pop()
        if current not in found:
            found[current] = None
            text = current.read_text(encoding="utf-8")
            names = _all_imported(parsed(text, str(current)))
            pending += [beside for name in names if (beside := _file_of(name, folder)) is not None]
    return tuple(sorted(found))


def _all_imported(tree: ast.Module) -> list[str]:
    """Dotted names of modules, and of what is taken from them, which may be modules, too."""
    names: list[str] = []
    for statement in _import_statements(tree.body):
        if isinstance(statement, ast.Import):
            names += [alias.name for alias in statement.names]
        elif statement.module:
            names += [statement.module, *(f"{statement.module}.{alias.name}" for alias in statement.names)]
    return names


def script_imports(script: Path) -> tuple[str, ...]:
    """Imports of this package in a Python file or Jupyter notebook outside it, as sorted entries for `import_closure`.

    ``from rnshmc.random import stream`` is ``"rnshmc.random:stream"``.
    """
    text = script.read_text(encoding="utf-8")
    if script.suffix == ".ipynb":
        text = _code_cells(json.loads(text))
    statements = _import_statements(ast.parse(text, filename=str(script)).body)
    return tuple(sorted({entry for statement in statements for entry in _entries(statement, package="")}))


def _code_cells(notebook: Mapping[str, Any]) -> str:
    """The Python in a notebook, without IPython's magic lines."""
    sources = ("".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code")
    return "\n".join(line for source in sources for line in source.splitlines() if not line.startswith("%"))


def _file_of(module: str, sources: Path | str) -> Path | None:
    """The file of a module or package, None for a module that is not under the sources."""
    # Text instead of Path, for speed: called thousands of times per graph.
    path = os.path.join(sources, *module.split("."))
    for candidate in (f"{path}.py", f"{path}{os.sep}__init__.py"):
        if os.path.isfile(candidate):
            return Path(candidate)
    return None


@cache
def parsed(text: str, file: str = "<unknown>") -> ast.Module:
    """The syntax tree of Python source, cached; it must not be changed. Syntax errors name ``file``."""
    return ast.parse(text, filename=file)


@cache
def _imported_names(text: str, package: str) -> tuple[str, ...]:
    """Dotted names of ours that a module's text may import; what is taken from a module may be a module, too."""
    names: dict[str, None] = {}
    for statement in _import_statements(parsed(text).body):
        for entry in _entries(statement, package):
            names |= dict.fromkeys((entry.partition(":")[0], entry.replace(":", ".")))
    return tuple(names)


def _entries(statement: ast.Import | ast.ImportFrom, package: str) -> list[str]:
    """``module`` for each module of ours in an import statement, ``module:name`` for each name taken from one."""
    if isinstance(statement, ast.Import):
        return [alias.name for alias in statement.names if _is_ours(alias.name)]
    module = statement.module or ""
    if statement.level:
        parents = package.split(".")
        anchor = ".".join(parents[: len(parents) - statement.level + 1])
        module = f"{anchor}.{module}" if module else anchor
    return [f"{module}:{alias.name}" for alias in statement.names] if _is_ours(module) else []


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] == _PACKAGE


def _import_statements(body: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import in a list of statements that runs, at any depth; expressions hold none and are not walked."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and _is_type_checking(node.test):
            yield from _import_statements(node.orelse)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _import_statements(getattr(node, field, ()))


def _is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is ``TYPE_CHECKING``, with or without ``typing.`` before it."""
    return (isinstance(test, ast.Name) and test.id == "TYPE_CHECKING") or (
        isinstance(test, ast.Attribute) and test.attr == "TYPE_CHECKING"
    )
