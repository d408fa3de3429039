"""Results that a run is to replace, kept under second names until the run has ended.

Snakemake removes the outputs of a job before the job begins, and at a failure records the new parameters for them. So
before a run they get second names in ``.snakemake``, with copies of their records. After it, those that no job has made
again are put back: the results are unchanged, and run again as long as the config or the code asks for others.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from rnshmc.run.internals import METADATA, incomplete_mark, record_path


def put_aside(outputs: Iterable[str], aside: Path, project: Path) -> None:
    """Give what a run is to replace second names in the folder ``aside``; paths are relative to ``project``.

    Outputs that do not exist, or that a killed job left incomplete, are passed over.
    """
    (project / aside).mkdir(parents=True, exist_ok=True)
    for output in outputs:
        if (project / output).is_file() and not (project / incomplete_mark(output)).exists():
            record = record_path(output)
            if (project / record).is_file():
                # Snakemake may write into the file itself.
                shutil.copyfile(project / record, _made(project / aside / record))
            kept = _made(project / aside / output)
            try:
                os.link(project / output, kept)
            except OSError:  # another file system, or one without links
                shutil.copy2(project / output, kept)


def put_back(aside: Path, project: Path) -> None:
    """Put back what is missing of the results that were put aside into a folder, and forget the others."""
    for kept in sorted((project / aside).rglob("*")):
        output = kept.relative_to(project / aside)
        if kept.is_file() and not output.is_relative_to(METADATA) and not (project / output).exists():
            shutil.move(kept, _made(project / output))
            (project / incomplete_mark(output.as_posix())).unlink(missing_ok=True)
            record = record_path(output.as_posix())
            (project / record).unlink(missing_ok=True)
            if (project / aside / record).exists():
                shutil.copyfile(project / aside / record, _made(project / record))
    shutil.rmtree(project / aside, ignore_errors=True)


def _made(path: Path) -> Path:
    """A path whose folder exists."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
