"""Tables as text."""

import io
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from rnshmc.report.escaping import in_markdown
from rnshmc.report.table_text import (
    busy_note,
    readable_diagnostics,
    readable_posterior,
    readable_table1,
    significant,
    to_latex,
    to_markdown,
    unmixed_note,
    with_error,
)
from rnshmc.results.views import read_views
from tests.results.test_tables import HMC_1, HMC_2


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0612, "0.0612"),
        (3.794, "3.79"),
        (123.56, "124"),
        (4351.2, "4351"),
        (0.00001234, "0.0000123"),
        (9.999, "10.0"),
        (0.0, "0"),
        (float("nan"), "–"),
    ],
)
def test_three_significant_digits(value: float, text: str) -> None:
    assert significant(value) == text


VIEWS = read_views(Path(__file__).parents[2] / "papers/views.csv")
TITLES = {"bank": "LR, Bank Marketing", "my_own": "my_own"}


ROWS = """
bank,hmc,,5,5000,0.703,2005.4,2454,3368,0.061,6.52,1,1.9,1,23,0,0.0167,True,False,real
my_own,rns_hmc,50,5,500,0.7,176,235,337,0.0071,52.2,8.01,15.2,1,0,0,0.35,False,True,stand-in
"""


def sample() -> pd.DataFrame:
    names = [column.name for column in VIEWS["table1"]]
    return pd.read_csv(io.StringIO(ROWS), names=names, dtype={"hidden_units": "Int64"})


def test_readable_table_has_titles_and_rounded_numbers() -> None:
    table = readable_table1(sample(), TITLES)
    first, second = table.to_dict(orient="records")
    assert (first["problem"], first["sampler"], first["hidden units"]) == ("LR, Bank Marketing", "HMC", "–")
    assert first["ESS (min, med, max)"] == "2005, 2454, 3368"
    assert (second["speed-up"], second["as published"]) == ("8.01", "15.2")
    assert (second["problem"], second["hidden units"], second["data"]) == ("my_own", "50", "stand-in")


def test_seconds_measured_on_a_busy_machine_are_marked_and_the_mark_is_explained() -> None:
    table = readable_table1(sample(), TITLES)
    assert table["s/iter"].tolist() == ["0.0610", "0.00710\N{NO-BREAK SPACE}†"]
    assert "†" in busy_note(table)
    assert busy_note(table.iloc[:1]) == ""
    assert "---:" in to_markdown(table[["s/iter"]])
    assert r"0.00710~\textsuperscript{\dag}" in to_latex(table)


def test_markdown_aligns_numbers_to_the_right() -> None:
    lines = to_markdown(readable_table1(sample(), TITLES)[["problem", "acceptance"]]).splitlines()
    assert lines == ["| problem | acceptance |", "| --- | ---: |", "| LR, Bank Marketing | 0.70 |", "| my_own | 0.70 |"]


def test_why_a_speed_up_is_missing_is_said() -> None:
    assert unmixed_note(sample().iloc[:1], TITLES) == ""
    reason = "as chains did not mix (R-hat above 1.1, or a parameter that never moved)"
    assert unmixed_note(sample(), TITLES) == f"\nNo speed-up, {reason}: RNS-HMC on my\\_own.\n"


def test_latex_has_the_rules_of_booktabs_and_escapes() -> None:
    latex = to_latex(readable_table1(sample(), TITLES)[["problem", "hidden units"]])
    assert latex.splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"problem & hidden units \\",
        r"\midrule",
        r"LR, Bank Marketing & -- \\",
        r"my\_own & 50 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


def test_diagnostics_read_as_text() -> None:
    rows = pd.DataFrame(
        {
            "problem": ["bank", "bank"],
            "sampler": ["hmc", "rmhmc"],
            "chains": [2, 1],
            "rhat_max": [1.0123, float("nan")],
            "ess_bulk_min": [199.4, 400.0],
            "ess_tail_min": [300.0, 500.0],
            "divergences": [0, 0],
            "warnings": ["R-hat 1.012; bulk ESS 199 of 200", float("nan")],
        }
    )
    text = readable_diagnostics(rows, {"bank": "Bank"}).to_dict("records")
    assert text[0]["max R-hat"] == "1.012"
    assert text[0]["warnings"] == "R-hat 1.012; bulk ESS 199 of 200"
    assert (text[1]["sampler"], text[1]["max R-hat"], text[1]["warnings"]) == ("RMHMC", "–", "none")


@pytest.mark.parametrize(
    ("value", "error", "text"),
    [
        (1.34037, 0.00038, "1.34037 ± 0.00038"),
        (1.34037, 0.0996, "1.340 ± 0.100"),
        (-4567.8, 123.4, "-4568 ± 123"),
        (0.123456, float("nan"), "0.123"),
        (0.123456, 0.0, "0.123"),
        (float("nan"), float("nan"), "–"),
    ],
)
def test_a_number_has_the_digits_of_its_error(value: float, error: float, text: str) -> None:
    assert with_error(value, error) == text


def test_a_posterior_has_a_row_for_each_parameter_and_sampler() -> None:
    auto = replace(HMC_1, sampler="auto", mean=[1.5, 2.5, 3.5], verdict="good")
    table = readable_posterior([auto, HMC_1, HMC_2], {0: "rate", 2: "cost"})
    # Two chains of HMC with errors of 0.1 and 0.07, the mean of which has errors smaller by sqrt(2).
    assert table.to_numpy().tolist() == [
        ["rate", "HMC", "1.000 ± 0.071", "1.000 ± 0.049"],
        ["rate", "auto", "1.50 ± 0.10", "1.000 ± 0.070"],
        ["cost", "HMC", "3.000 ± 0.071", "1.000 ± 0.049"],
        ["cost", "auto", "3.50 ± 0.10", "1.000 ± 0.070"],
    ]


HOSTILE = "<script>alert(1)</script> | \\input{/etc/passwd} $x^2$ `a`\n[b](c) *d* ~ & %"


def test_a_title_is_neither_markup_nor_a_column_of_markdown() -> None:
    cell = to_markdown(pd.DataFrame({"problem": [in_markdown(HOSTILE)]})).splitlines()[2]
    title = r"\<script\>alert(1)\</script\> \| \\input{/etc/passwd} \$x^2\$ \`a\` \[b\](c) \*d\* \~ \& %"
    assert cell == f"| {title} |"
    assert f"on {title}." in unmixed_note(sample().iloc[1:], {"my_own": HOSTILE})


def test_a_title_is_no_command_of_latex() -> None:
    row = to_latex(pd.DataFrame({"problem": [HOSTILE]})).splitlines()[4]
    assert row == (
        r"\textless{}script\textgreater{}alert(1)\textless{}/script\textgreater{} \textbar{} "
        r"\textbackslash{}input\{/etc/passwd\} \$x\textasciicircum{}2\$ `a` {[}b](c) {*}d{*} \textasciitilde{} \& \% \\"
    )
