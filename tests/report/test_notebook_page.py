"""Notebooks are stored without output, and their pages are self-contained."""

import re
from pathlib import Path

import nbformat
import pytest

from rnshmc.report.notebook_page import notebook_page
from tests.report.pages import TEMPLATES

NOTEBOOKS = sorted((Path(__file__).parents[2] / "workflow/notebooks").glob("*.ipynb"))
NOTEBOOK = next(path for path in NOTEBOOKS if path.stem == "problem")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_stored_without_output(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    assert code[0].metadata.tags == ["parameters"]


def test_a_notebook_page_needs_nothing_but_itself(tmp_path: Path) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    first = next(cell for cell in notebook.cells if 'drawn.show("traces")' in cell.source)
    first.outputs = [nbformat.v4.new_output("display_data", {"image/png": pixel})]
    path = tmp_path / "bank.ipynb"
    nbformat.write(notebook, path)
    html = notebook_page(path, TEMPLATES, title="Bank & co", run="a & b", opening="Quick & small.")
    assert "<script" not in html
    assert "<link" not in html
    assert re.findall(r'(?:src|href)="(?!#)([^"]{0,20})', html) == ["index.html", "data:image/png;base6"]
    assert "results/quick" not in html  # the parameters are not for readers
    assert "<title>Bank &amp; co – rnshmc, run “a &amp; b”</title>" in html
    assert html.index("Quick &amp; small.") < html.index("<h2")
