"""The page of the scorecard shows what differs first, and keeps the papers apart."""

import io
import re

import pandas as pd

from rnshmc.report.scorecard_page import scorecard_page
from rnshmc.scorecard.card import SCORECARD_COLUMNS
from tests.report.pages import CARD, NUMBERS, PAPER_TITLES, TEMPLATES, TITLES, Page


def scores(card: pd.DataFrame, draws: int = 5000) -> str:
    return scorecard_page(
        TEMPLATES / "scorecard.html.j2",
        run="tiny",
        card=card,
        numbers=NUMBERS,
        papers=PAPER_TITLES,
        titles=TITLES,
        draws=draws,
        paper_draws=5000,
    )


def test_the_scorecard_shows_what_differs_first() -> None:
    html = scores(CARD)
    text = Page(html).text
    assert "This run keeps" not in text
    assert "This run keeps at most 200 draws per chain, the papers up to 5000." in Page(scores(CARD, draws=200)).text
    differing, everything = text.index("Differences and their reasons"), text.index("All numbers")
    assert differing < text.index("Figure 5 Only 500 training points") < everything
    assert "Paper B: Li" not in text
    assert text.count("≠ differs") == 2
    assert text.count("✓ reproduced") == 2
    assert everything < text.index("Table 1: Bank Marketing") < text.index("RNS-HMC, acceptance 0.7 0.690 ± 0.0040")


def test_rows_without_a_verdict_are_folded() -> None:
    folded = re.findall("<details>.*?</details>", scores(CARD), flags=re.DOTALL)
    (text,) = (Page(html).text for html in folded)
    assert text.startswith("Not judged in this run: 1 ")
    assert "comparable acceptance rate to that of HMC. – ? not judged not run" in text
    assert "✓ reproduced" not in text
    assert "Differences and their reasons" not in scores(CARD[3:])


def test_the_scorecard_needs_nothing_but_itself() -> None:
    html = scores(CARD)
    assert re.findall(r'(?:src|href)="([^"]*)"', html) == ["index.html", "#rules"]
    # The filter is the only script, and it is inside the page.
    assert html.count("<script>") == html.count("<script") == 1
    assert "http" not in html


def test_the_scorecard_of_a_run_without_a_paper_has_no_part() -> None:
    assert "Paper A" not in Page(scores(CARD[:0])).text


def test_the_scorecard_keeps_the_papers_apart() -> None:
    rows = """
li2019,table5/news/nng_hmc_10,cpu_s,0.139,0.3,0.01,2.2,differs,True,another clock
li2019,table4/gp_hmc_published,ap_d10_n500,0.65,0.66,0.01,1.02,reproduced,False,within 0.05
"""
    more = pd.read_csv(io.StringIO(rows), names=SCORECARD_COLUMNS)
    card = pd.concat([CARD, more], ignore_index=True)
    differing, everything = Page(scores(card)).text.split("All numbers")
    assert differing.index("Paper A: Zhang") < differing.index("Only 500 training") < differing.index("Paper B: Li")
    assert differing.index("Paper B: Li") < differing.index("seconds of 10000 draws relative to HMC 0.139 0.300")
    paper_a, paper_b = everything.split("Paper B: Li")
    assert "Table 1: Bank Marketing" in paper_a
    assert "compared with the paper: 1; reproduced: 1; different: 0; after a search, reproduced: 0 of 1." in paper_b
    assert paper_b.index("Table 5: news") < paper_b.index("Table 4 Acceptance with the Gaussian process")
