"""The rules of the scorecard at their borders."""

import math

import pytest

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.rules import Rule, network_rule, table1_rule


def says(rule: Rule, paper: float, ours: float, error: float = math.nan) -> str:
    return rule.verdict(Estimate(paper, error), Estimate(ours, error))


@pytest.mark.parametrize(
    ("rule", "paper", "inside", "outside"),
    [
        (Rule("within", 0.03), 0.70, [0.671, 0.729], [0.669, 0.731]),
        (Rule("near", 0.15), 2000.0, [1701.0, 2299.0], [1699.0, 2301.0]),
        (Rule("factor", 2.0), 8.0, [4.1, 15.9], [3.9, 16.1]),
        (Rule("at_least", 20.0), 25.0, [20.0, 900.0], [19.9]),
        (Rule("at_most", 1.0), 0.5, [1.0, -5.0], [1.1]),
    ],
)
def test_a_number_is_reproduced_inside_the_bound_and_differs_outside(
    rule: Rule, paper: float, inside: list[float], outside: list[float]
) -> None:
    assert {says(rule, paper, ours) for ours in inside} == {"reproduced"}
    assert {says(rule, paper, ours) for ours in outside} == {"differs"}


def test_what_noise_explains_does_not_differ() -> None:
    # A difference of 600 is 30% of 2000, and 2.8 standard errors of 150 sqrt(2).
    assert says(Rule("near", 0.15), 2000.0, 2600.0, error=150.0) == "reproduced"
    assert says(Rule("near", 0.15), 2000.0, 2600.0, error=130.0) == "differs"


def test_what_is_never_compared_has_no_other_verdict() -> None:
    assert says(Rule("never"), 1.0, 1.0) == "not comparable"


def test_an_unknown_kind_is_named() -> None:
    with pytest.raises(ParameterError, match=r"'about'.*within"):
        Rule("about", 0.1)  # type: ignore[arg-type]


def test_rules_of_table_1() -> None:
    assert table1_rule("bank", "rmhmc", "ap") == Rule("within", 0.04)
    assert table1_rule("bank", "rns_hmc", "ap") == Rule("within", 0.03)
    assert table1_rule("pde", "hmc", "ap") == Rule("within", 0.05)
    assert table1_rule("pde", "rns_rmhmc", "ap") == table1_rule("a9a", "hmc", "ap") == Rule("within", 0.10)
    assert table1_rule("a9a", "hmc", "ess_median") == Rule("near", 0.15)
    assert table1_rule("a9a", "rmhmc", "speedup") == Rule("factor", 2.0)
    assert table1_rule("a9a", "hmc", "s_per_iter").kind == table1_rule("a9a", "hmc", "min_ess_per_s").kind == "never"


def test_rules_of_paper_b() -> None:
    assert network_rule(1, "ap") == network_rule(2, "ap") == Rule("within", 0.05)
    assert network_rule(3, "ap") == network_rule(5, "ap") == Rule("within", 0.10)
    assert network_rule(5, "ess_min") == network_rule(1, "truncated_ess_max") == Rule("near", 0.15)
    assert network_rule(2, "speedup") == Rule("factor", 2.0)
    assert network_rule(5, "cpu_s").kind == network_rule(5, "median_ess_per_s").kind == "never"
