"""Raw data for the tests that need them, and a server on the loopback that misbehaves as told."""

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.sources import SourceTable, load_sources

DATA = Path(__file__).parents[2] / "data"

Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture(scope="session")
def table() -> SourceTable:
    return load_sources(DATA / "sources.yaml")


@pytest.fixture(scope="session")
def mirror() -> Path:
    if not (mirror := os.environ.get("RNSHMC_DATA_MIRROR")):
        pytest.skip("RNSHMC_DATA_MIRROR is not set: no real raw data at hand")
    return Path(mirror)


@pytest.fixture(scope="session")
def raw_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("raw")


@pytest.fixture(scope="session")
def bank(table: SourceTable, mirror: Path, raw_dir: Path) -> Receipt:
    return fetch("bank", table, raw_dir=raw_dir, mirror=mirror, policy="real-only")


@pytest.fixture(scope="session")
def adult(table: SourceTable, mirror: Path, raw_dir: Path) -> Receipt:
    return fetch("adult", table, raw_dir=raw_dir, mirror=mirror, policy="real-only")


@pytest.fixture
def serve(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Answer], str]]:
    """A function that serves GET by ``answer`` and returns the base address."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                answer(self)

            def log_message(self, format: str, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
