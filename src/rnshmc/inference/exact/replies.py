"""HTTP requests with bounds on the time and size of the whole reply."""

from http.client import IncompleteRead
from ipaddress import ip_address
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import ProxyHandler, Request, build_opener

from rnshmc.errors import ParameterError
from rnshmc.inference.exact.workers import in_time


class ReplyTooLargeError(Exception):
    """A reply is larger than the limit."""


def check_address(url: Any) -> str:
    """The HTTP address of a server without a trailing slash; a password in it is refused, and not repeated."""
    example = "expected an address such as 'http://localhost:4242'"
    if not isinstance(url, str):
        raise ParameterError(f"url: {example}, got {url!r:.80}")
    if "@" in url:
        raise ParameterError(f"url: {example}, got one with an @; user names and passwords are not supported")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number
        usable = False
    if not usable:
        raise ParameterError(f"url: {example}, got {url!r:.80}")
    return url.rstrip("/")


def fetch(request: Request, *, seconds: float, largest: int) -> tuple[int, bytes]:
    """Status and content of the reply to a request; proxies of the environment are not used for this machine.

    Raises `TimeoutError` if the whole reply takes more than ``seconds``, `ReplyTooLargeError` if it has more than
    ``largest`` bytes, and `OSError` or `HTTPException` if there is no connection, or it ends before the reply does.
    """
    # The timeout of a socket alone is for each of its parts.
    return in_time(lambda: _reply(request, seconds, largest), seconds)


def _reply(request: Request, seconds: float, largest: int) -> tuple[int, bytes]:
    opener = build_opener(*((ProxyHandler({}),) if _is_here(request) else ()))
    try:
        response: Any = opener.open(request, timeout=seconds)
    except HTTPError as error:  # a reply, too
        response = error
    with response:
        content: bytes = response.read(largest + 1)
        if len(content) > largest:
            raise ReplyTooLargeError
        if getattr(response, "length", 0):  # announced bytes are missing
            raise IncompleteRead(content)
        return response.status, content


def _is_here(request: Request) -> bool:
    host = urlsplit(request.full_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
