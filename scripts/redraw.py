"""Redraw figures of docs/results from their tables after a change of the drawing functions.

scripts/in-env.sh python scripts/redraw.py                # all figures with tables scripts/in-env.sh python
scripts/redraw.py fig2 nng_fig9

The other figures need the chains of a run: scripts/publish.py copies them from it.
"""

import sys
import tempfile
from pathlib import Path
from typing import Any

import pandas as pd
import yaml
from matplotlib.figure import Figure
from publish import DOCS, ROOT, shrink

from rnshmc.plots.chain_metrics import evaluations
from rnshmc.plots.registry import FIGURES
from rnshmc.plots.style import save, theme

PAPER_A = "zhang2017"


def titles() -> dict[str, str]:
    """Title of each problem of the config."""
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    return {name: entry["title"] for name, entry in config["problems"].items()}


def settings() -> dict[str, dict[str, Any]]:
    """Settings of each figure that is drawn from tables alone."""
    return {
        "efficiency": {"titles": titles()},
        "fig2": {},
        "fig6": {"target": {"kind": "logistic"}, "title": titles()["lr_simulated"]},
        "mesh_study": {},
        "nng_fig2": {},
        "nng_fig9": {"title": titles()["cover_type"]},
    }


def drawn() -> dict[str, Figure]:
    """Each such figure by name."""
    drawings = {drawing.name: drawing for drawing in FIGURES}
    figures = {}
    for name, given in settings().items():
        tables = [pd.read_csv(DOCS / f"{table}.csv") for table in drawings[name].reads]
        figures[name] = drawings[name].draw(*tables, **given)
    # The table of results has the means over chains in the figure.
    results = pd.read_csv(DOCS / "results.csv")
    return {**figures, "evaluations": evaluations(results[results["paper"] == PAPER_A], titles())}


def main() -> None:
    """Redraw the named figures, or all."""
    with theme():
        figures = drawn()
    chosen = sys.argv[1:] or list(figures)
    if unknown := set(chosen) - set(figures):
        raise SystemExit(f"{', '.join(sorted(unknown))}: not drawn from tables; there are {', '.join(figures)}")
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen:
            full = Path(folder) / f"{name}.png"
            save(figures[name], full)
            shrink(full, DOCS / full.name)


if __name__ == "__main__":
    main()
