"""Modules that a file uses, by a static walk through the imports.

Snakemake does not track imported modules, so each rule has a digest of the closure of its imports among its parameters
(`rnshmc.rerun.code_digest`). The walk reads the files and imports nothing. It does not follow modules imported by a
name computed at run time: a registry does not make a stage depend on every entry, and a rule names its entries.
"""

import ast
import json
import os
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path


def import_closure(names: Iterable[str], folder: Path) -> tuple[Path, ...]:
    """Files in a folder that Python reads, directly or indirectly, to import the given names; sorted.

    A name is a module, ``"rnshmc.targets.logistic"``, or an object in one, ``"rnshmc.targets.logistic.from_file"``.
    The ``__init__`` files of parent packages are included, and modules outside the folder are not.
    """
    pending = list(names)
    files: dict[str, Path | None] = {}
    while pending:
        name = pending.pop()
        if name in files:
            continue
        file = files[name] = module_file(name, folder)
        parent = name.rpartition(".")[0]
        if parent:
            pending.append(parent)
        if file is not None:
            pending += imported_names(file, package=name if file.name == "__init__.py" else parent)
    return tuple(sorted(file for file in files.values() if file is not None))


def module_file(module: str, folder: Path) -> Path | None:
    """The file of a module or package; None for a module outside the folder."""
    # Text instead of Path, for speed: called thousands of times per graph.
    path = os.path.join(folder, *module.split("."))
    for candidate in (f"{path}.py", f"{path}{os.sep}__init__.py"):
        if os.path.isfile(candidate):
            return Path(candidate)
    return None


def imported_names(file: Path, package: str = "") -> tuple[str, ...]:
    """Dotted names of the modules and objects that a Python file or Jupyter notebook imports.

    Imports inside functions count. Imports under ``if TYPE_CHECKING:`` do not run and are excluded.
    """
    return _names(syntax_tree(file), package)


def syntax_tree(file: Path) -> ast.Module:
    """The syntax tree of a Python file, or of the code in a notebook. It is cached: do not change it."""
    text = file.read_text(encoding="utf-8")
    return _parsed(_code_cells(text) if file.suffix == ".ipynb" else text, str(file))


@cache
def _parsed(text: str, file: str) -> ast.Module:
    return ast.parse(text, filename=file)


def _code_cells(text: str) -> str:
    """The Python in a notebook, without IPython's magic lines."""
    sources = ("".join(cell["source"]) for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
    return "\n".join(line for source in sources for line in source.splitlines() if not line.startswith("%"))


@cache
def _names(tree: ast.Module, package: str) -> tuple[str, ...]:
    names: dict[str, None] = {}
    for statement in _import_statements(tree.body):
        if isinstance(statement, ast.Import):
            names |= dict.fromkeys(alias.name for alias in statement.names)
        else:
            parents = package.split(".")[: package.count(".") + 2 - statement.level] if statement.level else []
            module = ".".join([*parents, *([statement.module] if statement.module else [])])
            names |= dict.fromkeys([module, *(f"{module}.{alias.name}" for alias in statement.names)])
    return tuple(names)


def _import_statements(body: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """Every import that runs in a list of statements, at any depth; expressions contain none and are skipped."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        elif isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            yield from _import_statements(node.orelse)
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
            for field in ("body", "orelse", "finalbody", "handlers", "cases"):
                yield from _import_statements(getattr(node, field, ()))
