"""Copy a run's tables and figures into docs/results, where people see them without running anything.

scripts/in-env.sh python scripts/publish.py results/paper
"""

import shutil
import sys
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).resolve().parent.parent / "docs/results"
COLOURS = 128
"""Enough for the figures' few hues and their shades; a third of the bytes."""


def main(run: Path) -> None:
    """Replace what is in docs/results by the tables and figures of a run."""
    shutil.rmtree(DOCS, ignore_errors=True)
    DOCS.mkdir(parents=True)
    for table in sorted((run / "tables").glob("*.csv")):
        shutil.copy(table, DOCS)
    for figure in sorted((run / "figures").glob("*.png")):
        with Image.open(figure) as image:
            image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(DOCS / figure.name, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
