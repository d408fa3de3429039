"""Paper B's tables from made-up chains whose numbers can be worked out by hand."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from rnshmc.diagnostics.ess import geyer_ess, truncated_ess
from rnshmc.errors import StoreError
from rnshmc.random import stream
from rnshmc.report.table_text import readable_network_table
from rnshmc.results.network_metrics import NetworkChain, network_chain
from rnshmc.results.network_tables import (
    AGREEMENT_COLUMNS,
    NETWORK_COLUMNS,
    network_agreement,
    network_table,
    network_table_standard_errors,
)
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing

HMC = NetworkChain(
    problem="news",
    sampler="hmc",
    chain=1,
    origin="real",
    recipe="hmc",
    training_draws=None,
    draws=1000,
    ap=0.7,
    ess_min=100.0,
    ess_median=300.0,
    ess_max=500.0,
    truncated_ess_min=180.0,
    truncated_ess_median=540.0,
    truncated_ess_max=900.0,
    values_per_iter=1.0,
    gradients_per_iter=9.5,
    fit_s=None,
    mean=np.array([1.0, 2.0, 3.0]),
    sd=np.array([1.0, 2.0, 1.0]),
    mcse_mean=np.array([0.1, 0.1, 0.1]),
)
HMC_2 = replace(HMC, chain=2, ap=0.8)
NNG = replace(HMC, sampler="nng_hmc_10", recipe="nng_hmc", training_draws=1000, ap=0.6, ess_median=200.0, fit_s=10.0)
NNG_2 = replace(NNG, chain=2, ess_median=280.0, fit_s=14.0)
CHAINS = [NNG, NNG_2, HMC, HMC_2]
TIMINGS = [
    Timing("news", "hmc", 0.02, (0.018, 0.02, 0.022), loaded=False),
    Timing("news", "nng_hmc_10", 0.004, (0.004, 0.004), loaded=True),
]
MEDIAN = np.sqrt(np.pi / 2)
"""Standard error of a median of normal values, relative to that of their mean."""
HMC_SE = MEDIAN * 0.002 / np.sqrt(3)


def row(table: pd.DataFrame, sampler: str) -> dict[str, Any]:
    return {str(key): value for key, value in table.set_index("sampler").loc[sampler].items()}


def stored(sampler: str = "nng_hmc_10", *, fitted: bool = True) -> StoredChain:
    draws = np.cumsum(stream(3, "network", sampler).normal(size=(400, 3)), axis=0) * np.array([0.1, 1.0, 10.0])
    accepted = np.arange(400) % 4 > 0
    settings = {"problem": "news", "sampler": sampler, "recipe": "nng_hmc", "chain": 2, "explored": 150}
    phases = {"explore": {"cpu_s": 9.0}, "fit": {"cpu_s": 3.5, "wall_s": 4.0}}
    stats = {"accepted": accepted, "values": np.ones(400), "gradients": np.arange(400) % 2}
    return StoredChain(draws, stats, settings, phases if fitted else {}, "real", {})


def test_a_chain_is_measured_by_both_definitions() -> None:
    chain = stored()
    found = network_chain(chain)
    assert (found.problem, found.sampler, found.recipe, found.chain) == ("news", "nng_hmc_10", "nng_hmc", 2)
    assert (found.ap, found.draws, found.training_draws, found.fit_s) == (0.75, 400, 150, 3.5)
    assert (found.ess_min, found.ess_max) == (geyer_ess(chain.draws).min(), geyer_ess(chain.draws).max())
    assert (found.values_per_iter, found.gradients_per_iter) == (1.0, 0.5)
    assert found.truncated_ess_median == np.median(truncated_ess(chain.draws))
    assert_allclose(found.sd, chain.draws.std(axis=0, ddof=1))
    assert (found.mcse_mean > found.sd / np.sqrt(400)).all()


def test_a_chain_without_a_network_has_no_training() -> None:
    found = network_chain(stored(fitted=False))
    assert (found.training_draws, found.fit_s) == (None, None)


def test_the_table_has_a_row_per_sampler() -> None:
    table = network_table(CHAINS, TIMINGS)
    assert tuple(table.columns) == NETWORK_COLUMNS
    assert table["sampler"].tolist() == ["hmc", "nng_hmc_10"]
    assert table["recipe"].tolist() == ["hmc", "nng_hmc"]
    assert table["training_draws"].tolist() == [pd.NA, 1000]
    assert table["loaded"].tolist() == [False, True]
    assert_allclose([*table["ap"], *table["ess_median"]], [0.75, 0.6, 300.0, 240.0])


def test_seconds_of_sampling_leave_out_what_seconds_of_all_include() -> None:
    hmc, nng = (row(network_table(CHAINS, TIMINGS), name) for name in ("hmc", "nng_hmc_10"))
    assert_allclose([hmc["sample_s"], hmc["total_s"]], [200.0, 200.0])
    # 1000 iterations of HMC, the training, 9000 iterations of NNg-HMC.
    total = 20.0 + 12.0 + 36.0
    assert_allclose([nng["sample_s"], nng["total_s"]], [40.0, total])
    # 300 of 1000 draws at 0.02 s, 240 of 1000 at 0.004 s.
    assert_allclose([hmc["median_ess_per_s"], nng["median_ess_per_s"]], [15.0, 60.0])
    assert_allclose([hmc["speedup"], nng["speedup"]], [1.0, 4.0])
    assert_allclose([hmc["total_median_ess_per_s"], nng["total_median_ess_per_s"]], [15.0, 2400.0 / total])
    assert_allclose(nng["total_speedup"], 2400.0 / total / 15.0)


def test_standard_errors_are_over_chains_and_blocks() -> None:
    table = network_table_standard_errors(CHAINS, TIMINGS)
    hmc, nng = (row(table, name) for name in ("hmc", "nng_hmc_10"))
    assert_allclose([hmc["ap"], nng["ess_median"], nng["fit_s"]], [0.05, 40.0, 2.0])  # half the difference of two
    assert_allclose([hmc["s_per_iter"], nng["s_per_iter"]], [HMC_SE, 0.0])
    assert_allclose(nng["total_s"], np.hypot(1000 * HMC_SE, 2.0))
    assert_allclose(nng["total_median_ess_per_s"] / (2400.0 / 68.0), np.hypot(40 / 240, nng["total_s"] / 68.0))
    assert_allclose(nng["speedup"] / 4.0, np.hypot(40 / 240, HMC_SE / 0.02))
    assert (hmc["speedup"], hmc["total_speedup"]) == (0.0, 0.0)
    one = network_table_standard_errors([HMC, NNG], TIMINGS)
    assert np.isnan(one["ap"]).all()
    assert np.isnan(row(one, "nng_hmc_10")["total_speedup"])


def test_without_hmc_nothing_is_relative_to_it() -> None:
    nng = row(network_table([NNG], TIMINGS[1:]), "nng_hmc_10")
    assert_allclose(nng["sample_s"], 40.0)
    assert np.isnan([nng["total_s"], nng["speedup"], nng["total_speedup"]]).all()
    assert network_agreement([NNG]).empty


def test_a_missing_timing_is_named() -> None:
    with pytest.raises(StoreError, match="no timing of news/nng_hmc_10"):
        network_table(CHAINS, TIMINGS[:1])


@pytest.mark.parametrize(("field", "value"), [("origin", "stand-in"), ("draws", 7), ("training_draws", 3)])
def test_chains_that_do_not_belong_together_are_refused(field: str, value: object) -> None:
    odd = replace(NNG_2, **{field: value})  # type: ignore[arg-type]
    with pytest.raises(StoreError, match=f"news/nng_hmc_10 differ in {field}"):
        network_table([HMC, NNG, odd], TIMINGS)


def test_agreement_tells_a_shift_from_another_shape() -> None:
    shifted = replace(NNG, mean=HMC.mean + np.array([0.0, 1.0, 1.0]))
    wider = replace(NNG, sampler="sghmc_a", recipe="sghmc", training_draws=None, sd=HMC.sd * np.array([3.0, 3.0, 0.2]))
    table = network_agreement([HMC, shifted, wider])
    assert tuple(table.columns) == AGREEMENT_COLUMNS
    nng, sghmc = row(table, "nng_hmc_10"), row(table, "sghmc_a")
    assert_allclose(nng["max_abs_z"], 1.0 / np.hypot(0.1, 0.1))
    assert not nng["agrees"]
    assert sghmc["agrees"]
    assert_allclose([nng["shift"], nng["spread"]], [0.5, 1.0])  # median of 0, 1/2 and 1 standard deviations
    assert_allclose([sghmc["shift"], sghmc["spread"]], [0.0, 3.0])  # median of 3, 3 and 5


def test_a_chain_that_never_moved_has_no_shape_to_compare_with() -> None:
    still = replace(HMC, sd=np.zeros(3), mcse_mean=np.zeros(3))
    found = row(network_agreement([still, replace(NNG, sd=np.zeros(3))]), "nng_hmc_10")
    assert np.isnan([found["shift"], found["spread"]]).all()


def test_a_sampler_that_never_moved_has_no_shape() -> None:
    found = row(network_agreement([HMC, replace(NNG, sd=np.zeros(3))]), "nng_hmc_10")
    assert np.isnan(found["spread"])
    assert found["shift"] == 0.0
    chain = stored()
    still = network_chain(replace(chain, draws=np.full_like(chain.draws, 0.1)))
    assert_array_equal(still.sd, 0.0)


def test_means_of_few_effective_draws_are_not_judged() -> None:
    few = [replace(chain, ess_min=24.0) for chain in (NNG, NNG_2)]
    found = row(network_agreement([HMC, HMC_2, *few]), "nng_hmc_10")
    assert np.isnan(found["max_abs_z"])
    assert pd.isna(found["agrees"])
    enough = [replace(chain, ess_min=26.0) for chain in (NNG, NNG_2)]
    assert row(network_agreement([HMC, HMC_2, *enough]), "nng_hmc_10")["agrees"]
    assert pd.isna(row(network_agreement([replace(HMC, ess_min=49.0), *enough]), "nng_hmc_10")["agrees"])


def test_the_table_reads_as_text() -> None:
    text = readable_network_table(network_table(CHAINS, TIMINGS), {"news": "Online News"}).to_dict("records")[1]
    assert (text["problem"], text["training draws"], text["AP"]) == ("Online News", "1000", "0.60")
    assert (text["ESS (min, med, max)"], text["truncated ESS"]) == ("100, 240, 500", "180, 540, 900")
    assert text["chains × draws"] == "2 × 1000"
    assert (text["values/iter"], text["gradients/iter"]) == ("1.00", "9.50")
    assert (text["s/iter"], text["speed-up"], text["with training"]) == ("0.00400\N{NO-BREAK SPACE}†", "4.00", "2.35")
