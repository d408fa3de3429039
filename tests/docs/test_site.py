"""Pages, pictures and links of the site: what they name exists, and the notebook is that of the tutorial."""

import importlib
import json
import re
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

from tests.docs.printed import differences

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
FOLDERS = ("benchmarks", "config", "data", "papers", "results")
REPOSITORY = sorted([*PAGES, *ROOT.glob("*.md"), *(page for name in FOLDERS for page in (ROOT / name).glob("*.md"))])
BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def script(name: str) -> Iterator[ModuleType]:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "scripts")
        yield importlib.import_module(name)
        for module in (name, "run_page"):
            sys.modules.pop(module, None)


@pytest.fixture(scope="module")
def site_pages() -> Iterator[ModuleType]:
    yield from script("site_pages")


@pytest.fixture(scope="module")
def tutorial_notebook() -> Iterator[ModuleType]:
    yield from script("tutorial_notebook")


@pytest.fixture(scope="module")
def notebook() -> dict[str, Any]:
    return dict(json.loads((DOCS / "tutorial.ipynb").read_text(encoding="utf-8")))


@pytest.mark.parametrize(
    ("source", "link", "on_site"),
    [
        ("docs/tutorial.md", "[a](verdict.md#checks)", "[a](verdict.md#checks)"),
        ("docs/tutorial.md", "[a](../config/README.md#keys)", "[a](configuration.md#keys)"),
        ("docs/tutorial.md", "[a](../src/rnshmc/types.py)", "a"),
        ("docs/reference/sample.md", "[a](../pymc.md)", "[a](../pymc.md)"),
        ("config/README.md", "[a](../docs/example-own-problem/README.md)", "[a](example-own-problem/README.md)"),
        ("CONTRIBUTING.md", "[a](#tests)", "[a](#tests)"),
        ("CONTRIBUTING.md", "[a](docs/verdict.md)", "[a](../verdict.md)"),
        ("CHANGELOG.md", "[a](https://example.org/b.md)", "[a](https://example.org/b.md)"),
        ("README.md", "![a](docs/theory.png)", "![a](theory.png)"),
        ("docs/RESULTS.md", "[![a](results/a.png)](results/a.png)", "[![a](results/a.png)](results/a.png)"),
    ],
)
def test_links_work_on_the_site(site_pages: ModuleType, source: str, link: str, on_site: str) -> None:
    assert site_pages.relinked(f"see {link}.", source) == f"see {on_site}."


def test_every_page_is_in_the_navigation(site_pages: ModuleType) -> None:
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    named = re.findall(r"^\s+- .*: (\S+\.md)$", text, re.MULTILINE)
    assert sorted(named) == sorted([*(str(page.relative_to(DOCS)) for page in PAGES), *site_pages.OUTSIDE.values()])


@cache
def anchors(page: Path) -> set[str]:
    """Anchors of the headings of a page."""
    headings = re.findall(r"^#+ (.*)$", BLOCK.sub("", page.read_text(encoding="utf-8")), re.MULTILINE)
    plain = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower() for heading in headings]
    return {re.sub(r"[^\w -]", "", heading).replace(" ", "-") for heading in plain}


@pytest.mark.parametrize("page", REPOSITORY, ids=lambda page: str(page.relative_to(ROOT)))
def test_files_and_headings_that_a_page_links_to_exist(page: Path) -> None:
    text = BLOCK.sub("", page.read_text(encoding="utf-8"))
    links = re.findall(r"\]\(([^)\s#:]*)#?([^)\s:]*)\)", text)
    named = [(page.parent / path if path else page, anchor) for path, anchor in links]
    assert [str(file) for file, _ in named if not file.exists()] == []
    assert [(file.name, anchor) for file, anchor in named if anchor and anchor not in anchors(file)] == []


def test_pictures_that_pages_show_are_saved_by_their_code() -> None:
    texts = [page.read_text(encoding="utf-8") for page in PAGES]
    shown = {name for text in texts for name in re.findall(r"\]\(pictures/(\S+)\)", text)}
    saved = {name for text in texts for name in re.findall(r'savefig\("(\S+)"\)', text)}
    assert {path.name for path in (DOCS / "pictures").iterdir()} == shown <= saved


def test_the_notebook_is_that_of_the_tutorial(tutorial_notebook: ModuleType, notebook: dict[str, Any]) -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    made = [(cell["cell_type"], cell["source"]) for cell in tutorial_notebook.cells(page)]
    assert [(cell["cell_type"], "".join(cell["source"])) for cell in notebook["cells"]] == made


def test_the_notebook_was_run(notebook: dict[str, Any], docs_output: ModuleType) -> None:
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    outputs = ["".join(output.get("text", [])) for cell in code for output in cell["outputs"]]
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    for shown in re.findall(r"^```text\n(.*?)^```$", page, re.MULTILINE | re.DOTALL):
        assert any(differences(docs_output.joined(shown), printed) == [] for printed in outputs)
    assert sum("image/png" in output.get("data", {}) for cell in code for output in cell["outputs"]) == 2


def test_the_page_on_installation_has_every_extra() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    page = (DOCS / "installation.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)) == set(project["optional-dependencies"])


def test_extras_are_installed_from_the_clone() -> None:
    wrong = [page.name for page in [*PAGES, ROOT / "README.md"] if "rnshmc[" in page.read_text(encoding="utf-8")]
    assert wrong == []


def test_issue_templates_have_a_name_and_a_description() -> None:
    templates = sorted((ROOT / ".github/ISSUE_TEMPLATE").glob("*.md"))
    assert templates
    for template in templates:
        head = yaml.safe_load(template.read_text(encoding="utf-8").split("---")[1])
        assert set(head) == {"name", "about"}


def test_the_reference_names_objects_that_exist() -> None:
    """Extras need not be installed: the sources are searched."""
    missing = []
    for page in sorted((DOCS / "reference").glob("*.md")):
        for name in re.findall(r"^::: rnshmc\.(\w+\.[\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            module, _, found = name.rpartition(".")
            source = ROOT / f"src/rnshmc/{module.replace('.', '/')}.py"
            pattern = rf"^(?:class |def |type )?{found}\b"
            if not (source.exists() and re.search(pattern, source.read_text(encoding="utf-8"), re.MULTILINE)):
                missing.append(f"{page.name}: rnshmc.{name}")
    assert missing == []
