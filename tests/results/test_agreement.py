"""Posteriors compared with a reference run or with HMC's."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy.stats import norm

from rnshmc.diagnostics.reference import Reference
from rnshmc.results.agreement import AGREEMENT_COLUMNS, LEVEL, agreement_table
from rnshmc.types import Array
from tests.results.test_tables import HMC_1, HMC_2, RNS, RNS_2, row

ENOUGH = [replace(chain, mean=[1.0, 2.0, 3.0]) for chain in (HMC_1, HMC_2)]


def reference_run(mean: Array, mcse_mean: Array) -> Reference:
    ones = np.ones_like(mean)
    return Reference(mean, 2.0 * ones, mcse_mean, ones, ones, draws=100, chains=2)


EXACT = {"bank": reference_run(mean=np.array([1.0, 2.0, 3.0]), mcse_mean=np.zeros(3))}


def test_a_problem_with_a_reference_is_compared_with_it() -> None:
    chains = [HMC_1, replace(HMC_2, mean=[1.0, 2.0, 3.8])]
    # Means 1, 2, 3.4 with error 0.1 / sqrt(2), against errors of zero.
    table = agreement_table(chains, EXACT)
    assert tuple(table.columns) == AGREEMENT_COLUMNS
    found = row(table, "hmc")
    assert (found["against"], found["chains"]) == ("reference", 2)
    assert_allclose(found["max_abs_z"], 0.4 / (0.1 / np.sqrt(2)))
    assert_allclose([found["shift"], found["spread"]], [0.0, 2.0])
    assert not found["agrees"]
    assert row(agreement_table([HMC_1], EXACT), "hmc")["agrees"]
    few = [replace(chain, ess_min=24.0) for chain in chains]
    assert pd.isna(row(agreement_table(few, EXACT), "hmc")["agrees"])


def test_the_level_holds_for_all_rows_of_a_table_together() -> None:
    samplers = [HMC_1, RNS, replace(RNS, sampler="rmhmc")]
    for chains in (samplers[:1], samplers):
        thresholds = agreement_table(chains, EXACT)["threshold"]
        # Two tails of three coordinates of each sampler.
        assert_allclose(2 * 3 * norm.sf(thresholds).sum(), LEVEL)


def test_no_chains_are_no_rows() -> None:
    assert agreement_table([], {}).empty


def test_other_samplers_are_compared_with_hmc_where_there_is_no_reference() -> None:
    shifted = replace(RNS, mean=[1.0, 3.0, 4.0])
    wider = replace(RNS, sampler="sghmc_a", recipe="sghmc", training_draws=None, sd=[3.0, 6.0, 0.2])
    exact = replace(HMC_1, sd=[1.0, 2.0, 1.0])
    table = agreement_table([exact, shifted, wider], {})
    assert table["against"].tolist() == ["hmc", "hmc"]
    rns, sghmc = row(table, "rns_hmc"), row(table, "sghmc_a")
    assert_allclose(rns["max_abs_z"], 1.0 / np.hypot(0.1, 0.1))
    assert not rns["agrees"]
    assert sghmc["agrees"]
    assert_allclose(rns["shift"], 0.5)  # median of 0, 1/2 and 1 standard deviations
    assert_allclose([sghmc["shift"], sghmc["spread"]], [0.0, 3.0])  # median of 3, 3 and 5


@pytest.mark.parametrize("apart", ["hmc", "rns_hmc"])
def test_no_means_agree_with_those_of_chains_that_did_not_mix(apart: str) -> None:
    chains = [*ENOUGH, RNS, RNS_2]
    assert row(agreement_table(chains, {}), "rns_hmc")["agrees"]
    found = row(agreement_table(chains, {}, {("bank", apart)}), "rns_hmc")
    assert pd.isna(found["agrees"])
    assert np.isnan(found["max_abs_z"])
    assert not found["mixed"]


def test_a_sampler_that_mixed_is_compared_with_its_reference_whatever_hmc_did() -> None:
    table = agreement_table([*ENOUGH, RNS, RNS_2], EXACT, {("bank", "hmc")})
    assert pd.isna(row(table, "hmc")["agrees"])
    assert row(table, "rns_hmc")["agrees"]


def test_without_hmc_nothing_is_compared() -> None:
    assert agreement_table([RNS], {}).empty


def test_a_chain_that_never_moved_has_no_shape_to_compare_with() -> None:
    still = replace(HMC_1, sd=[0.0] * 3, mcse_mean=[0.0] * 3)
    found = row(agreement_table([still, replace(RNS, sd=[0.0] * 3)], {}), "rns_hmc")
    assert np.isnan([found["shift"], found["spread"]]).all()


def test_a_sampler_that_never_moved_has_no_shape() -> None:
    found = row(agreement_table([HMC_1, replace(RNS, sd=[0.0] * 3)], {}), "rns_hmc")
    assert np.isnan(found["spread"])
    assert found["shift"] == 0.0


def test_means_of_few_effective_draws_are_not_judged() -> None:
    few = [replace(chain, ess_min=24.0) for chain in (RNS, RNS_2)]
    assert pd.isna(row(agreement_table([*ENOUGH, *few], {}), "rns_hmc")["agrees"])
    enough = [replace(chain, ess_min=26.0) for chain in (RNS, RNS_2)]
    assert row(agreement_table([*ENOUGH, *enough], {}), "rns_hmc")["agrees"]
    assert pd.isna(row(agreement_table([replace(HMC_1, ess_min=49.0), *enough], {}), "rns_hmc")["agrees"])
