"""Raw data for the tests that need them, and a local server with programmable faults."""

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import yaml

from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.matrix import LogisticData
from rnshmc.datasets.prepare import prepare
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.sources import SourceTable, load_sources
from rnshmc.files import sha256
from rnshmc.random import stream

ROOT = Path(__file__).parents[2]
DATA = ROOT / "data"
FETCHED = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))["data"]["fetched"]

Answer = Callable[[BaseHTTPRequestHandler], None]


def receipt_of(path: Path, origin: str = "real") -> Path:
    """The file of a receipt for a raw file, beside it; or for a stand-in, where there is no raw file."""
    real = origin == "real"
    name, digest = (path.name, sha256(path)) if real else (None, None)
    receipt = path.with_name(f"{path.name}.json")
    Receipt(path.name, origin, name, digest, "a test").save(receipt)  # type: ignore[arg-type]
    return receipt


def prepared(name: str, *receipts: Path) -> LogisticData:
    """A set of the config, prepared from receipts; a stand-in has at most 60000 rows, to save seconds."""
    settings = {key: value for key, value in FETCHED[name].items() if key != "raw"}
    stand_in = dict(settings.pop("stand_in"))
    stand_in |= {"path": ROOT / stand_in["path"]} if "path" in stand_in else {"n": min(stand_in["n"], 60000)}
    return prepare(*receipts, **settings, stand_in=stand_in, rng=stream(1, "stand-in", name))


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
