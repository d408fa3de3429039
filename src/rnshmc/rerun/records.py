"""Snakemake's records of a run, kept with the run's results.

Snakemake notes in ``.snakemake/metadata`` what each file was made of: parameters, inputs and their checksums. Without
that it only has the times of files, and results that were copied into a fresh clone are all older than their sources,
or in no order at all. So a run leaves its records in one file among its results, and the next one, in whichever folder,
gives them back before it compares. A record is given back only to the very file that it describes, byte for byte.
"""

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rnshmc.errors import StoreError
from rnshmc.files import sha256, write_json

METADATA = Path(".snakemake/metadata")
_LONGEST_NAME = 254


def save_records(path: Path, folders: Iterable[Path], project: Path) -> None:
    """Write what Snakemake knows of the files in some folders to one JSON file, each with the file's SHA-256.

    Parameters
    ----------
    path
        The file to write. What it holds already is taken over where the record is the same.
    folders
        Relative to ``project``: those of the run's results and of its data.
    project
        The folder that Snakemake runs in.
    """
    known = _read(path) if path.exists() else {}
    entries = {}
    for file in sorted(file for folder in folders for file in (project / folder).rglob("*") if file.is_file()):
        output = file.relative_to(project).as_posix()
        record = _record(project, output)
        if record is not None:
            same = output in known and known[output]["record"] == record
            entries[output] = known[output] if same else {"record": record, "sha256": sha256(file)}
    write_json(path, entries)


def restore_records(path: Path, project: Path) -> None:
    """Give Snakemake the records in a file that `save_records` wrote; nothing where there is no such file.

    Snakemake keeps a record of its own where the time of the output is the one in it: it has made that file itself,
    after the others were saved, in a run that was killed. Any other record is replaced by that of the same file.

    Raises
    ------
    StoreError
        The file is not what `save_records` writes.
    """
    if not path.exists():
        return
    for output, entry in _read(path).items():
        file, own = project / output, _record(project, output)
        if own == entry["record"] or not file.is_file():
            continue
        made_here = own is not None and own.get("endtime") == file.stat().st_mtime
        if not made_here and sha256(file) == entry["sha256"]:
            write_json(_record_path(project, output), entry["record"])


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if all(set(entry) == {"record", "sha256"} for entry in entries.values()):
            return dict(entries)
    except (ValueError, AttributeError, TypeError):
        pass
    raise StoreError(f"{path} is damaged; remove it: without it Snakemake compares modification times only")


def _record(project: Path, output: str) -> dict[str, Any] | None:
    """Snakemake's record of an output; None where it has none, or one that was cut off."""
    try:
        return dict(json.loads(_record_path(project, output).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def _record_path(project: Path, output: str) -> Path:
    """Where Snakemake keeps the record of an output: its name in base 64, long ones in nested folders."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    return (project / METADATA).joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
