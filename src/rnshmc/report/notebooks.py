"""Pages of the report: notebooks, and the tables, figures and settings that each of them is given."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import Any

from rnshmc.errors import DataError
from rnshmc.plots.drawing import Drawing
from rnshmc.plots.registry import FIGURES


@dataclass(frozen=True)
class Page:
    """A page, from the metadata ``page`` of its notebook. It shows the figures whose entries name it."""

    title: str
    paper: str = ""
    items: tuple[str, ...] = ()
    """The paper that it is about, if any, and the tables, figures and sections of it whose numbers it compares: a page
    with any reads the scorecard."""
    problems: tuple[str, ...] = ()
    """A page about problems is made if the run has one of them, and reads the tables of its figures."""
    tables: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """By the names of the notebook's parameters: tables of the run, files of the project, and keys of the config, such
    as ``experiments.nng_fig2``, or ``titles`` of the problems, or ``pages`` about problems with their titles; values of
    other parameters."""


@dataclass(frozen=True)
class Run:
    """The parts of a run that pages are given."""

    folder: str
    project: str
    """The folder of its results, and that of the project."""
    config: Mapping[str, Any]
    problems: Mapping[str, Mapping[str, Any]]
    """Its settings, and those of each problem that are shown: title, target, samplers, surrogates, iterations."""
    figures: Mapping[str, Drawing]
    """Those that are drawn (`rnshmc.plots.registry.run_figures`)."""
    tables: Collection[str]
    published: Sequence[str]
    """Names of the tables that are made, and the files of the papers; empty if the run is compared with none."""


def read_pages(folder: Path, papers: Collection[str]) -> dict[str, Page]:
    """The pages by the names of their notebooks in a folder, in the order of their figures.

    A notebook without the metadata ``page`` is none of them. Raises `DataError` if a page has a key that does not
    exist, lacks its title, or names an unknown paper: the message names file and key.
    """
    paths = {path.stem: path for path in sorted(folder.glob("*.ipynb"))}
    order = [drawing.page for drawing in FIGURES if drawing.page in paths]
    pages = {}
    for name in dict.fromkeys([*order, *paths]):
        entry = json.loads(paths[name].read_text(encoding="utf-8"))["metadata"].get("page")
        if entry is not None:
            pages[name] = _page(paths[name], entry, papers)
    return pages


def notebooks(pages: Mapping[str, Page], run: Run) -> dict[str, dict[str, Any]]:
    """Title, files, figures and parameters of the notebook of each page that the run has all for."""
    about_problems = {
        name: page.title for name, page in pages.items() if page.problems and set(page.problems) & run.problems.keys()
    }
    titles = {name: problem["title"] for name, problem in run.problems.items()}
    known = {**run.config, "titles": titles, "pages": about_problems}
    made = {name: page for name, page in pages.items() if _is_made(name, page, run, about_problems)}
    return {name: _notebook(name, page, run, known) for name, page in made.items()}


def shown(figures: Mapping[str, Drawing], folder: str) -> dict[str, dict[str, str]]:
    """File, title and caption of each figure: the parameter ``figures`` of notebooks."""
    return {
        name: {"path": f"{folder}/figures/{drawing.name}.png", "title": drawing.title, "caption": drawing.caption}
        for name, drawing in figures.items()
    }


def _page(path: Path, entry: Mapping[str, Any], papers: Collection[str]) -> Page:
    known = {each.name for each in fields(Page)}
    for key in entry.keys() - known:
        raise DataError(f"{path}, page: there is no key {key!r}; there are {', '.join(sorted(known))}")
    if not entry.get("title"):
        raise DataError(f"{path}, page, key title: missing")
    if entry.get("paper", "") not in ("", *papers):
        raise DataError(f"{path}, page, key paper: {entry['paper']!r}; papers.csv has {', '.join(sorted(papers))}")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Page(**values)


def _is_made(name: str, page: Page, run: Run, about_problems: Collection[str]) -> bool:
    if page.items and not run.published:
        return False
    if page.problems:
        return name in about_problems
    drawn = any(drawing.page == name for drawing in run.figures.values())
    return drawn and set(page.tables.values()) <= set(run.tables)


def _notebook(name: str, page: Page, run: Run, known: Mapping[str, Any]) -> dict[str, Any]:
    figures = {figure: drawing for figure, drawing in run.figures.items() if drawing.page == name}
    about = {
        problem: {key: value for key, value in run.problems[problem].items() if key != "title"}
        for problem in page.problems
        if problem in run.problems
    }
    # Empty for a figure that is not drawn, so that the notebook leaves it out.
    of_figures = {figure.name: figure.reads for figure in FIGURES if figure.page == name and page.problems}
    return {
        "title": page.title,
        "paper": page.paper,
        "items": list(page.items),
        "files": {
            **{key: _table(run, table) for key, table in page.tables.items()},
            **{key: [_table(run, table) for table in reads if key in figures] for key, reads in of_figures.items()},
            **{key: str(Path(run.project, path)) for key, path in page.files.items()},
            **({"scorecard": _table(run, "scorecard"), "published": list(run.published)} if page.items else {}),
        },
        "figures": shown(figures, run.folder),
        "parameters": {
            **page.parameters,
            **{key: reduce(lambda part, name: part[name], at.split("."), known) for key, at in page.settings.items()},
            **({"problems": about} if page.problems else {}),
            **({"paper": page.paper, "items": list(page.items)} if page.items else {}),
        },
    }


def _table(run: Run, name: str) -> str:
    return f"{run.folder}/tables/{name}.csv"
