"""No logarithm, exponential or power depends on where arrays lie in memory.

With AVX-512, NumPy computes them in its own loops, whose last bit may differ from the C library's; the library takes
over for a strided array whose end is near the output's address. A repeated run then takes another path: no argument may
have gaps between its elements. Squares, roots and quotients are rounded correctly by either.
"""

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnshmc
from rnshmc.dynamics.metrics import DenseMetric
from rnshmc.surrogates.fitc import FITC
from rnshmc.surrogates.gaussian_process import GaussianProcess
from rnshmc.types import Array
from tests.inference.model_cases import TIMES, decay, decaying, sampled

FUNCTIONS = ("exp", "expm1", "log", "log1p", "power", "cos", "sin", "tanh")
EXACT = (2, 0.5)
"""Exponents for which NumPy computes squares and roots."""
WITHOUT_GAPS = {
    *("1.0 + t / self.offset", "tuning.growth", "tuning.low", "dim", "posterior.dim", "factor", "len(self.weights)"),
    *("k", "t", "sample.size", "np.finfo(np.float64).eps", "np.finfo(np.float64).tiny", "1.0 - empty", "empty"),
    "above",
}
"""Bases of other powers in the code: numbers, and an array that `numpy.geomspace` made."""


def has_gaps(x: Array) -> bool:
    """Whether elements of a view lie apart in memory; repeated ones (stride 0) are at one address."""
    expected = x.itemsize
    for stride, size in sorted((abs(a), n) for a, n in zip(x.strides, x.shape, strict=True) if n > 1 and a):
        if stride != expected:
            return True
        expected *= size
    return False


@pytest.fixture
def gaps(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Calls by the project with gaps between the elements of the argument."""
    found: list[str] = []

    def checked(function: Any) -> Callable[..., Any]:
        def call(x: Any, *args: Any, **settings: Any) -> Any:
            caller = sys._getframe(1)
            ours = caller.f_globals.get("__name__", "").startswith("rnshmc")
            if ours and isinstance(x, np.ndarray) and has_gaps(x):
                found.append(f"{caller.f_code.co_filename}:{caller.f_lineno}")
            return function(x, *args, **settings)

        return call

    for name in FUNCTIONS:
        monkeypatch.setattr(np, name, checked(getattr(np, name)))
    return found


def test_gaps_are_seen(gaps: list[str]) -> None:
    x = np.ones((4, 6))
    assert [has_gaps(x), has_gaps(x.T), has_gaps(np.broadcast_to(x[0], (3, 6)))] == [False, False, False]
    assert has_gaps(x[:, 1])
    assert has_gaps(np.diag(np.eye(3)))
    assert not gaps


def test_powers_of_arrays_are_squares_and_roots() -> None:
    others = set[str]()
    for path in Path(rnshmc.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow) and not isinstance(node.left, ast.Constant):
                exact = isinstance(node.right, ast.Constant) and node.right.value in EXACT
                others |= set() if exact else {ast.unparse(node.left)}
    assert others <= WITHOUT_GAPS


def test_a_forward_model_and_its_named_priors_have_none(gaps: list[str]) -> None:
    prior = {"a": ("lognormal", 0.5, 0.5), "r": ("lognormal", 0.0, 0.4), "s": ("normal", 0.0, 1.0)}
    prior |= {"t": ("normal", 0.0, 2.0)}

    def counts(x: Array) -> Array:
        return np.asarray(x[0] * np.exp(-x[1] * TIMES) + 1e-3 * (x[2] + x[3]) + 2.0)

    data = np.round(np.exp(2.0 * np.exp(-TIMES) + 2.0))
    model = rnshmc.Model(counts, data, likelihood=rnshmc.Poisson(), prior=prior)
    sampled(model, [1.5, 1.0, 0.0, 0.0], names=["a", "r", "s", "t"])
    sampled(decaying(forward=lambda x: np.where(x[1] > 0.15, np.nan, decay(x))), draws=100)
    assert not gaps


def test_a_density_with_gradients_has_none(gaps: list[str]) -> None:
    """A skewed law with a bend, whose surrogate has a wall and a warp to choose."""

    def density(x: Array) -> tuple[float, Array]:
        rest = x[1] - 0.5 * x[0] ** 2
        slopes = np.array([x[0] - x[0] * rest, rest, np.exp(x[2]) - 2.0])
        return -0.5 * float(x[0] ** 2 + rest**2) + 2.0 * x[2] - float(np.exp(x[2])), -slopes

    result = sampled(density, np.zeros(3), names=["a", "b", "c"], draws=500)
    assert result.spent.units > 0
    assert not gaps


def test_surrogates_metrics_and_targets_have_none(gaps: list[str]) -> None:
    rng = np.random.default_rng(1)
    q = rng.standard_normal((30, 2))
    u = 0.5 * (q**2).sum(axis=1)
    GaussianProcess.fit(q, u, rng=rng)
    FITC.fit(q, u, inducing_points=8, rng=rng)
    assert DenseMetric(np.diag([1.0, 4.0])).log_det == pytest.approx(np.log(4.0))
    assert not gaps
