"""Copy a run's results into docs/results, judge it by papers/, and write docs/RESULTS.md from papers/RESULTS.md.j2.

scripts/in-env.sh python scripts/publish.py results/paper
scripts/in-env.sh python scripts/publish.py                  # judge the published tables by the current papers/
"""

import json
import shutil
import sys
from pathlib import Path

import pandas as pd
import yaml
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from PIL import Image

from rnshmc.report.beside_printed import beside_printed, counted, grid_beside_printed, lean_speedups
from rnshmc.report.scorecard_text import difference_table, sum_table, verdict_table
from rnshmc.report.table_text import to_markdown, with_error
from rnshmc.scorecard.card import AFTER_SEARCH, scorecard, verdict_counts
from rnshmc.scorecard.papers import read_papers
from rnshmc.scorecard.published import read_published
from rnshmc.scorecard.reasons import read_reasons
from rnshmc.scorecard.settings import other_settings

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs/results"
PAGE = ROOT / "docs/RESULTS.md"
PAPERS = ROOT / "papers"
SHORT = {"zhang2017": "paper A", "li2019": "paper B"}
TABLES = {
    "zhang2017 table 1": {
        "table1/lr_simulated": "simulated LR",
        "table1/bank": "Bank Marketing",
        "table1/a9a": "a9a",
        "table1/pde": "elliptic PDE",
    },
    "li2019 tables 1 to 3": {
        "table1/garch": "GARCH",
        "table2/gp_regression": "Gaussian process",
        "table3/cover_type": "Cover Type",
    },
    "li2019 table 5": {"table5/news": "News", "table5/census": "Census", "table5/dota2": "Dota2"},
}
"""Tables on the page: the problems of each, with their names on the page."""
PALETTES = (128, 64, 32)
"""Numbers of colours to try: the first suffices for the figures' few hues and shades, at a third of the bytes."""
LARGEST = 200_000
"""Maximum bytes of a figure; a larger one gets fewer colours."""


def shrink(figure: Path, to: Path) -> None:
    """Save a figure with the most colours that keep it small enough, or else the fewest."""
    with Image.open(figure) as image:
        for colours in PALETTES:
            image.convert("RGB").quantize(colours, dither=Image.Dither.NONE).save(to, optimize=True)
            if to.stat().st_size <= LARGEST:
                return


class Numbers:
    """The numbers of the published run, for the page's template."""

    def __init__(self, card: pd.DataFrame) -> None:
        self._card = card
        self._cells = card.set_index(["paper", "item", "quantity"])

    def ours(self, paper: str, item: str, quantity: str, decimals: int = 2) -> str:
        """Our number: a cell of the scorecard."""
        return f"{self._cells.at[(paper, item, quantity), 'ours']:.{decimals}f}"

    def printed(self, paper: str, item: str, quantity: str) -> str:
        """The printed number."""
        return f"{self._cells.at[(paper, item, quantity), 'printed']:g}"

    def error(self, paper: str, item: str, quantity: str) -> str:
        """Our number with its standard error."""
        return with_error(*(float(self._cells.at[(paper, item, quantity), name]) for name in ("ours", "ours_se")))

    def beside(self, paper: str, item: str, quantity: str, decimals: int = 2) -> str:
        """Our number, and the printed one in brackets."""
        return f"{self.ours(paper, item, quantity, decimals)} [{self.printed(paper, item, quantity)}]"

    def count(self, paper: str, item: str, quantity: str, verdict: str = "") -> int:
        """Count the numbers of a paper with a verdict, among items and quantities; prefixes of each suffice."""
        rows = self._card[self._card["paper"] == paper]
        for column, prefix in (("item", item), ("quantity", quantity), ("verdict", verdict)):
            rows = rows[rows[column].str.startswith(prefix)]
        return len(rows)

    def lean(self, problem: str, sampler: str) -> str:
        """A speed-up of paper A's Table 1 with each gradient evaluated once."""
        return lean_speedups(*(pd.read_csv(DOCS / f"table1{suffix}.csv") for suffix in ("", "_se")))[
            f"table1/{problem}/{sampler}"
        ]

    def lean_ratio(self, problem: str, sampler: str) -> str:
        """This speed-up over the printed one."""
        printed = self._cells.at[("zhang2017", f"table1/{problem}/{sampler}", "speedup"), "printed"]
        return f"{float(self.lean(problem, sampler).split()[0]) / printed:.1f}"

    def ratio(self, paper: str, item: str, quantity: str) -> str:
        """Our number over the printed one."""
        return f"{self._cells.at[(paper, item, quantity), 'ratio']:.1f}"

    def cell(self, table: str, column: str, decimals: int = 2, **where: float | str) -> str:
        """The mean of a column of a published table over the rows with these values."""
        rows = pd.read_csv(DOCS / f"{table}.csv")
        for name, value in where.items():
            rows = rows[rows[name] == value]
        return f"{rows[column].mean():.{decimals}f}"


def page() -> str:
    """docs/RESULTS.md from the files in docs/results."""
    card = pd.read_csv(DOCS / "scorecard.csv")
    titles = {name: paper.title for name, paper in read_papers(PAPERS / "papers.csv").items()}
    published = read_published(PAPERS / f"{paper}.csv" for paper in titles)
    reasons = read_reasons(PAPERS / "reasons.csv")
    table1, errors = (pd.read_csv(DOCS / f"{name}.csv") for name in ("table1", "table1_se"))
    tables = {
        "sums": sum_table(card, SHORT),
        "counted": counted(table1, {key.split("/")[1]: title for key, title in TABLES["zhang2017 table 1"].items()}),
        "li2019 table 4": grid_beside_printed(card[card["paper"] == "li2019"], "table4"),
        **{f"{paper} verdicts": verdict_table(card, published, paper) for paper in titles},
        **{f"{paper} differences": difference_table(card, paper, reasons) for paper in titles},
    }
    for name, problems in TABLES.items():
        lean = lean_speedups(table1, errors) if name == "zhang2017 table 1" else None
        tables[name] = beside_printed(card[card["paper"] == name.split()[0]], problems, lean)
    environment = Environment(
        loader=FileSystemLoader(PAPERS), undefined=StrictUndefined, keep_trailing_newline=True, trim_blocks=True
    )
    return environment.get_template("RESULTS.md.j2").render(
        tables={name: to_markdown(table).rstrip() for name, table in tables.items()},
        counts={paper: verdict_counts(card[card["paper"] == paper]) for paper in titles},
        after=AFTER_SEARCH,
        titles=titles,
        number=Numbers(card),
        commit=json.loads((DOCS / "provenance.json").read_text(encoding="utf-8"))["git"]["commit"][:7],
    )


def copy(run: Path) -> None:
    """Replace docs/results by the tables and figures of a complete run."""
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
    """Judge the tables in docs/results by papers/ and the settings of config/, which may be newer than the run."""
    tables = {path.stem: pd.read_csv(path) for path in sorted(DOCS.glob("*.csv")) if path.stem != "scorecard"}
    published = read_published(PAPERS / f"{paper}.csv" for paper in read_papers(PAPERS / "papers.csv"))
    run = json.loads((DOCS / "provenance.json").read_text(encoding="utf-8"))["config"]
    others = other_settings(run, yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8")))
    card = scorecard(tables, published, read_reasons(PAPERS / "reasons.csv"), others)
    card.to_csv(DOCS / "scorecard.csv", index=False, float_format="%.6g")
    # From the file, whose digits are those that a reader finds.
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    for run in sys.argv[1:2]:
        copy(Path(run))
    judge()
