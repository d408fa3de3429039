"""Names of samplers and their variants."""

import pytest

from rnshmc.results.names import SAMPLERS, in_order, sampler_label


@pytest.mark.parametrize("sampler", SAMPLERS)
def test_samplers_of_the_papers_have_their_labels(sampler: str) -> None:
    assert sampler_label(sampler) == SAMPLERS[sampler]


@pytest.mark.parametrize(
    ("sampler", "label"),
    [
        ("sghmc_a", "SGHMC (a)"),
        ("sghmc_mh_2", "SGHMC-MH (2)"),
        ("nng_hmc_10", "NNg-HMC (10)"),
        ("rns_hmc_rbf", "RNS-HMC (RBF)"),
        ("rns_hmc_rb", "RNS-HMC (rb)"),
    ],
)
def test_a_variant_is_called_by_the_longest_name_that_it_begins_with(sampler: str, label: str) -> None:
    assert sampler_label(sampler) == label


@pytest.mark.parametrize("sampler", ["my_own", "hmcx", "sghmca"])
def test_others_go_by_their_names(sampler: str) -> None:
    assert sampler_label(sampler) == sampler


def test_variants_stand_after_their_sampler() -> None:
    names = ["zz", "sghmc_mh", "sghmc_b", "nng_hmc_10", "sghmc_a", "hmc", "own", "nng_hmc", "hmc"]
    expected = ["hmc", "nng_hmc", "nng_hmc_10", "sghmc_a", "sghmc_b", "sghmc_mh", "own", "zz"]
    assert in_order(names) == expected
