"""Keys of a configuration that contradict each other are named."""

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnshmc.datasets.registry import READERS, SIMULATIONS, STAND_INS
from rnshmc.errors import ParameterError
from rnshmc.run.config import check_config, selected_problems
from rnshmc.run.recipes import AUTO, RECIPES
from rnshmc.run.registry import SURROGATES, TARGETS

ROOT = Path(__file__).parents[2]
PAPER: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))


def changed(value: Any, *keys: str) -> dict[str, Any]:
    config = deepcopy(PAPER)
    inner = config
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return config


def test_the_paper_is_consistent() -> None:
    check_config(PAPER)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            changed("adult", "data", "projected", "a9a", "of"),
            r"data.projected.a9a.of is 'adult'; there are a9a_encoded,",
        ),
        (changed({"of": "bank", "dimension": 5}, "data", "projected", "garch"), r"data: garch is defined twice"),
        (changed(5000, "iterations", "discard"), r"iterations.discard is 5000.*iterations.explore \(5000\)"),
        (changed(500, "experiments", "fig2", "discard"), r"experiments.fig2.discard is 500"),
        (
            changed([5, 2], "problems", "a9a", "surrogates", "metric_network", "whitened", "n_steps"),
            r"problems.a9a.surrogates.metric_network.whitened.n_steps is \[5, 2\]",
        ),
        (changed([5, 2], "reference", "n_steps"), r"reference.n_steps is \[5, 2\]"),
        (changed([5, 2], "problems", "bank", "samplers", "hmc", "n_steps"), r"problems.bank.samplers.hmc.n_steps"),
        (changed([5, 2], "sweeps", "n_steps"), r"sweeps.n_steps is \[5, 2\]"),
        (changed(2000, "experiments", "fig3", "burn_in"), r"experiments.fig3.burn_in is 2000"),
        (changed([9, 2], "experiments", "nng_fig3", "n_steps"), r"experiments.nng_fig3.n_steps is \[9, 2\]"),
        (changed(5000, "experiments", "nng_fig2", "training"), r"experiments.nng_fig2.training is 5000"),
        (
            changed(4001, "problems", "bank", "surrogates", "online_network", "states"),
            r"problems.bank.surrogates.online_network.states is 4001, but the exploration leaves 4000",
        ),
        (changed(["bnak"], "only"), r"only: there is no problem or experiment 'bnak'; there are .*bank"),
        (changed("garch", "experiments", "nng_fig4", "problem"), r"experiments.nng_fig4.problem is 'garch', a garch"),
        (
            changed("lr_2000", "experiments", "nng_fig4", "problem"),
            r"experiments.nng_fig4.problem is 'lr_2000'; .*lr_200",
        ),
        (
            changed("lr_2000", "experiments", "nng_fig5", "problem"),
            r"experiments.nng_fig5.problem is 'lr_2000'; .*lr_200",
        ),
        (changed(["rms_hmc"], "problems", "bank", "without"), r"problems.bank.without names 'rms_hmc'; .*rns_hmc"),
        (changed("probit", "problems", "bank", "target", "kind"), r"problems.bank.target.kind is 'probit'"),
        (
            changed("gp", "problems", "bank", "samplers", "rns_hmc", "surrogate"),
            r"problems.bank.samplers.rns_hmc.surrogate is 'gp'",
        ),
        (
            changed("gp", "problems", "bank", "surrogates", "random_network", "type"),
            r"of type 'gp', but rns_hmc is driven by a 'random_network'",
        ),
    ],
)
def test_a_contradiction_is_named(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        check_config(config)


def test_what_is_not_run_is_not_checked() -> None:
    config = changed({"explore": 1000}, "problems", "bank", "iterations")
    with pytest.raises(ParameterError, match=r"problems.bank"):
        check_config(config)
    check_config({**config, "only": ["lr_simulated", "fig1"]})
    assert list(selected_problems({**config, "only": ["lr_simulated", "fig1"]})) == ["lr_simulated"]
    assert list(selected_problems(config)) == list(config["problems"])


def test_samplers_can_be_left_out_but_hmc() -> None:
    config = changed(["rmhmc", "hmc"], "problems", "bank", "without")
    assert not {"rmhmc", "hmc"} & set(selected_problems(config)["bank"]["samplers"])
    with pytest.raises(ParameterError, match=r"problems.bank.without names hmc"):
        check_config(config)
    check_config(changed(["rmhmc"], "problems", "bank", "without"))


def test_auto_needs_no_exploration_where_it_is_alone() -> None:
    check_config(changed({AUTO: {}}, "problems", "bank", "samplers"))
    rns_hmc = PAPER["problems"]["bank"]["samplers"]["rns_hmc"]
    with pytest.raises(ParameterError, match=r"problems.bank.without names hmc"):
        check_config(changed({AUTO: {}, "rns_hmc": rns_hmc}, "problems", "bank", "samplers"))


SCHEMA: dict[str, Any] = yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8"))


def test_the_schema_knows_what_is_registered_and_no_more() -> None:
    definitions = SCHEMA["$defs"]
    assert set(definitions["problem"]["properties"]["samplers"]["properties"]) == {*RECIPES, AUTO}
    published = definitions["problem"]["properties"]["baseline"]["properties"]["target"]["enum"]
    assert {*definitions["target"]["properties"]["kind"]["enum"], *published} == set(TARGETS)
    assert set(definitions["surrogate"]["properties"]["type"]["enum"]) == set(SURROGATES)
    fetched = definitions["fetched_sets"]["additionalProperties"]["properties"]
    assert set(fetched["reader"]["enum"]) == set(READERS)
    assert set(fetched["stand_in"]["properties"]["kind"]["enum"]) == set(STAND_INS)
    simulated = definitions["simulated_sets"]["additionalProperties"]["properties"]
    assert set(simulated["simulation"]["enum"]) == set(SIMULATIONS)


def missing(schema: Any, config: Any, path: str = "") -> set[str]:
    """Keys of a schema that a configuration leaves out."""
    known = schema.get("properties", {})
    inner = (missing(known[key], config[key], f"{path}{key}.") for key in known if key in config)
    return {f"{path}{key}" for key in known if key not in config}.union(*inner)


def test_the_papers_config_sets_every_key_that_has_no_default() -> None:
    """Sections need no keys by the schema, since each config is merged with this one."""
    defaults = {"batch_size", "standardised_targets", "scale", "squared_width", "drawn_in"}
    assert {key.rpartition(".")[2] for key in missing(SCHEMA, PAPER)} <= defaults


def property_names(schema: Any) -> set[str]:
    """Names of all keys that a schema, or a part of one, speaks of."""
    if isinstance(schema, list):
        return set().union(*map(property_names, schema))
    if not isinstance(schema, dict):
        return set()
    return set(schema.get("properties", {})).union(*map(property_names, schema.values()))


def test_every_key_is_explained() -> None:
    words = set(re.findall(r"\w+", (ROOT / "config/README.md").read_text(encoding="utf-8")))
    assert property_names(SCHEMA) - set(RECIPES) - words == set()
