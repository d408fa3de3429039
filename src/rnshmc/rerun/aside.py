"""Keep the results that a run will replace under second names until the run has ended.

Snakemake removes the outputs of a job before it starts, and records the new parameters for them even if it fails. So
before a run, outputs get second names in ``.snakemake``, with copies of their records. After the run, outputs that no
job has replaced are restored with their records: they are unchanged, and rerun if config or code require it.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from rnshmc.run.internals import METADATA, incomplete_mark, record_path


def put_aside(outputs: Iterable[str], aside: Path, project: Path) -> None:
    """Link the outputs that a run will replace in the folder ``aside``; paths are relative to ``project``.

    Outputs that do not exist, or that a killed job left incomplete, are skipped.
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
            except OSError:  # another file system, or no support for links
                shutil.copy2(project / output, kept)


def put_back(aside: Path, project: Path) -> None:
    """Restore the missing results from the folder, and delete its other links."""
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
    """The path, after making its folder."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
