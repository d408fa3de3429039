"""Run the pages that show printed output, and write what is printed now into them.

scripts/in-env.sh python scripts/docs_output.py

tests/docs compares the two. Long lines are wrapped with a deeper indentation, by which they are joined again.
"""

import os
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from run_page import Output, run_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/index.md", "docs/result.md", "docs/tutorial.md")
WIDTH = 88
CONTINUED = " " * 6


def wrapped(text: str) -> str:
    """The text with lines of at most `WIDTH` characters, the rest of each on lines that begin with `CONTINUED`."""
    lines = (
        textwrap.fill(line, WIDTH, subsequent_indent=CONTINUED, replace_whitespace=False, break_on_hyphens=False)
        for line in text.splitlines()
    )
    return "\n".join(lines) + "\n"


def joined(text: str) -> str:
    """The text with wrapped lines joined."""
    return text.replace("\n" + CONTINUED, " ")


def renewed(page: str, outputs: Sequence[Output]) -> str:
    """The page with what was printed in place of what it shows."""
    for output in sorted(outputs, key=lambda output: -output.start):
        page = page[: output.start] + wrapped(output.printed) + page[output.end :]
    return page


def main() -> None:
    """Renew all pages, each run in an empty folder."""
    for name in PAGES:
        page = ROOT / name
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            _, outputs = run_page(page)
            os.chdir(ROOT)
        page.write_text(renewed(page.read_text(encoding="utf-8"), outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
