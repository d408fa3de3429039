"""Pages follow from the notebooks' metadata and the run: a third paper needs rows and notebooks, and no code."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from rnshmc.errors import DataError
from rnshmc.plots.registry import FIGURES
from rnshmc.report.notebooks import Run, notebooks, read_pages, shown
from rnshmc.results.views import read_views
from rnshmc.scorecard.published import read_published
from tests.report.pages import KNOWN_PAPERS, PAPERS

ROOT = PAPERS.parent
CONFIG: dict[str, Any] = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
PAGES = read_pages(ROOT / "workflow/notebooks", KNOWN_PAPERS)
DRAWN = {drawing.name: drawing for drawing in FIGURES}
PROBLEM = {"target": {"kind": "garch"}, "samplers": {}, "surrogates": {}, "iterations": {"keep": 1}}
RUN = Run(
    folder="results/x",
    project="..",
    config=CONFIG,
    problems={"garch": {"title": "GARCH", **PROBLEM}, "mine": {"title": "Mine", **PROBLEM}},
    figures={name: DRAWN[name] for name in ("fig3", "nng_fig6", "mesh_study")},
    tables=["fig3", "nng_tables"],
    published=["papers/li2019.csv"],
)


def test_a_page_is_made_where_the_run_has_its_figures_and_tables_or_one_of_its_problems() -> None:
    assert list(notebooks(PAGES, RUN)) == ["gaussian", "gradient_models", "parallel"]
    assert list(notebooks(PAGES, replace(RUN, problems={}))) == ["gaussian", "parallel"]
    assert list(notebooks(PAGES, replace(RUN, tables=[]))) == ["gradient_models", "parallel"]
    assert list(notebooks(PAGES, replace(RUN, published=[]))) == ["parallel"]
    assert notebooks(PAGES, replace(RUN, published=[], figures={})) == {}


def test_a_page_about_problems_gets_those_that_the_run_has_and_the_tables_of_its_figures() -> None:
    page = notebooks(PAGES, RUN)["gradient_models"]
    assert page["parameters"]["problems"] == {"garch": PROBLEM}
    assert page["parameters"]["titles"] == {"garch": "GARCH", "mine": "Mine"}
    assert page["parameters"]["series"] == CONFIG["data"]["simulated"]["garch"]
    assert page["parameters"]["items"] == list(PAGES["gradient_models"].items)
    assert page["figures"] == shown({"nng_fig6": DRAWN["nng_fig6"]}, "results/x")
    assert page["figures"]["nng_fig6"]["path"] == "results/x/figures/nng_fig6.png"
    assert page["files"]["nng_fig6"] == ["results/x/tables/nng_fig6.csv"]
    assert page["files"]["nng_fig7"] == []
    assert page["files"]["scorecard"] == "results/x/tables/scorecard.csv"
    assert page["files"]["views"] == "../papers/views.csv"


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"title": "A", "figure": []}, r"new\.ipynb, page: there is no key 'figure'; there are"),
        ({"paper": "li2019"}, r"new\.ipynb, page, key title: missing"),
        ({"paper": "li2091", "title": "A"}, r"page, key paper: 'li2091'; papers\.csv has li2019, zhang2017"),
    ],
)
def test_an_entry_that_cannot_be_used_is_named(tmp_path: Path, entry: dict[str, Any], message: str) -> None:
    (tmp_path / "new.ipynb").write_text(json.dumps({"metadata": {"page": entry}}), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        read_pages(tmp_path, KNOWN_PAPERS)


def test_a_notebook_without_an_entry_is_no_page(tmp_path: Path) -> None:
    (tmp_path / "new.ipynb").write_text('{"metadata": {}}', encoding="utf-8")
    assert read_pages(tmp_path, KNOWN_PAPERS) == {}


def test_what_pages_name_is_there() -> None:
    assert {paper.view for paper in KNOWN_PAPERS.values()} == read_views(PAPERS / "views.csv").keys()
    assert {drawing.page for drawing in FIGURES} == PAGES.keys()
    for page in PAGES.values():
        printed = {number.item for number in read_published([PAPERS / f"{page.paper}.csv"])} if page.paper else set()
        assert set(page.items) <= printed
        assert set(page.problems) <= CONFIG["problems"].keys()


def test_each_item_of_a_paper_is_on_one_page() -> None:
    for paper in KNOWN_PAPERS:
        items = [item for page in PAGES.values() if page.paper == paper for item in page.items]
        assert len(items) == len(set(items))
