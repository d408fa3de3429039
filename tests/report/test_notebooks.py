"""Pages follow from papers/pages.yaml and the run: a third paper needs rows and templates, and no code."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnshmc.errors import DataError
from rnshmc.report.index_page import read_chapters
from rnshmc.report.notebooks import Run, notebooks, read_pages
from rnshmc.results.views import read_views
from rnshmc.scorecard.published import read_published
from tests.report.pages import KNOWN_PAPERS, PAPERS

ROOT = PAPERS.parent
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
PAGES = read_pages(PAPERS / "pages.yaml", KNOWN_PAPERS)
PROBLEM = {"target": {"kind": "garch"}, "samplers": {}, "surrogates": {}, "iterations": {"keep": 1}}
RUN = Run(
    folder="results/x",
    project="..",
    config=CONFIG,
    problems={"garch": {"title": "GARCH", **PROBLEM}, "mine": {"title": "Mine", **PROBLEM}},
    figures={"fig3": ["fig3"], "nng_fig6": ["nng_fig6"]},
    tables=["fig3", "nng_tables"],
    published=["papers/li2019.csv"],
)


def test_a_page_is_made_where_the_run_has_its_figures_and_tables_or_one_of_its_problems() -> None:
    assert list(notebooks(PAGES, RUN)) == ["gaussian", "gradient_models"]
    assert list(notebooks(PAGES, replace(RUN, problems={}))) == ["gaussian"]
    assert list(notebooks(PAGES, replace(RUN, tables=[]))) == ["gradient_models"]
    assert notebooks(PAGES, replace(RUN, published=[])) == {}


def test_a_page_about_problems_gets_those_that_the_run_has_and_the_tables_of_its_figures() -> None:
    page = notebooks(PAGES, RUN)["gradient_models"]
    assert page["parameters"]["problems"] == {"garch": PROBLEM}
    assert page["parameters"]["titles"] == {"garch": "GARCH", "mine": "Mine"}
    assert page["parameters"]["series"] == CONFIG["data"]["simulated"]["garch"]
    assert page["figures"] == {"nng_fig6": "results/x/figures/nng_fig6.png"}
    assert page["files"]["nng_fig6"] == ["results/x/tables/nng_fig6.csv"]
    assert page["files"]["nng_fig7"] == []
    assert page["files"]["scorecard"] == "results/x/tables/scorecard.csv"
    assert page["files"]["views"] == "../papers/views.csv"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"paper": "li2019", "title": "A", "figure": []}, r"pages\.yaml, new: there is no key 'figure'; there are"),
        ({"paper": "li2019"}, r"pages\.yaml, new, key title: missing"),
        (
            {"paper": "li2091", "title": "A"},
            r"new, key paper: 'li2091'; papers\.csv has li2019, zhang2017",
        ),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    path = tmp_path / "pages.yaml"
    path.write_text(yaml.safe_dump({"new": entry}), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_pages(path, KNOWN_PAPERS)


def test_what_the_papers_name_is_there() -> None:
    templates = {path.name.removesuffix(".html.j2") for path in (ROOT / "workflow/report/chapters").iterdir()}
    chapters = read_chapters(PAPERS / "chapters.csv")
    assert {chapter.name for chapter in chapters} == templates
    assert {chapter.paper for chapter in chapters} == {*KNOWN_PAPERS, ""}
    assert {paper.view for paper in KNOWN_PAPERS.values()} == read_views(PAPERS / "views.csv").keys()
    for name, page in PAGES.items():
        assert (ROOT / f"workflow/notebooks/{name}.ipynb").exists()
        printed = {number.item for number in read_published([PAPERS / f"{page.paper}.csv"])}
        assert set(page.items) <= printed
        assert set(page.problems) <= CONFIG["problems"].keys()


def test_each_item_of_a_paper_is_on_one_page() -> None:
    for paper in KNOWN_PAPERS:
        items = [item for page in PAGES.values() if page.paper == paper for item in page.items]
        assert len(items) == len(set(items))
