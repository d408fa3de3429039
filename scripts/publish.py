"""Copy a run's tables and figures into docs/results, where people see them without running anything.

scripts/in-env.sh python scripts/publish.py results/paper
"""

import shutil
import sys
from pathlib import Path

from PIL import Image

DOCS = Path(__file__).resolve().parent.parent / "docs/results"
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


def main(run: Path) -> None:
    """Replace what is in docs/results by the tables and figures of a run."""
    shutil.rmtree(DOCS, ignore_errors=True)
    DOCS.mkdir(parents=True)
    for table in sorted((run / "tables").glob("*.csv")):
        shutil.copy(table, DOCS)
    for figure in sorted((run / "figures").glob("*.png")):
        shrink(figure, DOCS / figure.name)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
