"""A user's potential from a Python file: ``target: {kind: python, path: my_model.py, make: posterior}``."""

import importlib.util
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Any

from rnshmc.errors import ParameterError, RnshmcError
from rnshmc.types import Array, Potential


def from_file(
    record: Path,  # noqa: ARG001
    *,
    path: str,
    make: str,
    settings: Mapping[str, Any] | None = None,
    digest: str,  # noqa: ARG001
) -> Potential:
    """Make a potential by a function in a Python file.

    ``make`` is the name of the function and ``settings`` its keyword arguments. It returns an object with ``dim``,
    ``value``, and ``gradient``, ``value_and_grad`` or both: U = -log density and its gradient. Without a gradient, only
    `rnshmc.sample` can use it. It may also return a `rnshmc.Model` whose prior names the parameters. The workflow's
    ``record`` of the model, on which jobs depend as on a data set, and the ``digest`` of the file are not read. Raises
    `ParameterError` if there is no such file or function, or the function returns something else.
    """
    return as_potential(made(Path(path), make, settings or {}), f"target: {make} in {path}")


def made(path: Path, make: str, settings: Mapping[str, Any]) -> Any:
    """Call a function of a Python file.

    The file may import others of its folder, and worker processes find it under its name. Raises `ParameterError` if
    there is no such file, or no such function in it, one of the two raises an exception, or the file has the name of a
    module of Python or of an installed package, which it would replace.
    """
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ParameterError(f"target: there is no Python file {path}")
    installed = [folder for folder in sys.path if folder.endswith(("site-packages", "dist-packages"))]
    if path.stem in {*sys.stdlib_module_names, "rnshmc"} or PathFinder.find_spec(path.stem, installed):
        raise ParameterError(f"target: {path} has the name of a module that others import, {path.stem}; rename it")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.resolve()))
    sys.modules[path.stem] = module
    with _errors_of(path):
        spec.loader.exec_module(module)
    if not callable(function := getattr(module, make, None)):
        raise ParameterError(f"target: {path} has no function {make!r}")
    with _errors_of(path):
        return function(**settings)


@contextmanager
def _errors_of(path: Path) -> Iterator[None]:
    """Turn an error of a user's file into a `ParameterError` that names its line."""
    try:
        yield
    except RnshmcError:
        raise
    except (Exception, SystemExit) as error:
        frames = traceback.extract_tb(error.__traceback__)
        lines = [f", line {frame.lineno}" for frame in frames if Path(frame.filename).resolve() == path.resolve()]
        text = f"{type(error).__name__}: {error}"
        raise ParameterError(f"target: {path}{lines[-1] if lines else ''} raised {text}") from error


def as_potential(model: Any, where: str) -> Potential:
    """A model as a potential; ``gradient`` is derived from ``value_and_grad`` or vice versa if one is missing.

    Without both, the model is returned unchanged. A `rnshmc.Model` is replaced by its ``potential()``. Raises
    `ParameterError`, whose message begins with ``where``, if it lacks ``dim`` or ``value``, or ``dim`` is not a
    positive whole number.
    """
    if not hasattr(model, "dim") and callable(getattr(model, "potential", None)):
        model = model.potential()
    missing = [name for name in ("dim", "value") if not hasattr(model, name)]
    if missing:
        raise ParameterError(
            f"{where} returned a {type(model).__name__} without {', without '.join(missing)}; "
            "expected U = -log density as an object with dim, value, and gradient or value_and_grad"
        )
    if not isinstance(model.dim, int) or isinstance(model.dim, bool) or model.dim < 1:
        raise ParameterError(f"{where} returned a model whose dim is {model.dim!r}, expected a positive whole number")
    if hasattr(model, "gradient") != hasattr(model, "value_and_grad"):
        return _Completed(model)
    potential: Potential = model
    return potential


class _Completed:
    """A model with one of ``gradient`` and ``value_and_grad``, from which the other is derived."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.dim: int = model.dim

    def value(self, q: Array) -> float:
        return float(self._model.value(q))

    def gradient(self, q: Array) -> Array:
        if hasattr(self._model, "gradient"):
            gradient: Array = self._model.gradient(q)
            return gradient
        return self.value_and_grad(q)[1]

    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        if hasattr(self._model, "value_and_grad"):
            value, gradient = self._model.value_and_grad(q)
            return float(value), gradient
        return self.value(q), self.gradient(q)
