"""UM-Bridge's client with slow, endless and other servers, and with credentials."""

import datetime
import json
import re
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import EvaluationError, NumericalError, ParameterError
from rnshmc.inference.exact import umbridge
from rnshmc.inference.exact.umbridge import ModelError, UMBridge
from rnshmc.inference.exact.umbridge_potential import from_server

GOOD = {
    "/Info": {"models": ["m"]},
    "/InputSizes": {"inputSizes": [1]},
    "/OutputSizes": {"outputSizes": [1]},
    "/ModelInfo": {"support": {"Evaluate": True}},
    "/Evaluate": {"output": [[-0.5]]},
}
SECRET = "correct horse"
X = np.zeros(1)


class Hostile(BaseHTTPRequestHandler):
    """A good server where the address has no folder; otherwise the folder says what is wrong with its replies."""

    cut_short = 0

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def _answer(self, body: bytes) -> None:
        folder, _, path = self.path[1:].rpartition("/")
        good = json.dumps(GOOD[f"/{path}"]).encode()
        late = path == "Evaluate"
        match folder:
            case "page":
                self._send(b"<html>It works!</html>")
            case "absent":
                self._send(b"<html>Not found</html>", 404)
            case "error":
                self._send(b'{"error": "down for today"}', 500)
            case "typed":
                self._send(b'{"error": {"type": "Busy", "message": 5}}', 500)
            case "empty":
                self._send(b"{}")
            case "list":
                self._send(b"[1, 2]")
            case "deep":
                self._send(b"[" * 100_000)
            case "sizes" if path == "InputSizes":
                self._send(b'{"inputSizes": ["two"]}')
            case "support" if path == "ModelInfo":
                self._send(b'{"support": true}')
            case "no-output" if late:
                self._send(b'{"output": [[]]}')
            case "huge-integer" if late:
                self._send(b'{"output": [[1' + b"0" * 400 + b"]]}")
            case "slow-body" if late:
                self._send(good, pieces=30)
            case "slow-head" if late:
                self.wfile.write(b"HTTP/1.0 200 OK\r\n")
                self._drip(b"X-Nothing: %s\r\n\r\n" % (b"x" * 30))
                self.wfile.write(good)
            case "endless" if late:
                self._send(good + b" " * 2**22)
            case "cut-short" if late and not Hostile.cut_short:
                Hostile.cut_short += 1
                self._send(good[:10], announced=len(good))
            case "echo" if late:
                self._send(b'{"error": {"type": "Refused", "message": "cannot use %s"}}' % body.replace(b'"', b"'"))
            case "echo-page" if late:
                self._send(b"<html>" + body, 500)
            case "echo-all":
                self._send(body or good)
            case _:
                self._send(good)

    def _send(self, content: bytes, status: int = 200, *, announced: int | None = None, pieces: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(content) + pieces if announced is None else announced))
        self.end_headers()
        self._drip(b" " * pieces)
        self.wfile.write(content)

    def _drip(self, content: bytes) -> None:
        for k in range(len(content)):
            self.wfile.write(content[k : k + 1])
            self.wfile.flush()
            time.sleep(0.05)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class Quiet(ThreadingHTTPServer):
    """A server that says nothing of clients that leave."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    server = Quiet(("127.0.0.1", 0), Hostile)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("folder", "message"),
    [
        ("page", "/page/Info: the model server sent a reply that is not JSON: <html>It works!</html>"),
        ("absent", "/absent/Info: the model server answered 404: <html>Not found</html>"),
        ("error", "/error/Info: error: down for today"),
        ("typed", "/typed/Info: Busy: 5"),
        ("empty", "/empty/Info: 'models' is missing in {}"),
        ("list", r"/list/Info: 'models' is missing in \[1, 2\]"),
        ("deep", r"/deep/Info: the model server sent a reply that is not JSON: \[\["),
        ("support", "/support/ModelInfo: 'support' is missing in {'support': True}"),
    ],
)
def test_other_servers_are_named_with_their_answer(url: str, folder: str, message: str) -> None:
    with pytest.raises(ParameterError, match=f"^url: no server of UM-Bridge answers at {url}{message}"):
        UMBridge(f"{url}/{folder}")


def test_sizes_are_whole_numbers(url: str) -> None:
    with pytest.raises(ParameterError, match=r"sizes/InputSizes reports inputSizes \['two'\], expected whole numb"):
        UMBridge(f"{url}/sizes")


@pytest.mark.parametrize("address", [5, None, "localhost:4242", "file:///etc/passwd", "http://", "http://here:port"])
def test_an_address_is_an_http_address(address: Any) -> None:
    with pytest.raises(
        ParameterError,
        match=f"^url: expected an address such as 'http://localhost:4242', got {re.escape(repr(address))}$",
    ):
        UMBridge(address)


@pytest.mark.parametrize("address", ["http://me:{}@here:80", "http://me:{}@here", "me:{}@here", "http://me:1/{}@here"])
def test_a_password_in_an_address_is_refused_and_not_repeated(address: str) -> None:
    with pytest.raises(ParameterError, match=r"^url: .* got one with an @; user names and") as caught:
        UMBridge(address.format("hunter2"))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"request_limit": 0}, "request_limit: expected a positive number of seconds, got 0"),
        ({"request_limit": "5"}, "request_limit: expected a positive number of seconds, got '5'"),
        ({"request_limit": float("nan")}, "request_limit: expected a positive number of seconds, got nan"),
        ({"config": SECRET}, "config: expected a mapping from names to values, got str"),
        ({"config": {"day": datetime.date(2026, 1, 1)}}, "config: it cannot be written as JSON: Object of type date"),
        (
            {"data": [1.0, 2.0], "noise_sd": 1.0},
            r"data: the model 'm' has 1 outputs; expected as many data, got shape \(2",
        ),
    ],
)
def test_arguments_are_checked(url: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=f"^{message}"):
        UMBridge(url, **settings)


@pytest.mark.parametrize("folder", ["slow-body", "slow-head"])
def test_a_reply_has_to_be_complete_within_the_limit(url: str, folder: str) -> None:
    # It would be complete after 1.5 seconds; a byte comes each twentieth of a second.
    model = UMBridge(f"{url}/{folder}", request_limit=0.5)
    with pytest.raises(ModelError, match=r"^the model server did not answer within request_limit = 0.5 s$"):
        model.log_density(X)


def test_an_endless_reply_is_not_read(url: str) -> None:
    # A megabyte, and a hundred for the one number.
    with pytest.raises(ModelError, match=r"^the model server sent a reply of more than 1048676 bytes$"):
        UMBridge(f"{url}/endless").log_density(X)


@pytest.mark.parametrize("folder", ["no-output", "huge-integer"])
def test_a_malformed_reply_rejects_a_proposal(url: str, folder: str) -> None:
    with pytest.raises(NumericalError, match=r"sent a malformed reply, expected 1 numbers: {'output': "):
        from_server(Path(), url=f"{url}/{folder}").value(X)


def test_a_truncated_reply_is_requested_again(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(umbridge, "PAUSE_S", 0.01)
    assert UMBridge(f"{url}/cut-short").log_density(X) == -0.5
    assert Hostile.cut_short == 1


def test_a_proxy_is_not_used_for_this_machine(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(umbridge, "PAUSE_S", 0.01)
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.delenv("no_proxy", raising=False)
    assert UMBridge(url).log_density(X) == -0.5
    assert UMBridge(url.replace("127.0.0.1", "localhost")).log_density(X) == -0.5
    with pytest.raises(EvaluationError, match="Connection refused"):
        UMBridge("http://192.0.2.1")


@pytest.mark.parametrize("folder", ["echo", "echo-page", "echo-all"])
def test_entries_of_the_configuration_are_in_no_message(url: str, folder: str) -> None:
    config = {"login": {"password": SECRET, "pins": [123456]}, "mesh": "x"}
    with pytest.raises((ModelError, ParameterError)) as caught:
        UMBridge(f"{url}/{folder}", config=config).log_density(X)
    message = str(caught.value)
    assert SECRET not in message
    assert "123456" not in message
    assert "<config: password>" in message
    assert repr(config) not in repr(UMBridge(url, config=config))
