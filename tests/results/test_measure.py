"""The row of `rnshmc.sample`: its precision is measured over chains or reported, never on rows in another order."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.signal import lfilter

from rnshmc.diagnostics.ess import geyer_ess
from rnshmc.random import stream
from rnshmc.results.estimates import estimates
from rnshmc.results.measure import chain_metrics, convergence
from rnshmc.results.metrics import read_convergence, read_metrics, write_metrics
from rnshmc.results.tables import diagnostics_table, results_tables
from rnshmc.run.chain import STATS_DTYPES
from rnshmc.store.account import Account
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing
from rnshmc.types import Array
from tests.conftest import z_bound

PHI = 0.95
TIME = (1 + PHI) / (1 - PHI)
"""Integrated autocorrelation time of AR(1)."""
CHAINS, LENGTH, DIM = 4, 5000, 50


def stored(draws: Array, *, chains: int, number: int = 1, **reported: list[float]) -> StoredChain:
    """Draws of `rnshmc.sample` in a chain file."""
    n, dim = draws.shape
    said = {name: [math.nan] * dim for name in ("mean", "sd", "mcse_mean", "mcse_sd")} | reported
    account = Account(said="", verdict="good", draws=n, chains=chains, **said)
    stats: dict[str, npt.NDArray[Any]] = {name: np.zeros(n, dtype) for name, dtype in STATS_DTYPES.items()}
    stats["evaluations"][0] = stats["values"][0] = 300
    settings = {"problem": "mine", "sampler": "auto", "recipe": "auto", "chain": number, **account.entry()}
    return StoredChain(draws, stats, settings, {"sample": {"iterations": n, "wall_s": 2.0}}, "user", {})


@pytest.fixture(scope="module")
def correlated() -> Array:
    """Four stationary chains of AR(1), shape (chains, n, dim)."""
    rng = stream(3, "measure")
    noise = rng.normal(size=(CHAINS, LENGTH, DIM)) * math.sqrt(1 - PHI**2)
    noise[:, 0] /= math.sqrt(1 - PHI**2)
    return np.asarray(lfilter([1.0], [1.0, -PHI], noise, axis=1))


def test_several_chains_count_for_what_they_are_worth(correlated: Array) -> None:
    metrics = chain_metrics(stored(correlated.reshape(-1, DIM), chains=CHAINS), reference_mean=None, discard=0)
    n = CHAINS * LENGTH
    # An autocorrelation time that sums up to a lag M has the relative error sqrt((4 M + 2) / n) (Sokal 1997); the sum
    # ends where correlations are lost in their noise, sqrt(time / n), which is left out of it.
    window = math.log(math.sqrt(n / TIME)) / -math.log(PHI)
    error = math.sqrt((4 * window + 2) / n / DIM)
    tolerance = z_bound(1) * error + math.sqrt(TIME / n)
    assert tolerance < 0.2
    assert abs(np.mean(n / np.array(metrics.ess)) / TIME - 1) < tolerance
    # Interleaved, they pass for independent draws.
    assert np.median(geyer_ess(correlated.transpose(1, 0, 2).reshape(-1, DIM))) > 10 * metrics.ess_max


def test_chains_that_disagree_are_worth_little_and_told(correlated: Array) -> None:
    apart = correlated[:, :, :2] + 5.0 * np.arange(CHAINS)[:, None, None]
    chain = stored(apart.reshape(-1, 2), chains=CHAINS)
    metrics, found = chain_metrics(chain, reference_mean=None, discard=0), convergence([chain])
    # As many independent draws as there are chains, at most.
    assert metrics.ess_max < 2 * CHAINS
    assert found.rhat_max is not None
    assert found.rhat_max > 1.5
    row = diagnostics_table([metrics], [found]).iloc[0]
    assert "R-hat" in row["warnings"]
    assert "bulk ESS" in row["warnings"]


def test_files_of_several_chains_are_diagnosed_together(correlated: Array) -> None:
    parts = [correlated[:2, :, :3], correlated[2:, :-1000, :3]]
    files = [stored(part.reshape(-1, 3), chains=2, number=k) for k, part in enumerate(parts)]
    together = convergence(files)
    assert together == convergence([stored(correlated[:, :-1000, :3].reshape(-1, 3), chains=CHAINS)])


@pytest.fixture(scope="module")
def repeated() -> StoredChain:
    """2000 draws of a surrogate that are 26 points in random order, with the precision of 26 draws."""
    points = stream(4, "measure").normal(size=(26, 2))
    draws = points[stream(5, "measure").integers(26, size=2000)]
    error = 1.0 / math.sqrt(26.0)
    return stored(draws, chains=0, mean=[0.1, 0.2], sd=[1.0, 2.0], mcse_mean=[error, 2 * error], mcse_sd=[0.1, 0.2])


def test_repeated_points_are_worth_what_was_reported(repeated: StoredChain) -> None:
    assert geyer_ess(repeated.draws).min() > 1500
    metrics = chain_metrics(repeated, reference_mean=None, discard=0)
    np.testing.assert_allclose(metrics.ess, 26.0, rtol=1e-12)
    assert (metrics.mean, metrics.sd) == ([0.1, 0.2], [1.0, 2.0])


def test_what_cannot_be_measured_is_blank(repeated: StoredChain) -> None:
    metrics = chain_metrics(repeated, reference_mean=np.zeros(2), discard=0)
    blank = [
        "ap_with_empty",
        "ess_bulk_min",
        "ess_tail_min",
        "surrogate_gradients_per_iter",
        *(f"truncated_ess{kind}_{part}" for kind in ("", "_with_empty") for part in ("min", "median", "max")),
    ]
    assert [name for name in blank if not math.isnan(getattr(metrics, name))] == []
    assert (metrics.divergences, metrics.rem_iteration, metrics.rem) == (None, [], [])
    assert convergence([repeated, repeated]).rhat_max is None


def test_blanks_survive_their_file_and_stay_blank_in_tables(repeated: StoredChain, tmp_path: Path) -> None:
    metrics, found = chain_metrics(repeated, reference_mean=None, discard=0), convergence([repeated])
    path = tmp_path / "mine.json"
    write_metrics(path, [metrics], [found])
    read, diagnosed = read_metrics([path]), read_convergence([path])
    assert repr(read) == repr([metrics])
    row = diagnostics_table(read, diagnosed).iloc[0]
    assert row[["rhat_max", "ess_bulk_min", "ess_tail_min", "divergences"]].isna().all()
    assert row["warnings"] == "ESS 26 of 100"
    timing = Timing("mine", "auto", 0.001, (0.001,), loaded=False)
    line = results_tables(read, [timing], {})[0].iloc[0]
    blank = ["truncated_ess_min", "ap_with_empty", "surrogate_gradients_per_iter", "sample_s", "total_s"]
    assert line[blank].isna().all()
    # 26 draws in the two seconds of 2000, and for 300 evaluations.
    np.testing.assert_allclose(line[["min_ess_per_s", "median_ess_per_s_with_training"]].astype(float), 13.0)
    np.testing.assert_allclose(line["min_ess_per_value"], 26.0 / 300.0)


def test_speed_ups_rest_on_what_was_reported(repeated: StoredChain) -> None:
    auto = chain_metrics(repeated, reference_mean=None, discard=0)
    hmc = replace(auto, sampler="hmc", recipe="hmc", ess_min=400.0, ess_median=400.0)
    timings = [Timing("mine", name, 0.001, (0.001,), loaded=False) for name in ("hmc", "auto")]
    row = estimates([auto, hmc], timings)["mine", "auto"]
    np.testing.assert_allclose(row["speedup_min_ess"].value, 26.0 / 400.0)


@pytest.mark.parametrize(("verdict", "warned"), [("doubtful", "verdict doubtful on 1 of 2"), ("good", "")])
def test_a_verdict_that_is_not_good_is_a_warning(verdict: str, warned: str, repeated: StoredChain) -> None:
    good = replace(chain_metrics(repeated, reference_mean=None, discard=0), ess_min=500.0)
    table = diagnostics_table([good, replace(good, chain=2, verdict=verdict)], [convergence([repeated])])
    assert table["warnings"].iloc[0] == warned
