"""Measures on the tables of Figs. 7 and 8 for adaptive chains."""

import pandas as pd
from numpy.testing import assert_allclose

from rnshmc.scorecard.measured import Tables
from tests.scorecard.conftest import Find


def test_the_end_of_an_adaptive_chain_is_compared_with_hmc(find: Find) -> None:
    rows = [
        {
            "problem": "bank",
            "sampler": sampler,
            "chain": chain,
            "training_points": 500 + 100 * k,
            "ap": share * k,
            "hmc_ap": 0.6,
            "data": "real",
        }
        for chain in (1, 2)
        for k in range(11)
        for sampler, share in (("arns_hmc", 0.06), ("arns_hmc_early", 0.01))
    ]
    end = find({"fig7": pd.DataFrame(rows)}, "final_acceptance", "bank", "arns_hmc")
    assert end is not None
    assert_allclose(end.estimate.value, (0.9 + 1.0) / 2)  # the last tenth: the two largest of eleven sizes
    assert not end.other_data


def errors(**paths: tuple[float, ...]) -> Tables:
    """Errors of three chains in proportion; RNS-HMC takes over at 2.5 s, ARNS-HMC at 2 s."""
    rows = [
        {
            "problem": "a9a",
            "sampler": sampler,
            "chain": chain,
            "phase": "explore" if point < (1 if sampler == "arns_hmc" else 2) else "sample",
            "seconds": 1.0 + point - 0.5 * (sampler == "rns_hmc" and point > 1),
            "rem": chain * rem,
            "data": "stand-in",
        }
        for sampler, path in paths.items()
        for chain in (1, 2, 3)
        for point, rem in enumerate(path)
    ]
    return {"fig8": pd.DataFrame(rows)}


def test_early_errors_are_taken_when_another_takes_over(find: Find) -> None:
    tables = errors(hmc=(4.0, 3.0, 2.0, 1.0), rns_hmc=(4.0, 3.0, 0.5, 0.1), arns_hmc=(4.0, 1.5, 0.4, 0.1))
    early = find(tables, "early_error", "a9a", "arns_hmc", other="hmc", switch="rns_hmc")
    assert early is not None
    assert_allclose(early.estimate.value, 1.5 / 3.0)
    assert early.other_data


def test_overall_errors_are_compared_at_equal_seconds_while_both_run(find: Find) -> None:
    # From 2 s, when ARNS-HMC starts, to 3.5 s, when RNS-HMC ends; before and after, nothing counts.
    tables = errors(rns_hmc=(9.0, 4.0, 4.0, 4.0), arns_hmc=(1.0, 2.0, 2.0, 99.0))
    overall = find(tables, "overall_error", "a9a", "arns_hmc", other="rns_hmc")
    assert overall is not None
    assert_allclose(overall.estimate, (0.5, 0.0), rtol=0, atol=1e-12)
    assert overall.over == "3 chains"


def test_the_error_of_an_overall_ratio_leaves_out_one_chain_at_a_time(find: Find) -> None:
    tables = errors(rns_hmc=(4.0, 4.0, 4.0, 4.0), arns_hmc=(2.0, 2.0, 2.0, 2.0))
    table = tables["fig8"]
    table.loc[(table["sampler"] == "arns_hmc") & (table["chain"] == 3), "rem"] *= 2
    overall = find(tables, "overall_error", "a9a", "arns_hmc", other="rns_hmc")
    assert overall is not None
    assert 0.05 < overall.estimate.error / overall.estimate.value < 1.0
