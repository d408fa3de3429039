"""The first page reports sums and Table 1, marks stand-ins, and links every page and figure."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rnshmc.plots.style import save
from rnshmc.report.index_page import index_page
from rnshmc.report.limits import QUICK_CHECK, Limits, limits
from rnshmc.report.scorecard_text import judged_numbers
from rnshmc.report.sections import Section, sections
from rnshmc.report.table_text import readable_diagnostics
from rnshmc.results.measure import chain_metrics
from rnshmc.results.tables import results_tables
from rnshmc.results.views import read_views, view
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing
from tests.report.pages import CARD, NUMBERS, PAPER_TITLES, PAPERS, TEMPLATES, TITLES, Page

ORIGINS = {"bank": "real", "a9a": "stand-in", "mine": "user"}
VIEW = read_views(PAPERS / "views.csv")["table1"]
AGREEMENT = pd.DataFrame(
    [
        ("bank", "hmc", True, True),
        ("bank", "rns_hmc", False, True),
        ("a9a", "hmc", None, True),
        ("a9a", "rns_hmc", None, False),
    ],
    columns=["problem", "sampler", "agrees", "mixed"],
)
DIAGNOSTICS = readable_diagnostics(
    pd.DataFrame(
        [("bank", "hmc", 2, 1.002, 900.0, 800.0, 0, ""), ("a9a", "hmc", 2, 1.3, 55.0, 60.0, 4, "R-hat 1.300")],
        columns=["problem", "sampler", "chains", "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "warnings"],
    ),
    TITLES,
)


def link(name: str, title: str, paper: str, figures: dict[str, str], *items: str) -> dict[str, Any]:
    return {"name": name, "title": title, "paper": paper, "items": items, "figures": figures}


LINKS = [
    link(
        "adaptive",
        "Adaptive surrogates",
        "zhang2017",
        {"fig7": "Acceptance <by> size", "fig8": "Error"},
        "fig7",
        "fig8",
    ),
    link("gradients", "Learnt gradients", "li2019", {"nng_fig2": "A banana"}),
    link("parallel", "Parallel runs", "", {"scaling": "Speed-up"}),
    *(link(name, TITLES[name], "", {"traces": "Traces"}) for name in ORIGINS),
]
FIGURES = ["fig7", "fig8", "nng_fig2", "scaling"]
PROVENANCE: dict[str, Any] = {
    "python": "3.11",
    "packages": {"numpy": "1.26.4", "scipy": "1.17", "fenics-dolfinx": None, "arviz": "0.23", "snakemake": "9.27"},
    "git": {"commit": "0123456789abcdef", "dirty": True},
    "machine": {"cpu": "A processor", "cores": 4, "usable_cores": 2},
    "config": {"seed": 7},
}
DIM = 6


Results = tuple[pd.DataFrame, pd.DataFrame]


@pytest.fixture(scope="module")
def results(make_chain: Callable[..., StoredChain]) -> Results:
    """The table of results and its standard errors."""
    chains = [
        make_chain(problem, sampler, k, origin=origin, dim=DIM)
        for problem, origin in ORIGINS.items()
        for sampler in ("hmc", "rns_hmc")
        for k in (1, 2)
    ]
    metrics = [chain_metrics(chain, reference_mean=np.arange(1.0, DIM + 1), discard=20) for chain in chains]
    timings = [
        Timing(problem, sampler, s, (s, 1.1 * s), loaded=(problem, sampler) == ("bank", "hmc"))
        for problem in ORIGINS
        for sampler, s in {"hmc": 0.02, "rns_hmc": 0.004}.items()
    ]
    return results_tables(metrics, timings, {})


@pytest.fixture(scope="module")
def table(results: Results) -> list[Section]:
    own, errors = (view(found, VIEW, list(ORIGINS)) for found in results)
    return sections(own, errors, VIEW, NUMBERS, TITLES)


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "figure.png"
    save(Figure(figsize=(5, 5)), path)
    return path


def written(
    image: Path,
    table: Sequence[Section],
    found: Limits,
    card: pd.DataFrame = CARD,
    links: Sequence[dict[str, Any]] = LINKS,
) -> Page:
    html = index_page(
        TEMPLATES / "index.html.j2",
        run="tiny",
        links=links,
        papers=PAPER_TITLES,
        table=table,
        agreement=AGREEMENT,
        diagnostics=DIAGNOSTICS,
        limits=found,
        card=card,
        numbers=NUMBERS,
        figures=dict.fromkeys(FIGURES, image),
        provenance=PROVENANCE,
    )
    return Page(html)


@pytest.fixture(scope="module")
def found(results: Results) -> Limits:
    return limits(results[0], TITLES, paper_draws=5000.0)


@pytest.fixture(scope="module")
def page(image: Path, table: list[Section], found: Limits) -> Page:
    return written(image, table, found)


def test_the_page_needs_nothing_but_itself(page: Page, image: Path) -> None:
    for part in ("<script", "<link", "http", "url("):
        assert part not in page.html
    sources = re.findall(r'src="([^"]*)"', page.html)
    assert len(sources) == len(FIGURES)
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    # Small versions: a fifth of the width and height.
    assert max(map(len, sources)) < image.stat().st_size


def test_every_page_is_linked(page: Page) -> None:
    links = re.findall(r'href="([^"]*)"', page.html)
    assert list(dict.fromkeys(links)) == [
        "scorecard.html",
        *(f"{name}.html" for name in [*ORIGINS, "adaptive", "gradients", "parallel"]),
    ]


def test_pages_stand_under_their_paper_with_their_figures_and_verdicts(page: Page) -> None:
    of_a = page.text.partition(PAPER_TITLES["zhang2017"])[2].partition(PAPER_TITLES["li2019"])[0]
    assert "Adaptive surrogates 1 number, not judged in this run." in of_a
    assert of_a.endswith("Acceptance &lt;by&gt; size Error ")
    assert "Beyond the papers Parallel runs Speed-up" in page.text


def test_the_sums_of_the_scorecard_come_first(page: Page) -> None:
    assert "2 of the papers’ numbers reproduced 1 differ, 1 unexplained 1 not judged in this run Scorecard" in page.text
    places = [page.html.index(part) for part in ('class="tally"', 'class="basis"', 'id="table"')]
    assert places == sorted(places)


def test_limits_of_the_run_are_reported(page: Page) -> None:
    assert "Limits of this run: stand-in data: 1; short chains; a busy machine" in page.text
    assert "Stand-in data: Adult." in page.text
    assert "This run keeps at most 200 draws per chain, the papers up to 5000." in page.text
    assert "the timing of HMC on Bank Marketing." in page.text
    assert page.html.count("<td>HMC †") == 1


def test_problems_with_fewer_rows_are_reported(results: Results) -> None:
    fewer = limits(results[0].replace({"data": {"real": "subset"}}), TITLES, paper_draws=100.0)
    assert (fewer.fewer_rows, fewer.paper_draws) == (["Bank Marketing"], None)
    assert fewer.summary == "stand-in data: 1; fewer rows: 1; a busy machine"


def test_a_run_like_the_papers_reports_no_limits(image: Path, table: list[Section]) -> None:
    html = written(image, table, Limits((), (), (), 5000, None)).html
    assert 'class="basis"' not in html
    assert QUICK_CHECK not in html


@pytest.mark.parametrize(
    "quick", [{"stand_ins": ["Adult"]}, {"fewer_rows": ["Bank Marketing"]}, {"paper_draws": 5000}], ids=str
)
def test_a_quick_run_opens_with_its_scope(image: Path, table: list[Section], quick: dict[str, Any]) -> None:
    page = written(image, table, replace(Limits((), (), (), 200, None), **quick))
    assert page.text.index(QUICK_CHECK) < page.text.index("of the papers’ numbers reproduced")
    assert Limits((), (), ["HMC on Adult"], 5000, None).opening == ""


def test_nothing_is_counted_as_compared_where_nothing_is_judged(
    image: Path, table: list[Section], found: Limits
) -> None:
    text = written(image, table, found, CARD[3:]).text
    assert "1 number, not judged in this run Scorecard" in text
    assert "numbers reproduced" not in text


def test_brackets_are_explained_where_there_are_some(page: Page, image: Path, found: Limits, results: Results) -> None:
    assert "the paper’s numbers are in brackets" in page.text
    shown = judged_numbers(CARD[2:], NUMBERS)
    assert {number.item for number in shown} == {"fig5"}
    own, errors = (view(table, VIEW, list(ORIGINS)) for table in results)
    html = written(image, sections(own, errors, VIEW, shown, TITLES), found).html
    assert 'class="published"' in page.html
    assert 'class="published"' not in html
    assert "brackets" not in html


def test_the_level_of_all_comparisons_is_reported(page: Page) -> None:
    assert "the probability that any of this run’s 4 comparisons reads “differ” is at most 1%" in page.text


def test_table_1_has_our_numbers_and_the_paper_s(page: Page, table: list[Section]) -> None:
    hmc, rns = table[0].rows
    assert (hmc.numbers["ap"].paper, hmc.numbers["s_per_iter"].paper) == ("0.70", "0.061")
    assert rns.numbers["speedup"].paper == "8.01"
    # 1761 of 5000 draws are 70 of 200.
    assert rns.numbers["ess_min"].paper == "70"
    assert hmc.numbers["s_per_iter"].error == "± 0.0013"  # of the median of 0.020 and 0.022
    assert hmc.numbers["speedup"].error == ""
    assert {number.paper for row in table[2].rows for number in row.numbers.values()} == {""}
    assert "[8.01]" in page.html
    assert "stand-in data" in page.text.partition("Table 1")[2]


def test_means_are_reported_as_they_compare(page: Page) -> None:
    cells = re.findall(r'<td class="text( \w+|)">([^<]*)</td>', page.html)
    assert cells == [
        (" good", "agree"),
        (" bad", "differ"),
        ("", "too few draws"),
        (" bad", "not mixed"),
        ("", "–"),
        ("", "–"),
    ]


def test_warnings_are_counted_and_listed(page: Page) -> None:
    assert "1 of 2 samplers have warnings" in page.text
    assert "HMC on Adult: R-hat 1.300" in page.text
    assert "on Bank Marketing: " not in page.text


def test_a_run_of_a_user_s_problem_names_no_paper(image: Path, table: list[Section], found: Limits) -> None:
    mine = [section for section in table if section.problem == "mine"]
    page = written(image, mine, replace(found, stand_ins=()), CARD[:0], LINKS[-1:])
    assert re.findall(r'<h2 id="(\w+)"', page.html) == ["table", "convergence", "provenance"]
    assert "Results" in page.text
    for text in ("scorecard.html", "Table 1", "Paper A", "brackets"):
        assert text not in page.html


def test_text_is_escaped(page: Page) -> None:
    assert "My &lt;own&gt;" in page.html
    assert "My <own>" not in page.html


def test_provenance_is_reported(page: Page) -> None:
    assert "0123456789ab , with uncommitted changes" in page.text
    assert "A processor, 2 of 4 cores; Python 3.11, numpy 1.26.4" in page.text
