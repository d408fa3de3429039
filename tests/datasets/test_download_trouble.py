"""A failed download ends the workflow's job in bounded time with a remedy, and keeps other data."""

from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest
import yaml

from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.workflow

Answer = Callable[[BaseHTTPRequestHandler], None]
SERVER_PATIENCE_S = 600.0
"""How long a server lets a client wait that has no limits of its own."""


def cut_midway(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", "1000000")
    request.end_headers()
    request.wfile.write(b"age;job\n" * 1000)


def wrong_bytes(request: BaseHTTPRequestHandler) -> None:
    body = b"<html>Please log in</html>"
    request.send_response(200)
    request.send_header("Content-Length", str(len(body)))
    request.end_headers()
    request.wfile.write(body)


def no_answer(request: BaseHTTPRequestHandler) -> None:
    pass


BY_HAND = "put bank-additional-full.csv into data/raw, name a mirror that has it (data.mirror in the config)"


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (cut_midway, ("no source of bank could be reached", "{url}: ", "bytes read", BY_HAND)),
        (wrong_bytes, ("bank-additional-full.csv: sha256 is", "expected", "it came from {url}", "data.mirror")),
        (no_answer, ("no source of bank could be reached", "{url}: no answer within the time limit", BY_HAND)),
    ],
)
def test_a_bad_download_is_given_up_before_the_server_ends_it_and_leaves_nothing(
    answer: Answer,
    told: tuple[str, ...],
    serve: Callable[[Answer], str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("RNSHMC_DATA_MIRROR", raising=False)
    given_up, ended_by_server = Event(), Event()

    def open_until_given_up(request: BaseHTTPRequestHandler) -> None:
        answer(request)
        if answer is no_answer and not given_up.wait(SERVER_PATIENCE_S):
            ended_by_server.set()

    url = f"{serve(open_until_given_up)}/bank.csv"
    project = copy_project(tmp_path / "project")
    raw = project.folder / "data/raw"
    raw.mkdir()
    (raw / "a9a").write_bytes(b"of another data set")
    take_from(url, project)
    done = project.snakemake("--cores", "1", "--config", "data={policy: real-only}", "--", "data/raw/bank.json")
    given_up.set()
    assert not ended_by_server.is_set()
    assert done.returncode != 0
    for words in (*told, "Rule download failed to make data/raw/bank.json"):
        assert words.format(url=url) in done.stdout
    assert "Traceback" not in done.stdout
    assert [(path.name, path.read_bytes()) for path in raw.iterdir()] == [("a9a", b"of another data set")]


def take_from(url: str, project: Project) -> None:
    """Make ``url`` the only source of Bank Marketing."""
    path = project.folder / "data/sources.yaml"
    sources = yaml.safe_load(path.read_text(encoding="utf-8"))
    sources["files"]["bank-additional-full.csv"]["urls"] = [{"url": url}]
    path.write_text(yaml.safe_dump(sources), encoding="utf-8")
