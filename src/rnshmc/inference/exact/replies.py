"""HTTP requests with bounds on the time and size of the whole reply."""

import time
from http.client import HTTPConnection, HTTPResponse, HTTPSConnection, IncompleteRead
from io import BufferedReader, RawIOBase
from ipaddress import ip_address
from socket import socket
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlsplit
from urllib.request import HTTPHandler, HTTPSHandler, ProxyHandler, Request, build_opener

from rnshmc.errors import ParameterError


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

    Raises
    ------
    TimeoutError
        If the whole reply takes more than ``seconds``, from the end of the request on.
    ReplyTooLargeError
        If it has more than ``largest`` bytes.
    OSError, HTTPException
        If there is no connection, or it ends before the reply does.
    """
    proxies = (ProxyHandler({}),) if _is_here(request) else ()
    opener = build_opener(*proxies, _Timed)
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


class _TimedReader(RawIOBase):
    """Bytes from a socket, with one deadline for all of them."""

    def __init__(self, sock: socket, raw: RawIOBase) -> None:
        self._sock, self._raw = sock, raw
        self._end = time.monotonic() + (sock.gettimeout() or 0.0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self._sock.settimeout(left)
        return self._raw.readinto(buffer)

    def close(self) -> None:
        self._raw.close()
        super().close()


class _TimedResponse(HTTPResponse):
    """A response to which the socket's timeout applies as a whole, not part by part."""

    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = BufferedReader(_TimedReader(sock, self.fp.detach()))


class _PlainConnection(HTTPConnection):
    response_class = _TimedResponse


class _EncryptedConnection(HTTPSConnection):
    response_class = _TimedResponse


class _Timed(HTTPHandler, HTTPSHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(_PlainConnection, req)

    def https_open(self, req: Request) -> Any:
        return self.do_open(_EncryptedConnection, req)
