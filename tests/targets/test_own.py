"""A user's file makes a potential, or the error names file and function."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import ParameterError
from rnshmc.targets.gaussian import Gaussian
from rnshmc.targets.own import as_potential, from_file, made
from rnshmc.types import Array, Potential, RiemannianPotential

Q = np.array([0.3, -0.7])
MODEL = """
from companion import DIM


class Model:
    dim = DIM

    def __init__(self, scale):
        self.scale = scale

    def value(self, q):
        return 0.5 * self.scale * q @ q

    def gradient(self, q):
        return self.scale * q


def posterior(scale=1.0):
    return Model(scale)
"""


class Valued:
    dim = 2

    def value(self, q: Array) -> float:
        return 0.5 * float(q @ q)


class ByGradient(Valued):
    def gradient(self, q: Array) -> Array:
        return q.copy()


class ByBoth(Valued):
    def value_and_grad(self, q: Array) -> tuple[float, Array]:
        return self.value(q), q.copy()


def load(folder: Path, **entry: Any) -> Potential:
    (folder / "my_model.py").write_text(MODEL)
    (folder / "companion.py").write_text("DIM = 2\n")
    return from_file(folder, **{"path": str(folder / "my_model.py"), "make": "posterior", "digest": "", **entry})


def test_a_function_of_a_file_makes_the_potential(tmp_path: Path) -> None:
    target = load(tmp_path, settings={"scale": 3.0})
    assert isinstance(target, Potential)
    value, gradient = target.value_and_grad(Q)
    # Two products and a sum of two terms, in another order.
    np.testing.assert_allclose(value, 1.5 * float(Q @ Q), rtol=4 * float(np.finfo(float).eps))
    np.testing.assert_array_equal(gradient, 3.0 * Q)


@pytest.mark.parametrize("model", [ByGradient(), ByBoth()])
def test_one_way_to_the_gradient_stands_for_the_other(model: Any) -> None:
    target = as_potential(model, "here")
    assert (target.dim, target.value(Q)) == (2, 0.5 * float(Q @ Q))
    value, gradient = target.value_and_grad(Q)
    assert value == target.value(Q)
    np.testing.assert_array_equal(gradient, Q)
    np.testing.assert_array_equal(target.gradient(Q), Q)


def test_a_whole_potential_is_left_as_it_is() -> None:
    gaussian = Gaussian(np.zeros(2), np.eye(2))
    assert as_potential(gaussian, "here") is gaussian
    assert isinstance(gaussian, RiemannianPotential)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"path": "absent.py"}, r"target: there is no Python file absent\.py"),
        ({"make": "likelihood"}, r"target: .*my_model\.py has no function 'likelihood'"),
        ({"make": "DIM"}, r"target: .*my_model\.py has no function 'DIM'"),
    ],
)
def test_what_is_not_there_is_told(tmp_path: Path, entry: dict[str, str], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        load(tmp_path, **entry)


def written(folder: Path, name: str, content: str) -> Any:
    (folder / name).write_text(content)
    return made(folder / name, "posterior", {})


@pytest.mark.parametrize("name", ["copy.py", "random.py", "numpy.py", "rnshmc.py"])
def test_a_file_does_not_replace_a_module_of_others(tmp_path: Path, name: str) -> None:
    before = {**sys.modules}
    with pytest.raises(ParameterError, match=rf"{name} has the name of a module that others import, .*; rename it"):
        written(tmp_path, name, "def posterior(): return 1")
    assert sys.modules == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("def posterior(:\n", r"broken.py raised SyntaxError: invalid syntax \(broken.py, line 1\)"),
        ("import math\nimport absent_module\n", "broken.py, line 2 raised ModuleNotFoundError: No module named 'abs"),
        ("x = 1\nraise SystemExit(3)\n", "broken.py, line 2 raised SystemExit: 3"),
        ("def posterior():\n    return 1 / 0\n", "broken.py, line 2 raised ZeroDivisionError: division by zero"),
        ("def posterior(x):\n    return x\n", r"broken.py raised TypeError: posterior\(\) missing 1 required"),
    ],
)
def test_what_a_file_raises_is_told_with_its_line(tmp_path: Path, content: str, message: str) -> None:
    with pytest.raises(ParameterError, match=rf"target: .*{message}"):
        written(tmp_path, "broken.py", content)


def test_a_model_without_gradient_gets_none() -> None:
    model: Any = Valued()
    assert as_potential(model, "here") is model
    assert not isinstance(model, Potential)


class Sizeless(ByGradient):
    dim = 2.0  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (None, "here returned a NoneType without dim, without value; expected U = -log density as an object with dim"),
        (lambda q: -0.5 * q @ q, "here returned a function without dim, without value; expected"),
        (Sizeless(), "here returned a model whose dim is 2.0, expected a positive whole number"),
    ],
)
def test_what_is_no_potential_is_told(model: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        as_potential(model, "here")
