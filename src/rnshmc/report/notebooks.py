"""Pages of the report that are notebooks: which of them a run has, and what each of them is given."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import reduce
from pathlib import Path
from typing import Any

from rnshmc.errors import DataError
from rnshmc.files import read_yaml


@dataclass(frozen=True)
class Page:
    """A page on a paper, from papers/pages.yaml.

    Attributes
    ----------
    paper, title
        The paper's name, and the title of the page.
    items
        Tables, figures and sections of the paper whose numbers the page compares; a page with any reads the scorecard.
    problems
        What the page is about, if about problems: it is made for those that the run has.
    tables
        Tables of the run by the names of the notebook's parameters.
    figures
        Figures that it shows. A page about problems shows those that are drawn, and reads their tables, too.
    files
        Files of the project by the names of the notebook's parameters.
    settings
        Keys of the config, such as ``experiments.nng_fig2``, by the names of the notebook's parameters; also
        ``titles`` of the problems, and the ``pages`` about problems with their titles.
    parameters
        Other parameters of the notebook.
    """

    paper: str
    title: str
    items: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=dict)
    figures: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """What pages need to know of a run.

    Attributes
    ----------
    folder, project
        Its results, and the folder of the project.
    config
        Its settings.
    problems
        The settings of each problem that are shown: title, target, samplers, surrogates, iterations.
    figures
        The tables of each figure that is drawn.
    tables
        Names of the tables that are made.
    published
        The tables of the papers; empty if the run is compared with none.
    """

    folder: str
    project: str
    config: Mapping[str, Any]
    problems: Mapping[str, Mapping[str, Any]]
    figures: Mapping[str, Sequence[str]]
    tables: Collection[str]
    published: Sequence[str]


def read_pages(path: Path, papers: Collection[str]) -> dict[str, Page]:
    """The pages by their names, in the order in which they are shown.

    Parameters
    ----------
    path
        ``papers/pages.yaml``.
    papers
        Names of the papers.

    Raises
    ------
    DataError
        If a page has a key that does not exist, lacks its title, or names an unknown paper: the message names file,
        page and key.
    """
    entries = read_yaml(path)
    return {name: _page(f"{path}, {name}", entry, papers) for name, entry in entries.items()}


def notebooks(pages: Mapping[str, Page], run: Run) -> dict[str, dict[str, Any]]:
    """Title, files, figures and parameters of the notebook of each page that the run has all for."""
    about_problems = {
        name: page.title for name, page in pages.items() if page.problems and set(page.problems) & run.problems.keys()
    }
    titles = {name: problem["title"] for name, problem in run.problems.items()}
    known = {**run.config, "titles": titles, "pages": about_problems}
    made = {name: page for name, page in pages.items() if _is_made(name, page, run, about_problems)}
    return {name: _notebook(page, run, known) for name, page in made.items()}


def _page(source: str, entry: Mapping[str, Any], papers: Collection[str]) -> Page:
    known = {each.name for each in fields(Page)}
    for key in entry.keys() - known:
        raise DataError(f"{source}: there is no key {key!r}; there are {', '.join(sorted(known))}")
    for key in ("paper", "title"):
        if not entry.get(key):
            raise DataError(f"{source}, key {key}: missing")
    if entry["paper"] not in papers:
        raise DataError(f"{source}, key paper: {entry['paper']!r}; papers.csv has {', '.join(sorted(papers))}")
    values: dict[str, Any] = {key: tuple(value) if isinstance(value, list) else value for key, value in entry.items()}
    return Page(**values)


def _is_made(name: str, page: Page, run: Run, about_problems: Collection[str]) -> bool:
    if page.items and not run.published:
        return False
    if page.problems:
        return name in about_problems
    return set(page.figures) <= run.figures.keys() and set(page.tables.values()) <= set(run.tables)


def _notebook(page: Page, run: Run, known: Mapping[str, Any]) -> dict[str, Any]:
    compared = {"scorecard": _table(run, "scorecard"), "published": list(run.published)} if page.items else {}
    shown = {
        name: {key: value for key, value in run.problems[name].items() if key != "title"}
        for name in page.problems
        if name in run.problems
    }
    return {
        "title": page.title,
        "files": {
            **{name: _table(run, table) for name, table in page.tables.items()},
            **dict(_tables_of_figures(page, run)),
            **{name: str(Path(run.project, path)) for name, path in page.files.items()},
            **compared,
        },
        "figures": {name: f"{run.folder}/figures/{name}.png" for name in page.figures if name in run.figures},
        "parameters": {
            **page.parameters,
            **{name: _setting(known, key) for name, key in page.settings.items()},
            **({"problems": shown} if page.problems else {}),
        },
    }


def _tables_of_figures(page: Page, run: Run) -> Iterator[tuple[str, list[str]]]:
    """Tables of the figures of a page about problems, by the names of the figures; none of one that is not drawn."""
    for name in page.figures if page.problems else ():
        yield name, [_table(run, table) for table in run.figures.get(name, ())]


def _table(run: Run, name: str) -> str:
    return f"{run.folder}/tables/{name}.csv"


def _setting(known: Mapping[str, Any], key: str) -> Any:
    return reduce(lambda settings, part: settings[part], key.split("."), known)
