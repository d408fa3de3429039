"""Snakemake's records of a run, kept with the run's results.

Snakemake records in ``.snakemake/metadata`` the parameters, inputs and checksums behind each file. Without these
records it can only compare modification times, which are meaningless for results copied into a fresh clone. So a run
saves its records in one file among its results, and the next run, in any folder, restores them first. A record is
restored only for a file with identical bytes.
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
    """Write Snakemake's records of the files in some folders to one JSON file, each with the file's SHA-256.

    Folders are relative to ``project``, the folder that Snakemake runs in. Entries that the file already has are kept
    if the record is the same.
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
    """Restore Snakemake's records from a file written by `save_records`; no effect if there is none.

    Snakemake's own record is kept if it has the modification time of the output: then Snakemake made that file after
    the records were saved, in a run that was killed. Any other record is replaced.

    Raises
    ------
    StoreError
        The file was not written by `save_records`, or is damaged.
    """
    if not path.exists():
        return
    for output, entry in _read(path).items():
        file, own = project / output, _record(project, output)
        if own == entry["record"] or not file.is_file():
            continue
        made_here = own is not None and own.get("endtime") == file.stat().st_mtime
        if not made_here and sha256(file) == entry["sha256"]:
            write_json(record_path(project, output), entry["record"])


def _read(path: Path) -> Mapping[str, Mapping[str, Any]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        if all(set(entry) == {"record", "sha256"} for entry in entries.values()):
            return dict(entries)
    except (ValueError, AttributeError, TypeError):
        pass
    raise StoreError(f"{path} is damaged; remove it: without it Snakemake compares modification times only")


def _record(project: Path, output: str) -> dict[str, Any] | None:
    """Snakemake's record of an output; None if there is none, or a truncated one."""
    try:
        return dict(json.loads(record_path(project, output).read_text(encoding="utf-8")))
    except (FileNotFoundError, ValueError):
        return None


def record_path(project: Path, output: str) -> Path:
    """Where Snakemake keeps the record of an output: its name in base 64, long ones in nested folders."""
    name = urlsafe_b64encode(output.encode()).decode()
    parts = [name[start : start + _LONGEST_NAME] for start in range(0, len(name), _LONGEST_NAME)]
    return (project / METADATA).joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
