"""Modules that hold exception classes and nothing else: what counts of them in a digest of code.

Every stage imports `rnshmc.errors`. If all of it counted, a new exception class would sample every chain again. So of
such a module only the classes that the code names count, and the classes that they derive from, by which an ``except``
clause chooses.
"""

import ast
import builtins
from collections.abc import Collection, Mapping

from rnshmc.rerun.closure import parsed

_BUILTIN = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)


def error_classes(text: str) -> Mapping[str, tuple[str, ...]]:
    """The names of the bases of each class in a module of bare exception classes; empty for any other module.

    Bare are classes without a body, but for a docstring or ``pass``, whose bases are built-in exceptions, names that
    end in ``Error``, or other classes of the module. A module with anything else in it but imports is no such module.
    """
    found: dict[str, tuple[str, ...]] = {}
    for statement in parsed(text).body:
        if isinstance(statement, ast.Import | ast.ImportFrom) or _says_nothing(statement):
            continue
        if not isinstance(statement, ast.ClassDef) or not _is_bare(statement, found.keys()):
            return {}
        found[statement.name] = tuple(ast.unparse(base) for base in statement.bases)
    return found


def named_classes(classes: Mapping[str, tuple[str, ...]], names: Collection[str]) -> str:
    """The classes with these names and those of the module that they derive from, each with its bases, as one line."""
    pending = [name for name in names if name in classes]
    kept: set[str] = set()
    while pending:
        name = pending.pop()
        if name not in kept:
            kept.add(name)
            pending += [base for base in classes[name] if base in classes]
    return " ".join(f"{name}({','.join(classes[name])})" for name in sorted(kept))


def _is_bare(statement: ast.ClassDef, known: Collection[str]) -> bool:
    plain = not (statement.decorator_list or statement.keywords) and all(map(_says_nothing, statement.body))
    return bool(statement.bases) and plain and all(_is_exception(base, known) for base in statement.bases)


def _is_exception(base: ast.expr, known: Collection[str]) -> bool:
    return isinstance(base, ast.Name) and (base.id in _BUILTIN or base.id in known or base.id.endswith("Error"))


def _says_nothing(statement: ast.stmt) -> bool:
    """Whether a statement is ``pass`` or an unused constant, such as a docstring."""
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )
