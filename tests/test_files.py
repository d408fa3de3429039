"""A result is on disk whole or not at all."""

import errno
import json
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import DataError, StoreError
from rnshmc.files import atomic_path, read_yaml, write_json


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


@pytest.mark.parametrize(("code", "words"), [(errno.ENOSPC, "disk is full"), (errno.EROFS, "read-only")])
def test_what_keeps_a_file_from_being_written_is_said_with_the_remedy(tmp_path: Path, code: int, words: str) -> None:
    with pytest.raises(StoreError, match=rf"result\.txt cannot be written: the .*{words}"):
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
