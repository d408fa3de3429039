"""Run the pages that show printed output or pictures, and update both.

scripts/in-env.sh python scripts/docs_output.py                  # all pages
scripts/in-env.sh python scripts/docs_output.py docs/gallery.md

tests/docs compares printed output with the pages. Long lines are wrapped with a deeper indentation, which marks them
for joining. A picture pictures/x.png of a page is the file x.png that its code saves.
"""

import os
import re
import shutil
import sys
import tempfile
import textwrap
from collections.abc import Sequence
from pathlib import Path

from run_page import Output, run_page

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", "docs/gallery.md", "docs/result.md", "docs/tutorial.md")
PICTURES = ROOT / "docs/pictures"
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
    """The page with its output replaced by the printed one."""
    for output in sorted(outputs, key=lambda output: -output.start):
        page = page[: output.start] + wrapped(output.printed) + page[output.end :]
    return page


def pictures(page: str) -> list[str]:
    """Names of the pictures that a page shows and that its code, or another page's, saves."""
    return re.findall(r"\]\(pictures/(\S+)\)", page)


def main() -> None:
    """Update the named pages, or all, running each in an empty folder."""
    os.environ["MPLBACKEND"] = "Agg"
    PICTURES.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PAGES:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            _, outputs = run_page(page)
            os.chdir(ROOT)
            for saved in sorted(set(pictures(text)) & set(os.listdir(folder))):
                shutil.copy(Path(folder) / saved, PICTURES)
        page.write_text(renewed(text, outputs), encoding="utf-8")


if __name__ == "__main__":
    main()
