"""Copy a run's results into docs/results, judge it by papers/, and write verdicts and tables into docs/RESULTS.md.

scripts/in-env.sh python scripts/publish.py results/paper
scripts/in-env.sh python scripts/publish.py                 # judge the published tables again, by today's papers/
"""

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
from PIL import Image

from rnshmc.report.beside_printed import beside_printed, counted_and_lean, grid_beside_printed
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
BESIDE_PRINTED = {
    ("zhang2017", "table 1"): {
        "table1/lr_simulated": "simulated LR",
        "table1/bank": "Bank Marketing",
        "table1/a9a": "a9a",
        "table1/pde": "elliptic PDE",
    },
    ("li2019", "tables 1 and 2"): {"table1/garch": "GARCH", "table2/gp_regression": "Gaussian process"},
    ("li2019", "table 5"): {"table5/news": "News", "table5/census": "Census", "table5/dota2": "Dota2"},
}
"""Tables of each paper on the page: the problems of each, and what the page calls them."""
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


def replaced(page: str, text: str, name: str) -> str:
    """The page with this text between the two lines of a name."""
    begin, end = f"<!-- {name}: written by scripts/publish.py -->", f"<!-- end of {name} -->"
    head, rest = page.split(begin)
    return f"{head}{begin}\n\n{text}\n{end}{rest.split(end)[1]}"


def with_tables(page: str, card: pd.DataFrame) -> str:
    """The page with the tables of `BESIDE_PRINTED`, paper B's Table 4, and counts and lean seconds."""
    for (paper, name), problems in BESIDE_PRINTED.items():
        table = to_markdown(beside_printed(card[card["paper"] == paper], problems))
        page = replaced(page, table, f"{name} of {paper}")
    grid = grid_beside_printed(card[card["paper"] == "li2019"], "table4")
    page = replaced(page, to_markdown(grid), "table 4 of li2019")
    of_zhang = {item.split("/")[1]: title for item, title in BESIDE_PRINTED["zhang2017", "table 1"].items()}
    table1, errors = (pd.read_csv(DOCS / f"{name}.csv") for name in ("table1", "table1_se"))
    return replaced(page, to_markdown(counted_and_lean(table1, errors, of_zhang)), "evaluations and lean seconds")


def copy(run: Path) -> None:
    """Replace docs/results by the tables and figures of a run, which has to be whole."""
    for needed in ("tables/scorecard.csv", "provenance.json"):
        if not (run / needed).is_file():
            raise SystemExit(f"{run}: no finished run, for there is no {needed}; nothing was changed")
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
    page = replaced(PAGE.read_text(encoding="utf-8"), text, "the verdicts")
    # From the file, whose digits are those that a reader finds.
    PAGE.write_text(with_tables(page, pd.read_csv(DOCS / "scorecard.csv")), encoding="utf-8")


if __name__ == "__main__":
    for run in sys.argv[1:2]:
        copy(Path(run))
    judge()
