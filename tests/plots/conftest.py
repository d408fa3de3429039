"""Made-up chains: autoregressive draws around a known mean, with the statistics that the run loop would leave."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import lfilter

from rnshmc.plots.style import theme
from rnshmc.random import stream
from rnshmc.store.chains import StoredChain
from rnshmc.types import Array

MakeChain = Callable[..., StoredChain]


@pytest.fixture(autouse=True, scope="module")
def _theme() -> Iterator[None]:
    """Figures are drawn in the style of the project, as by the workflow."""
    with theme():
        yield


@pytest.fixture(scope="session")
def make_chain() -> MakeChain:
    """Builds a chain: ``make_chain("bank", "hmc", 1, origin="real", draws=200, dim=6)``."""
    return _make_chain


def _make_chain(
    problem: str, sampler: str, number: int, *, origin: str = "real", draws: int = 200, dim: int = 6
) -> StoredChain:
    rng = stream(1, problem, sampler, f"chain{number}")
    surrogate = sampler != "hmc"
    q = _autoregressive(rng, 2 * draws, dim, 0.5 if surrogate else 0.3)
    q[:20] += np.linspace(-8.0, 0.0, 20)[:, np.newaxis]
    fit = {
        "type": "random_network",
        "hidden_units": 1000,
        "ridge": 1e-7,
        "train_residual_sd": 0.13,
        "cpu_s": 2.0,
        "training_states": draws - 20,
    }
    phases: dict[str, Any] = {"explore": {"iterations": draws, "wall_s": 5.0, "cpu_s": 4.8}}
    if surrogate:
        phases["fit"] = {**fit, "wall_s": 2.1}
    phases["sample"] = {"iterations": draws, "wall_s": 1.0, "cpu_s": 1.0}
    return StoredChain(
        draws=q[draws:],
        stats=_stats(rng, draws, surrogate=surrogate),
        warmup=q[:draws],
        warmup_stats=_stats(rng, draws, surrogate=False),
        settings=_settings(problem, sampler, number),
        phases=phases,
        origin=origin,
        provenance={},
    )


def _autoregressive(rng: np.random.Generator, n: int, dim: int, coefficient: float) -> Array:
    factor = np.tril(np.full((dim, dim), 0.3)) + np.eye(dim)
    noise = rng.normal(size=(n, dim)) * np.sqrt(1 - coefficient**2)
    noise[0] = rng.normal(size=dim)
    path = lfilter([1.0], [1.0, -coefficient], noise, axis=0)
    return np.asarray(path @ factor.T + np.arange(1.0, dim + 1))


def _stats(rng: np.random.Generator, n: int, *, surrogate: bool) -> dict[str, npt.NDArray[Any]]:
    steps = rng.integers(1, 11, size=n)
    none = np.zeros(n, dtype=np.int64)
    return {
        "accepted": rng.random(n) < (0.7 if surrogate else 0.75),
        "accept_prob": rng.random(n),
        "delta_h": rng.normal(size=n),
        "diverging": none.astype(bool),
        "solver_failed": none.astype(bool),
        "n_steps": steps,
        "evaluations": np.ones(n, dtype=np.int64) if surrogate else steps,
        "values": np.ones(n, dtype=np.int64),
        "gradients": none if surrogate else steps,
        "metrics": none,
        "softened_metrics": none,
        "surrogate_gradients": steps if surrogate else none,
        "potential": rng.normal(size=n),
    }


def _settings(problem: str, sampler: str, number: int) -> dict[str, Any]:
    settings = {
        "problem": problem,
        "sampler": sampler,
        "recipe": sampler,
        "chain": number,
        "explored": 200,
        "seed": 1,
        "settings": {"step_size": 0.1, "n_steps": [1, 10]},
        "target": {"kind": "elliptic"},
    }
    surrogate = {"type": "random_network", "hidden_units": 1000, "ridge": 1e-7}
    return settings if sampler == "hmc" else {**settings, "surrogate": surrogate}
