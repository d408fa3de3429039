"""The report tells what came out, marks stand-ins, and needs nothing but itself."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from rnshmc.diagnostics.reference import Reference
from rnshmc.plots.style import save
from rnshmc.report.index_page import PaperSections, read_chapters, report_page
from rnshmc.report.notebooks import read_pages
from rnshmc.report.sections import Row, Section, sections, with_details
from rnshmc.report.table_text import Number, readable_diagnostics
from rnshmc.results.agreement import agreement_table
from rnshmc.results.measure import chain_metrics, convergence
from rnshmc.results.metrics import ChainMetrics
from rnshmc.results.posterior import ProblemChains
from rnshmc.results.tables import diagnostics_table, results_standard_errors, results_table
from rnshmc.results.views import read_views, view
from rnshmc.scorecard.card import SCORECARD_COLUMNS
from rnshmc.scorecard.papers import NO_PAPER, Paper
from rnshmc.store.chains import StoredChain
from rnshmc.store.timing import Timing
from rnshmc.types import Array
from tests.report.pages import CARD, KNOWN_PAPERS, NUMBERS, PAPERS, TEMPLATES, TITLES, Page

ORIGINS = {"bank": "real", "a9a": "stand-in", "mine": "user"}
OF_B = pd.DataFrame(
    [("li2019", "fig2/hmc", "acceptance", 0.58, 0.7, 0.01, 1.2, "differs", False, "a reason")],
    columns=list(SCORECARD_COLUMNS),
)
WHOLE_CARD = pd.concat([CARD, OF_B], ignore_index=True)
DIAGNOSTICS = readable_diagnostics(
    pd.DataFrame(
        [("bank", "hmc", 2, 1.002, 900.0, 800.0, 0, ""), ("a9a", "hmc", 2, 1.3, 55.0, 60.0, 4, "R-hat 1.300")],
        columns=["problem", "sampler", "chains", "rhat_max", "ess_bulk_min", "ess_tail_min", "divergences", "warnings"],
    ),
    TITLES,
)
CHAPTERS = read_chapters(PAPERS / "chapters.csv")
PAGES = read_pages(PAPERS / "pages.yaml", KNOWN_PAPERS)
VIEW = read_views(PAPERS / "views.csv")["table1"]
PAPER_A, PAPER_B = KNOWN_PAPERS["zhang2017"], KNOWN_PAPERS["li2019"]
PAGES_OF_A = [name for name, page in PAGES.items() if page.paper == "zhang2017"]
NNG = {
    "ap": Number("0.71", "± 0.01", "0.70"),
    "speedup": Number("5.12", "", "4.98"),
    "total_speedup": Number("3", "", ""),
}
GRADIENT_PROBLEMS = [
    Section("garch", "GARCH", "simulated", 9000, (Row("NNg-HMC", NNG, True),)),
    Section("news", "News", "stand-in", 8000, ()),
    Section("dota2", "Games, 500 rows", "subset", 8000, ()),
]
DIM = 6


def reference_run(mean: Array, error: float) -> Reference:
    errors = np.full(DIM, error)
    return Reference(mean, np.ones(DIM), errors, errors, np.ones(DIM), draws=100, chains=2)


@dataclass(frozen=True)
class Results:
    table: pd.DataFrame
    errors: pd.DataFrame
    everything: pd.DataFrame
    diagnostics: pd.DataFrame
    agreement: pd.DataFrame
    metrics: list[ChainMetrics]

    def sections(self) -> list[Section]:
        found = sections(self.table, self.errors, VIEW, NUMBERS, TITLES)
        stories = {"bank": "A story of a bank."}
        return with_details(found, self.everything, self.diagnostics, self.agreement, self.metrics, stories)


@pytest.fixture(scope="module")
def results(make_chain: Callable[..., StoredChain]) -> Results:
    chains = {
        problem: ProblemChains.of(
            [make_chain(problem, sampler, k, origin=origin, dim=DIM) for sampler in ("hmc", "rns_hmc") for k in (1, 2)]
        )
        for problem, origin in ORIGINS.items()
    }
    mean = np.arange(1.0, DIM + 1)
    metrics = [
        chain_metrics(chain, reference_mean=mean, discard=20)
        for found in chains.values()
        for members in found.chains.values()
        for chain in members
    ]
    seconds = {"hmc": 0.02, "rns_hmc": 0.004}
    timings = [
        Timing(problem, sampler, s, (s, 1.1 * s), loaded=(problem, sampler) == ("bank", "hmc"))
        for problem in ORIGINS
        for sampler, s in seconds.items()
    ]
    wrong = reference_run(mean + 1.0, 0.01)
    right = reference_run(mean, 0.1)
    diagnosed = [convergence(members) for found in chains.values() for members in found.chains.values()]
    everything = results_table(metrics, timings, {})
    return Results(
        table=view(everything, VIEW, list(ORIGINS)),
        errors=view(results_standard_errors(metrics, timings, {}), VIEW, list(ORIGINS)),
        everything=everything,
        diagnostics=diagnostics_table(metrics, diagnosed),
        agreement=agreement_table(metrics, {"bank": right, "a9a": right, "mine": wrong}),
        metrics=metrics,
    )


@pytest.fixture(scope="module")
def problems(results: Results) -> list[Section]:
    return results.sections()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("figures") / "figure.png"
    save(Figure(figsize=(1, 1)), path)
    return path


FIGURES = ["efficiency", "acceptance", "evaluations", *(f"fig{k}" for k in range(1, 9)), "nng_fig2", "nng_fig3"]
OPTIONAL_FIGURES = ["nng_fig4", "nng_fig5", "nng_fig9", "scaling", "mesh_study"]
PROVENANCE: dict[str, Any] = {
    "python": "3.11",
    "packages": {"numpy": "1.26.4", "scipy": "1.17", "fenics-dolfinx": None, "arviz": "0.23", "snakemake": "9.27"},
    "git": {"commit": "0123456789abcdef", "dirty": True},
    "machine": {"cpu": "A processor", "cores": 4, "usable_cores": 2},
    "config": {"seed": 7},
}


def written(
    image: Path,
    parts: dict[Paper, list[Section]],
    figures: list[str],
    pages: list[str],
    card: pd.DataFrame = WHOLE_CARD,
    paper_draws: float = 5000,
) -> Page:
    html = report_page(
        TEMPLATES / "index.html.j2",
        run="tiny",
        papers=[PaperSections(paper, tuple(found)) for paper, found in parts.items()],
        chapters=CHAPTERS,
        pages=PAGES,
        diagnostics=DIAGNOSTICS,
        card=card,
        numbers=NUMBERS,
        draws=200,
        paper_draws=paper_draws,
        figures=dict.fromkeys(figures, image),
        notebooks={name: f"{name}.html" for name in pages},
        provenance=PROVENANCE,
    )
    return Page(html)


@pytest.fixture(scope="module")
def page(problems: list[Section], image: Path) -> Page:
    parts = {PAPER_A: problems, PAPER_B: GRADIENT_PROBLEMS, NO_PAPER: []}
    return written(image, parts, [*FIGURES, *OPTIONAL_FIGURES], [*PAGES, *ORIGINS])


@pytest.fixture(scope="module")
def page_without(problems: list[Section], image: Path) -> Page:
    """Of a run without problems of paper B, and without MPI."""
    return written(image, {PAPER_A: problems, PAPER_B: []}, FIGURES, [*PAGES_OF_A, "gradients", *ORIGINS])


def test_what_is_compared_with_nothing_is_not_said_to_agree(results: Results, image: Path) -> None:
    alone = replace(results, agreement=results.agreement[results.agreement["problem"] == "bank"])
    found = alone.sections()
    page = written(image, {PAPER_A: found}, FIGURES, [*PAGES_OF_A, *ORIGINS])
    assert page.text.count("Means are compared with nothing.") == 2
    for section in found:
        assert ({row.details.means for row in section.rows if row.details} == {"–"}) == (section.problem != "bank")
        assert ({row.details.z for row in section.rows if row.details} == {"–"}) == (section.problem != "bank")


def test_the_page_needs_nothing_but_itself(page: Page) -> None:
    assert "<script" not in page.html
    assert "<link" not in page.html
    assert "http" not in page.html
    assert "url(" not in page.html
    sources = re.findall(r'src="([^"]*)"', page.html)
    assert len(sources) == len(FIGURES) + len(OPTIONAL_FIGURES)
    assert all(source.startswith("data:image/png;base64,") for source in sources)


def test_links_are_relative_and_lead_to_the_notebooks(page: Page) -> None:
    links = [link for link in re.findall(r'href="([^"]*)"', page.html) if not link.startswith("#")]
    learnt = ["gradients", "gradient_logistic", "gradient_stochastic", "gradient_models"]
    story = ["surrogates", "gaussian", "sweeps", "table1", "marginals", "adaptive", *learnt, *ORIGINS]
    assert list(dict.fromkeys(links)) == ["scorecard.html", *(f"{name}.html" for name in story)]


def test_what_was_found_comes_before_what_it_rests_on(page: Page) -> None:
    found, folded = page.html.index('class="tally"'), page.html.index('<details class="basis">')
    assert found < page.html.index('class="cards"') < folded < page.html.index("<nav>")
    assert page.html.count("<details") == 2  # and the provenance
    assert 'class="alarm"' not in page.html
    summary = page.html[folded:].partition("</summary>")[0]
    assert "stand-in data: 2; fewer rows: 1; short chains; a busy machine" in summary


def test_stand_in_data_are_announced_and_marked_in_every_place(page: Page) -> None:
    assert "Stand-in data: Adult; News." in page.text
    # The summary of the box, a card, three tables, the section; the table of paper B.
    assert page.text.count("stand-in data") == 7


def test_problems_with_fewer_rows_are_announced(page: Page) -> None:
    assert "Fewer rows: Games, 500 rows. These are smaller versions of the papers’ problems." in page.text
    assert page.text.count("subset data") == 1


def test_a_busy_machine_is_announced(page: Page) -> None:
    assert "the timing of HMC on Bank Marketing; NNg-HMC on GARCH." in page.text
    assert page.html.count("<td>HMC †") == 1


def test_a_run_like_that_of_the_papers_has_no_box(problems: list[Section], image: Path) -> None:
    sound = [replace(section, rows=section.rows[1:]) for section in problems if section.problem == "bank"]
    assert 'class="basis"' in written(image, {PAPER_A: sound}, FIGURES, [*PAGES_OF_A, "bank"]).html
    page = written(image, {PAPER_A: sound}, FIGURES, [*PAGES_OF_A, "bank"], paper_draws=200)
    assert 'class="basis"' not in page.html


def test_convergence_of_every_problem_is_shown_and_what_is_wrong_with_it(page: Page) -> None:
    assert "1 of 2 samplers have warnings." in page.text
    assert "Bank Marketing HMC 2 1.002 900 800 0 none" in page.text
    assert "Adult HMC 2 1.300 55 60 4 R-hat 1.300" in page.text


def test_a_run_of_one_problem_has_its_chapters_alone(problems: list[Section], image: Path) -> None:
    mine = [section for section in problems if section.problem == "mine"]
    page = written(image, {NO_PAPER: mine}, ["efficiency", "acceptance", "evaluations"], ["mine"], CARD[:0])
    anchors = re.findall(r'<h2 id="([a-z0-9]+)"', page.html)
    assert anchors == ["idea", "results", "convergence", "problems", "provenance"]
    assert re.findall(r'<a href="#([a-z0-9]+)"', page.html.partition("</nav>")[0].partition("<nav>")[2]) == anchors
    assert "scorecard.html" not in page.html
    assert "Figure" not in page.text
    assert "Table 1" not in page.text


def test_means_that_differ_are_said_to_differ(page: Page) -> None:
    assert page.text.count("Means differ") == 1
    assert "Means differ from the reference: HMC, RNS-HMC." in page.text
    assert page.text.count("Means agree") == 2


def test_too_few_draws_are_no_difference(problems: list[Section], image: Path) -> None:
    rows = tuple(
        replace(row, details=replace(row.details, means="too few draws"))
        for row in problems[0].rows
        if row.details is not None
    )
    text = written(image, {PAPER_A: [replace(problems[0], rows=rows)]}, FIGURES, [*PAGES_OF_A, *ORIGINS]).text
    assert "Means differ" not in text
    assert "Too few draws to judge: HMC, RNS-HMC." in text
    assert text.count("too few draws") == len(rows)


def test_a_baseline_that_did_not_mix_has_no_ratio_and_no_agreement(results: Results, image: Path) -> None:
    """The page of a user whose HMC accepts 0.1% of its proposals."""
    mine = [chain for chain in results.metrics if chain.problem == "mine"]
    timings = [Timing("mine", name, 0.01, (0.01, 0.01), loaded=False) for name in ("hmc", "rns_hmc")]
    unmixed = {("mine", "hmc")}
    everything = results_table(mine, timings, {}, unmixed)
    worse = replace(
        results,
        table=view(everything, VIEW, ["mine"]),
        errors=view(results_standard_errors(mine, timings, {}, unmixed), VIEW, ["mine"]),
        everything=everything,
        agreement=agreement_table(mine, {}, unmixed),
    )
    page = written(image, {NO_PAPER: worse.sections()}, ["efficiency"], ["mine"], CARD[:0])
    assert "RNS-HMC – Chains did not mix : HMC. No speed-up over them, and no comparison with their means." in page.text
    assert "Means agree" not in page.text
    assert "×" not in page.text.partition("The idea")[0]
    assert re.search("RNS-HMC – [0-9.]+ not mixed", page.text)
    assert ">agree<" not in page.html


def test_each_chapter_says_how_it_compares_with_the_paper(page: Page) -> None:
    assert (
        "2 of the papers’ numbers reproduced 2 differ, 1 unexplained 1 not judged in this run 0 not comparable"
        in page.text
    )
    assert "Numbers compared with the paper: 1; reproduced: 0; different: 1 (1 without a reason). Notebook" in page.text
    assert "Numbers compared with the paper: 0; reproduced: 0; different: 0; not judged: 1. Notebook" in page.text


def test_short_chains_are_announced(page: Page) -> None:
    assert "This run keeps at most 200 draws per chain, the papers up to 5000." in page.text


def test_learnt_gradients_have_a_chapter_with_the_paper_s_numbers(page: Page) -> None:
    chapter = page.text.partition("Gradients learnt by a network")[2]
    assert "GARCH simulated data 9000 draws" in chapter
    assert "NNg-HMC † 0.71 ± 0.01 [0.70] 5.12 [4.98] 3 " in chapter
    assert "Numbers compared with the paper: 1; reproduced: 0; different: 1. Notebook" in chapter
    assert 'href="#gradients"' in page.html


def test_a_run_without_problems_of_paper_b_has_what_is_left_of_the_chapter(page_without: Page) -> None:
    sources = re.findall(r'src="([^"]*)"', page_without.html)
    assert len(sources) == len(FIGURES)
    assert "Gradients learnt by a network" in page_without.text
    assert "speed-up with training" not in page_without.text
    assert 'href="gradients.html"' in page_without.html
    assert "gradient_" not in page_without.html


def test_several_processes_have_a_chapter_only_where_they_were_used(page: Page, page_without: Page) -> None:
    assert 'id="processes"' in page.html
    assert '"#processes"' in page.html
    assert '"#processes"' not in page_without.html
    assert 'id="processes"' not in page_without.html


def test_our_numbers_stand_above_the_paper_s(problems: list[Section]) -> None:
    hmc, rns = problems[0].rows
    assert (hmc.numbers["ap"].paper, hmc.numbers["s_per_iter"].paper) == ("0.70", "0.061")
    assert rns.numbers["speedup"].paper == "8.01"
    # 1761 of 5000 draws are 70 of 200.
    assert rns.numbers["ess_min"].paper == "70"
    assert hmc.numbers["s_per_iter"].error == "± 0.0013"  # of the median of 0.020 and 0.022
    assert [row.details.hidden_units for row in (hmc, rns) if row.details] == ["–", "1000"]
    assert hmc.numbers["speedup"].error == ""


def test_a_problem_that_the_paper_does_not_have_has_no_published_numbers(problems: list[Section]) -> None:
    assert {number.paper for row in problems[2].rows for number in row.numbers.values()} == {""}


def test_text_is_escaped(page: Page) -> None:
    assert "My &lt;own&gt;" in page.html
    assert "My <own>" not in page.html


def test_provenance_and_story_are_told(page: Page) -> None:
    assert "0123456789ab , with uncommitted changes" in page.text
    assert "A processor, 2 of 4 cores; Python 3.11, numpy 1.26.4" in page.text
    assert "A story of a bank." in page.text
