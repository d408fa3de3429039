"""Make docs/tutorial.ipynb from docs/tutorial.md, and run it.

scripts/in-env.sh python scripts/tutorial_notebook.py

Blocks of Python, files with a title and shell commands become code cells. The page's printed text and pictures are left
out, since the cells output them.
"""

import re
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from run_page import BLOCK

ROOT = Path(__file__).resolve().parent.parent
PAGE, NOTEBOOK = ROOT / "docs/tutorial.md", ROOT / "docs/tutorial.ipynb"
_PICTURE = re.compile(r"^!\[.*\]\(.*\)\n", re.MULTILINE)


def cells(page: str) -> list[NotebookNode]:
    """The cells of the notebook, without outputs."""
    made, end = [], 0
    for block in BLOCK.finditer(page):
        made.append(_text(page[end : block.start()]))
        made.append(_code(block))
        end = block.end()
    made.append(_text(page[end:]))
    kept = [cell for cell in made if cell is not None]
    for number, cell in enumerate(kept):
        # So that the same page gives the same file
        cell["id"] = f"cell-{number}"
    return kept


def _text(markdown: str) -> NotebookNode | None:
    text = _PICTURE.sub("", markdown).strip()
    return new_markdown_cell(text) if text else None


def _code(block: re.Match[str]) -> NotebookNode | None:
    code = block["code"].rstrip("\n")
    if block["title"] is not None:
        return new_code_cell(f"%%writefile {block['title']}\n{code}")
    if block["language"] == "sh":
        return new_code_cell("\n".join(f"!{line}" for line in code.splitlines()))
    return new_code_cell(code) if block["language"] == "python" else None


def main() -> None:
    """Run the notebook in an empty folder, and save it without progress lines."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    notebook = new_notebook(cells=cells(PAGE.read_text(encoding="utf-8")), metadata=kernel)
    with tempfile.TemporaryDirectory() as folder:
        resources = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=None, record_timing=False, resources=resources).execute()
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [output for output in cell.outputs if output.get("name") != "stderr"]
    notebook.metadata = kernel
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    main()
