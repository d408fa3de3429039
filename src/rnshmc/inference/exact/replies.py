"""Requests over HTTP whose replies are bounded in time and size, whatever the server does."""

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
    """A reply has more bytes than it may have."""


def check_address(url: Any) -> str:
    """The address of a server without a slash at its end.

    Raises
    ------
    ParameterError
        If it is none of HTTP, or has a password, which the message does not repeat.
    """
    example = "expected an address such as 'http://localhost:4242'"
    if not isinstance(url, str):
        raise ParameterError(f"url: {example}, got {url!r:.80}")
    if "@" in url:
        raise ParameterError(f"url: {example}, got one with an @; user names and passwords are not supported")
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port that is no number
        usable = False
    if not usable:
        raise ParameterError(f"url: {example}, got {url!r:.80}")
    return url.rstrip("/")


def fetch(request: Request, *, seconds: float, largest: int) -> tuple[int, bytes]:
    """Status and content of the reply to a request. Proxies of the environment are not for this machine's own servers.

    Parameters
    ----------
    request
        The request.
    seconds
        Until the whole reply has to be there, from the end of the request on.
    largest
        Number of bytes that the reply may have.

    Raises
    ------
    TimeoutError
        If it takes longer.
    ReplyTooLargeError
        If it is larger.
    OSError, HTTPException
        If there is no connection, or it ends before the reply does.
    """
    proxies = (ProxyHandler({}),) if _is_here(request) else ()
    opener = build_opener(*proxies, _Plain, _Encrypted)
    try:
        response: Any = opener.open(request, timeout=seconds)
    except HTTPError as error:  # a reply, too
        response = error
    with response:
        content: bytes = response.read(largest + 1)
        if len(content) > largest:
            raise ReplyTooLargeError
        if getattr(response, "length", 0):  # of what was announced, what did not come
            raise IncompleteRead(content)
        return response.status, content


def _is_here(request: Request) -> bool:
    host = urlsplit(request.full_url).hostname or ""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class _TimedReader(RawIOBase):
    """What a socket receives, up to one moment for all of it."""

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
    """A response whose time is that of the socket for all of it, not for each part."""

    def __init__(self, sock: socket, *args: Any, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp = BufferedReader(_TimedReader(sock, self.fp.detach()))


class _PlainConnection(HTTPConnection):
    response_class = _TimedResponse


class _EncryptedConnection(HTTPSConnection):
    response_class = _TimedResponse


class _Plain(HTTPHandler):
    def http_open(self, req: Request) -> Any:
        return self.do_open(_PlainConnection, req)


class _Encrypted(HTTPSHandler):
    def https_open(self, req: Request) -> Any:
        return self.do_open(_EncryptedConnection, req)
