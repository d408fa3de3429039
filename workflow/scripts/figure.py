"""Draw a figure from its tables by the function of its entry."""

import itertools
from pathlib import Path
from pkgutil import resolve_name

from rnshmc.plots.style import save, theme
from rnshmc.run.job import job

spec = snakemake.params.spec


def read(table: str, reader: str) -> object:
    """Read the file or files of a table."""
    files = snakemake.input[table]
    return resolve_name(reader)(Path(files) if isinstance(files, str) else [Path(file) for file in files])


with job(snakemake.log[0]), theme():
    figure = resolve_name(spec["draw"])(*itertools.starmap(read, spec["readers"].items()), **spec["settings"])
    save(figure, Path(snakemake.output.figure), Path(snakemake.output.pdf))
