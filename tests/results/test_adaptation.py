"""The tables of the adaptive experiment from made-up chains."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

from rnshmc.results.adaptation import FIG7_COLUMNS, FIG8_COLUMNS, acceptance_by_training, error_by_time
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing
from tests.results.test_tables import HMC_1, HMC_2

HMC = [
    replace(chain, explored=500, rem_iteration=[101, 500, 501, 1500], rem=[0.4, 0.3, 0.2, 0.1])
    for chain in (HMC_1, HMC_2)
]
FIT = {"fit": {"cpu_s": 3.0, "training_states": 400}}
RNS = replace(HMC[0], sampler="rns_hmc", phases={**HMC_1.phases, **FIT})
ARNS = replace(RNS, sampler="arns_hmc", explored=200)
TIMINGS = [
    Timing("bank", sampler, s, (s, s), loaded=False)
    for sampler, s in (("hmc", 0.02), ("rns_hmc", 0.004), ("arns_hmc", 0.01), ("rmhmc", 1.0))
]


def adaptive(draws: int) -> StoredChain:
    settings = {"problem": "bank", "sampler": "arns_hmc", "chain": 3}
    stats = {"accept_prob": np.arange(draws) / draws}
    return StoredChain(np.zeros((draws, 1)), stats, settings, phases=FIT, origin="real", provenance={})


def test_acceptance_is_averaged_over_windows_and_stands_at_their_middle() -> None:
    table = acceptance_by_training([adaptive(5000)], HMC)
    assert tuple(table.columns) == FIG7_COLUMNS
    assert len(table) == 50
    assert_allclose(table["training_points"], 450 + 100 * np.arange(50))
    # The mean of 0..99, 100..199, ... over 5000.
    assert_allclose(table["ap"], (49.5 + 100 * np.arange(50)) / 5000)
    assert_allclose(table["hmc_ap"], 0.75)
    assert (table["window"] == 100).all()


def test_short_chains_have_short_windows() -> None:
    assert acceptance_by_training([adaptive(60)], HMC)["window"].tolist() == [3] * 20
    assert acceptance_by_training([adaptive(7)], HMC)["window"].tolist() == [1] * 7


@pytest.mark.parametrize(
    ("sampler", "seconds"),
    [
        ("hmc", [2.02, 10.0, 10.02, 30.0]),
        ("rns_hmc", [2.02, 10.0, 10.0 + 3.0 + 0.004, 10.0 + 3.0 + 4.0]),
        ("arns_hmc", [2.02, 4.0 + 3.0 + 3.0, 4.0 + 3.0 + 3.01, 4.0 + 3.0 + 13.0]),
    ],
)
def test_the_clock_counts_exploration_fit_and_sampling(sampler: str, seconds: list[float]) -> None:
    table = error_by_time([*HMC, RNS, ARNS], TIMINGS)
    assert tuple(table.columns) == FIG8_COLUMNS
    chain = table[(table["sampler"] == sampler) & (table["chain"] == 1)]
    # The first sampler is through after 17 s: until then each error is that of the last point before.
    last = np.searchsorted(seconds, chain["seconds"] * (1 + 1e-12), side="right") - 1
    assert_allclose(chain["rem"], np.array([0.4, 0.3, 0.2, 0.1])[last])
    assert_allclose(chain["iteration"], np.array([101, 500, 501, 1500])[last])


def test_all_chains_are_compared_at_the_same_times_while_all_run() -> None:
    table = error_by_time([*HMC, RNS, ARNS], TIMINGS)
    times = [chain["seconds"].to_numpy() for _, chain in table.groupby(["sampler", "chain"])]
    assert len(times) == 4
    for chain in times:
        assert_allclose(chain, times[0], rtol=0)
    assert (times[0][0], times[0][-1]) == (2.02, 17.0)
    assert (np.diff(times[0]) > 0).all()


def test_samplers_that_never_run_together_are_not_compared() -> None:
    late = replace(RNS, rem_iteration=[1400, 1500], rem=[0.2, 0.1])
    early = replace(ARNS, rem_iteration=[101, 102], rem=[0.4, 0.3])
    assert error_by_time([late, early, HMC[0]], TIMINGS).empty


def test_a_surrogate_takes_over_after_the_exploration() -> None:
    table = error_by_time([*HMC, RNS, ARNS], TIMINGS)
    phases = {
        sampler: dict(zip(rows["iteration"], rows["phase"], strict=True)) for sampler, rows in table.groupby("sampler")
    }
    assert phases["rns_hmc"] == {101: "explore", 500: "explore", 501: "sample", 1500: "sample"}
    assert phases["arns_hmc"] == {101: "explore", 501: "sample"}


def test_other_samplers_are_not_in_the_comparison() -> None:
    table = error_by_time([*HMC, replace(HMC[0], sampler="rmhmc")], TIMINGS)
    assert set(table["sampler"]) == {"hmc"}


def test_without_adaptive_chains_the_tables_are_empty() -> None:
    assert tuple(acceptance_by_training([], HMC).columns) == FIG7_COLUMNS
    assert tuple(error_by_time([], []).columns) == FIG8_COLUMNS
