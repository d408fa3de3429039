"""Settings that are not those of the papers' run are found, sampler by sampler and experiment by experiment."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from snakemake.utils import update_config

from rnshmc.scorecard.published import Published
from rnshmc.scorecard.settings import other_settings, reason_not_to_judge

ROOT = Path(__file__).parents[2]
PAPERS: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


def others_with(changes: dict[str, Any]) -> dict[str, str]:
    config = deepcopy(PAPERS)
    update_config(config, changes)
    return other_settings(config, PAPERS)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"problems": {"bank": {"samplers": {"hmc": {"keep": 10}}}}}, {"bank/hmc": "keep is 10, not 5000"}),
        ({"experiments": {"fig3": {"sizes": [300, 600]}}}, {"fig3": "sizes is 600, not 3000"}),
        ({"sweeps": {"fig4": {"grid": {"d": [8]}}}}, {"fig4": "grid.d is 8, not 80"}),
        ({"experiments": {"fig1": {"repeats": 1, "fits": 1}}, "chains": 1}, {}),
        ({"iterations": {"keep": 10000}}, {}),
        ({}, {}),
        (
            {"problems": {"garch": {"surrogates": {"gradient_network": {"standardised_targets": True}}}}},
            {"garch/nng_hmc": "standardised_targets is True, not unset"},
        ),
        (
            {"experiments": {"nng_fig3": {"surrogates": {"nng_hmc": {"batch_size": 9}}}}},
            {"nng_fig3/nng_hmc": "batch_size is 9, not 20"},
        ),
        (
            {"problems": {"lr_200": {"iterations": {"explore": 200}}}},
            dict.fromkeys(("lr_200/hmc", "lr_200/nng_hmc", "nng_fig4", "nng_fig5"), "explore is 200, not 600"),
        ),
    ],
)
def test_only_what_is_shorter_or_otherwise_is_named(changes: dict[str, Any], expected: dict[str, str]) -> None:
    assert others_with(changes) == expected


def test_a_smaller_surrogate_affects_the_samplers_that_it_drives() -> None:
    found = others_with({"problems": {"pde": {"surrogates": {"random_network": {"hidden_units": 400}}}}})
    assert found == {"pde/rns_hmc": "hidden_units is 400, not 1000"}


@pytest.mark.parametrize(
    ("part", "label", "quantity"),
    [
        ("bank/rns_hmc", "table1/bank/rns_hmc", "ap"),
        ("bank/hmc", "table1/bank/rns_hmc", "s_per_iter"),  # relative to HMC
        ("a9a/rns_hmc", "fig8/a9a/arns_hmc", "overall_error_over_rns_hmc"),
        ("fig3", "fig3/rns_hmc", "training_exponent"),
        ("nng_fig4", "fig4/nng_hmc", "means"),
        ("nng_fig3/nng_hmc", "fig3/nng_hmc", "variance_widest"),
        ("fig3/gp_hmc", "fig3/rns_hmc", "acceptance_with_fewest_minus_gp_hmc"),
    ],
)
def test_a_number_rests_on_its_sampler_on_others_and_on_its_experiment(
    numbers: tuple[Published, ...], part: str, label: str, quantity: str
) -> None:
    found = [number for number in numbers if (number.label, number.quantity) == (label, quantity)]
    assert found
    assert all(reason_not_to_judge(number, {part: "short"}) == "short" for number in found)
    assert not any(reason_not_to_judge(number, {"other/hmc": "short", "fig": "short"}) for number in found)
