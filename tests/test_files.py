"""Results are written atomically."""

import errno
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rnshmc.errors import DataError, StoreError
from rnshmc.files import atomic_path, buffered, read_npz, read_yaml, write_json


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def write_half(path: Path, failure: BaseException | type[BaseException]) -> None:
    with atomic_path(path) as temporary:
        temporary.write_text("half")
        raise failure


def test_nothing_stands_under_the_final_name_before_the_end(tmp_path: Path) -> None:
    final = tmp_path / "new" / "result.txt"
    with atomic_path(final) as temporary:
        temporary.write_text("whole")
        assert not final.exists()
    assert final.read_text() == "whole"
    assert files(final.parent) == {"result.txt"}


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, failure: type[BaseException]) -> None:
    final = tmp_path / "result.txt"
    final.write_text("old")
    with pytest.raises(failure):
        write_half(final, failure)
    assert final.read_text() == "old"
    assert files(tmp_path) == {"result.txt"}


@pytest.mark.parametrize(
    ("code", "words"), [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only"), (errno.EFBIG, "raise the limit")]
)
def test_what_keeps_a_file_from_being_written_is_said_with_the_remedy(tmp_path: Path, code: int, words: str) -> None:
    with pytest.raises(StoreError, match=rf"result\.txt cannot be written: .*{words}"):
        write_half(tmp_path / "result.txt", OSError(code, "no"))
    assert files(tmp_path) == set()


@pytest.mark.parametrize(
    "failure", [OSError(errno.EIO, "broken"), PermissionError(errno.EACCES, "no", "/elsewhere/secret.txt")]
)
def test_other_failures_stay_what_they_are(tmp_path: Path, failure: OSError) -> None:
    with pytest.raises(type(failure)) as raised:
        write_half(tmp_path / "result.txt", failure)
    assert raised.value is failure


def test_writers_that_choose_a_format_by_suffix_are_served(tmp_path: Path) -> None:
    with atomic_path(tmp_path / "a.npz") as temporary:
        np.savez(temporary, x=np.arange(3.0))
    with np.load(tmp_path / "a.npz") as archive:
        np.testing.assert_array_equal(archive["x"], [0.0, 1.0, 2.0])


def test_writing_nothing_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"result\.txt"), atomic_path(tmp_path / "result.txt"):
        pass


def test_json_is_read_back_and_equal_contents_are_equal_files(tmp_path: Path) -> None:
    write_json(tmp_path / "a.json", {"x": 1, "y": [0.1, None]})
    write_json(tmp_path / "b.json", {"y": [0.1, None], "x": 1})
    assert json.loads((tmp_path / "a.json").read_text()) == {"x": 1, "y": [0.1, None]}
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.mark.parametrize("content", [{"x": float("nan")}, {"x": np.arange(2)}])
def test_what_json_does_not_know_is_an_error_that_names_the_file(tmp_path: Path, content: object) -> None:
    with pytest.raises(StoreError, match=r"bad\.json"):
        write_json(tmp_path / "bad.json", content)
    assert files(tmp_path) == set()


def test_yaml_has_the_numbers_and_words_that_are_meant(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(
        "limits: [1e1, -1E+3, .5e1, 1.5e-3, 7]\nnames: [NO, N, on, Truely]\nswitches: [true, False, null]\n"
    )
    assert read_yaml(file) == {
        "limits": [10.0, -1000.0, 5.0, 0.0015, 7],
        "names": ["NO", "N", "on", "Truely"],
        "switches": [True, False, None],
    }


def test_a_merged_key_may_be_given_again(tmp_path: Path) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text("a: &a {x: 1, y: 2}\nb: &b {<<: *a, x: 3}\nc: {<<: *b, y: 4}\n")
    assert read_yaml(file)["c"] == {"x": 3, "y": 4}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a: 1\nb: {c: 1,\n  c: 2}\n", r"settings.yaml, line 3: the key 'c' appears twice"),
        ("a: [1\nb: 2", r"settings.yaml, line 2: expected ',' or '\]', but got ':'"),
        ("a: !!python/object:os.system []", r"settings.yaml, line 1: could not determine a constructor"),
        ("a: 2026-13-45", r"settings.yaml cannot be read: month must be in 1..12"),
        ("a: \x01", r"settings.yaml cannot be read: unacceptable character"),
    ],
)
def test_yaml_that_cannot_be_used_is_named_by_file_and_line(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "settings.yaml"
    file.write_text(content)
    with pytest.raises(DataError, match=message):
        read_yaml(file)


def test_a_buffer_is_on_disk_after_the_block_alone(tmp_path: Path) -> None:
    with buffered(tmp_path / "result.bin") as content:
        content.write(b"whole")
        assert files(tmp_path) == set()
    assert (tmp_path / "result.bin").read_bytes() == b"whole"


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    np.savez(tmp_path / "data.npz", X=np.arange(6.0).reshape(3, 2), origin="real")
    return tmp_path / "data.npz"


def test_the_named_arrays_of_an_archive_are_read(archive: Path) -> None:
    assert list(read_npz(archive)) == ["X", "origin"]
    (X,) = read_npz(archive, "X").values()
    np.testing.assert_array_equal(X, np.arange(6.0).reshape(3, 2))


@pytest.mark.parametrize("written", [np.savez, np.savez_compressed])
def test_no_changed_byte_of_an_archive_changes_what_is_read(tmp_path: Path, written: Any) -> None:
    path = tmp_path / "data.npz"
    arrays = {"X": np.arange(6.0).reshape(3, 2), "origin": np.array("real")}
    written(path, **arrays)
    whole, refused = path.read_bytes(), 0
    for place in range(0, len(whole), 3):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 0x55]) + whole[place + 1 :])
        try:
            read = read_npz(path, *arrays)
        except DataError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ")  # noqa: PT017 (some bytes mean nothing)
        else:
            assert all((read[name] == values).all() for name, values in arrays.items())
    assert refused > len(whole) / 12


def test_a_smaller_shape_in_a_header_is_refused(archive: Path) -> None:
    content = archive.read_bytes()
    assert content.count(b"(3, 2)") == 1
    archive.write_bytes(content.replace(b"(3, 2)", b"(2, 2)"))
    with pytest.raises(DataError, match=r"data\.npz: not a data set: Bad CRC-32"):
        read_npz(archive, "X", says="not a data set: {}")


def test_an_archive_with_an_unknown_compression_is_refused_by_name(archive: Path) -> None:
    content = bytearray(archive.read_bytes())
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        content[content.index(signature) + offset] = 77
    archive.write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"data\.npz: cannot be read: .*compression"):
        read_npz(archive)


def test_a_broken_stream_is_refused_by_name(archive: Path) -> None:
    np.savez_compressed(archive, X=np.zeros(1000))
    with zipfile.ZipFile(archive) as opened:
        start = opened.getinfo("X.npy").header_offset + 30 + len("X.npy")
    content = bytearray(archive.read_bytes())
    content[start : start + 40] = b"\xff" * 40
    archive.write_bytes(bytes(content))
    with pytest.raises(StoreError, match=r"data\.npz: cannot be read: Error -3"):
        read_npz(archive, error=StoreError)


def test_a_missing_array_is_named(archive: Path) -> None:
    with pytest.raises(DataError, match=r"data\.npz: cannot be read: it has no array 'y'"):
        read_npz(archive, "X", "y")
