"""Redraw the figures of posteriordb and of the comparison from the tables in docs, without any run.

PYTHONPATH=benchmarks scripts/in-env.sh python -m suites.redraw
"""

from collections.abc import Mapping
from pathlib import Path

from matplotlib.figure import Figure
from peers import growth
from peers.table import OURS, dimensions, read_rows
from posteriordb import table as posteriordb
from suites.figure import Style, draw

ROOT = Path(__file__).resolve().parents[2]
DOCS, REFERENCES = ROOT / "docs", ROOT / "benchmarks/peers/reference"
DPI = 150


def of_suite(table: Path, styles: Mapping[str, Style], unit: str) -> Figure:
    """The figure of a suite from its table, which has the posteriors in the order of the page."""
    units: dict[str, dict[str, list[float]]] = {}
    for row in read_rows(table):
        units.setdefault(row.problem, {name: [] for name in styles})[row.peer].append(row.units_goal)
    return draw(units, styles, unit)


def of_dimensions() -> Figure:
    """The figure of the section on many dimensions."""
    ours = [row for row in read_rows(DOCS / "peers.csv") if row.peer == OURS[0]]
    return growth.draw(ours, dimensions(ours, REFERENCES))


def main() -> None:
    """Write them all."""
    of_suite(DOCS / "posteriordb.csv", posteriordb.STYLES, "units").savefig(DOCS / "posteriordb.png", dpi=DPI)
    of_dimensions().savefig(DOCS / "peers-dimensions.png", dpi=DPI)


if __name__ == "__main__":
    main()
