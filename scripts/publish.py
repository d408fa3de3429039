"""Copy a run's tables and figures into docs/results, judge it by papers/, and write the verdicts into docs/RESULTS.md.

scripts/in-env.sh python scripts/publish.py results/paper
scripts/in-env.sh python scripts/publish.py                 # judge the published tables again, by today's papers/
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from PIL import Image

from rnshmc.report.scorecard_text import verdict_sentence, verdict_table
from rnshmc.report.table_text import to_markdown
from rnshmc.scorecard.card import scorecard
from rnshmc.scorecard.papers import read_papers
from rnshmc.scorecard.published import Published, read_published
from rnshmc.scorecard.reasons import Reason, read_reasons

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs/results"
PAGE = ROOT / "docs/RESULTS.md"
PAPERS = ROOT / "papers"
BEGIN, END = "<!-- verdicts: written by scripts/publish.py -->", "<!-- end of the verdicts -->"
PALETTES = (128, 64, 32)
"""Numbers of colours: the first is enough for the figures' few hues and their shades, at a third of the bytes."""
LARGEST = 200_000
"""Bytes of a figure; one that is over it gets fewer colours."""


def shrink(figure: Path, to: Path) -> None:
    """Save a figure with the most colours with which it is small enough, or else the fewest."""
    with Image.open(figure) as image:
        for colours in PALETTES:
            image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(to, optimize=True)
            if to.stat().st_size <= LARGEST:
                return


def verdicts(
    card: pd.DataFrame, titles: dict[str, str], numbers: Sequence[Published], reasons: Sequence[Reason]
) -> str:
    """The verdicts of a scorecard as Markdown: a sentence and a table for each paper."""
    return "\n".join(
        f"### {title}\n\n{verdict_sentence(card[card['paper'] == paper])}\n\n"
        f"{to_markdown(verdict_table(card, numbers, paper, reasons))}"
        for paper, title in titles.items()
    )


def replace_verdicts(page: str, text: str) -> str:
    """The page with this text between the lines `BEGIN` and `END`."""
    head, rest = page.split(BEGIN)
    return f"{head}{BEGIN}\n\n{text}\n{END}{rest.split(END)[1]}"


def copy(run: Path) -> None:
    """Replace docs/results by the tables and figures of a run."""
    shutil.rmtree(DOCS, ignore_errors=True)
    DOCS.mkdir(parents=True)
    for file in (*sorted((run / "tables").glob("*.csv")), run / "provenance.json"):
        shutil.copy(file, DOCS)
    for figure in sorted((run / "figures").glob("*.png")):
        shrink(figure, DOCS / figure.name)


def judge() -> None:
    """Judge the tables in docs/results by papers/, where rules and reasons may be newer than the run."""
    tables = {path.stem: pd.read_csv(path) for path in sorted(DOCS.glob("*.csv")) if path.stem != "scorecard"}
    titles = {name: paper.title for name, paper in read_papers(PAPERS / "papers.csv").items()}
    numbers = read_published(PAPERS / f"{paper}.csv" for paper in titles)
    reasons = read_reasons(PAPERS / "reasons.csv")
    card = scorecard(tables, numbers, reasons)
    card.to_csv(DOCS / "scorecard.csv", index=False, float_format="%.6g")
    text = verdicts(card, titles, numbers, reasons)
    PAGE.write_text(replace_verdicts(PAGE.read_text(encoding="utf-8"), text), encoding="utf-8")


if __name__ == "__main__":
    for run in sys.argv[1:2]:
        copy(Path(run))
    judge()
