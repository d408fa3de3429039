"""The rules of the scorecard at their borders."""

import math

import pytest

from rnshmc.errors import ParameterError
from rnshmc.results.estimates import Estimate
from rnshmc.scorecard.rules import APART, Kind, Rule


def says(rule: Rule, printed: float, ours: float, error: float = math.nan, printed_error: float = math.nan) -> str:
    return rule.verdict(printed, Estimate(ours, error), printed_error)


@pytest.mark.parametrize(
    ("rule", "printed", "inside", "outside"),
    [
        (Rule("within", 0.03, 0.03), 0.70, [0.671, 0.729], [0.669, 0.731]),
        (Rule("near", 0.15, 0.35), 2000.0, [1701.0, 2299.0], [1699.0, 2301.0]),
        (Rule("factor", 2.0), 8.0, [4.1, 15.9], [3.9, 16.1]),
        (Rule("cost", 2.0), 8.0, [4.1, 15.9], [16.1]),
        (Rule("gain", 2.0), 8.0, [4.1, 15.9], [3.9]),
        (Rule("at_least", 20.0, bound_by="paper"), math.nan, [20.0, 900.0], [19.9]),
        (Rule("at_most", 1.0, bound_by="ours"), math.nan, [1.0, -5.0], [1.1]),
    ],
)
def test_a_number_is_reproduced_inside_the_bound_and_differs_outside(
    rule: Rule, printed: float, inside: list[float], outside: list[float]
) -> None:
    assert {says(rule, printed, ours) for ours in inside} == {"reproduced"}
    assert {says(rule, printed, ours) for ours in outside} == {"differs"}


def test_the_errors_of_both_numbers_widen_a_bound() -> None:
    rule = Rule("within", 0.03, 0.03)
    # 0.049 is less than two standard errors of a difference, 2 x 0.025, and more than two of either number.
    assert says(rule, 0.70, 0.749, error=0.015, printed_error=0.02) == "reproduced"
    assert says(rule, 0.70, 0.749, error=0.015) == "differs"
    assert says(rule, 0.70, 0.749, printed_error=0.02) == "differs"
    # And more than two of the difference of smaller ones, 2 x 0.018.
    assert says(rule, 0.70, 0.749, error=0.015, printed_error=0.01) == "differs"


def test_ratios_are_compared_with_relative_errors() -> None:
    rule = Rule("near", 0.15, 0.35)
    assert says(rule, 2000.0, 2500.0, error=200.0, printed_error=170.0) == "reproduced"  # log 1.25 = 1.91 of 0.117
    assert says(rule, 2000.0, 2500.0, error=180.0, printed_error=150.0) == "differs"  # 2.15 of 0.104
    assert says(rule, 2000.0, -2000.0, error=9e9) == "differs"


@pytest.mark.parametrize(
    ("rule", "printed", "inside", "outside"),
    [
        (Rule("within", 0.05, 0.05), 0.5, 0.599, 0.601),
        (Rule("near", 0.15, 0.35), 100.0, 149.0, 151.0),
        (Rule("near", 0.15, 0.35), 100.0, 67.0, 66.0),
    ],
)
def test_noise_alone_neither_reproduces_nor_refutes(rule: Rule, printed: float, inside: float, outside: float) -> None:
    assert says(rule, printed, inside, error=1e3, printed_error=1e3) == "reproduced"
    assert says(rule, printed, outside, error=1e3, printed_error=1e3) == "not judged"
    assert says(rule, printed, outside) == "differs"


@pytest.mark.parametrize(("kind", "sign"), [("at_most", 1.0), ("at_least", -1.0)])
def test_a_tie_does_not_show_that_ours_is_better(kind: Kind, sign: float) -> None:
    rule = Rule(kind, 1.0, bound_by="paper")
    assert says(rule, math.nan, 1.0 + sign * 0.001, error=0.024) == "not judged"  # Fig. 8 on a9a
    assert says(rule, math.nan, 1.0 + sign * 0.1, error=0.051) == "not judged"
    assert says(rule, math.nan, 1.0 + sign * 0.1, error=0.049, printed_error=9.0) == "differs"
    assert says(rule, math.nan, 1.0 - sign * 0.001, error=0.024) == "not judged"
    assert says(rule, math.nan, 1.0 - sign * 0.1, error=0.051) == "not judged"
    assert says(rule, math.nan, 1.0 - sign * 0.1, error=0.049, printed_error=9.0) == "reproduced"
    assert says(rule, math.nan, 1.0, error=0.0) == "reproduced"


def test_what_is_cheaper_than_a_factor_of_two_is_better_than_printed() -> None:
    assert says(Rule("cost", 2.0), 8.0, 3.9) == "better than printed"
    assert says(Rule("gain", 2.0), 8.0, 16.1) == "better than printed"


@pytest.mark.parametrize(
    ("kind", "ours", "outside"),
    [
        ("gain", 0.9, "differs"),
        ("gain", 4.4, "better than printed"),
        ("cost", 4.4, "differs"),
        ("cost", 0.9, "better than printed"),
        ("factor", 4.4, "differs"),
    ],
)
def test_a_cost_that_breaks_its_limit_within_its_error_is_not_judged(kind: Kind, ours: float, outside: str) -> None:
    # Printed 2, of which the limits are 1 and 4: a tenth beyond.
    distance = abs(math.log(ours / 2.0)) - math.log(2.0)
    assert says(Rule(kind, 2.0), 2.0, ours, error=0.51 * distance * ours) == "not judged"
    assert says(Rule(kind, 2.0), 2.0, ours, error=0.49 * distance * ours) == outside
    assert says(Rule(kind, 2.0), 2.0, 2.0, error=9.0) == "reproduced"


@pytest.mark.parametrize("kind", APART)
def test_what_is_never_compared_has_the_verdict_of_its_kind(kind: Kind) -> None:
    assert says(Rule(kind), 1.0, 1.0) == kind


def test_a_threshold_of_ours_is_called_ours() -> None:
    assert "our threshold" in str(Rule("at_least", 0.8, bound_by="ours"))
    assert "our" not in str(Rule("at_least", 1.0, bound_by="paper"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("about", 0.1), r"rule: there is no 'about'.*within"),
        (("within",), r"bound: 'within' needs a number"),
        (("repeat", 0.1), r"bound: 'repeat' needs none"),
        (("within", 0.1), r"slack: 'within' needs a number"),
        (("factor", 2.0, 0.1), r"slack: 'factor' needs none"),
        (("gain", 2.0, 0.1), r"slack: 'gain' needs none"),
        (("cost", 2.0, math.nan, "ours"), r"bound_by"),
        (("at_most", 1.0), r"bound_by"),
        (("at_most", 1.0, 0.1, "paper"), r"slack: 'at_most' needs none"),
        (("within", 0.1, 0.1, "ours"), r"bound_by"),
    ],
)
def test_a_rule_that_says_nothing_is_refused(arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        Rule(*arguments)  # type: ignore[arg-type]
