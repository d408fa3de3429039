"""Tables of numbers are read whole, and a bad cell is named by file, line and column."""

import gzip
import zipfile
from pathlib import Path

import pytest

from rnshmc.datasets import unpack
from rnshmc.datasets.numeric import read_numbers
from rnshmc.errors import DataError

NAMED = "url, a, b\nhttp://x, 1, 2.5\nhttp://y, -3, 4e2\n"


def written(folder: Path, text: str, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_the_header_names_the_columns_and_text_is_left_out(tmp_path: Path) -> None:
    table = read_numbers(written(tmp_path, NAMED), text=("url",))
    assert list(table.columns) == ["a", "b"]
    assert table.to_numpy().tolist() == [[1.0, 2.5], [-3.0, 400.0]]


def test_a_file_without_a_header_takes_names(tmp_path: Path) -> None:
    table = read_numbers(written(tmp_path, "1,2\r\n3,4\r\n"), ("a", "b"))
    assert table["b"].tolist() == [2.0, 4.0]


def test_archives_are_opened(tmp_path: Path) -> None:
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"1,2\n"))
    assert read_numbers(tmp_path / "table.csv.gz", ("a", "b"))["a"].tolist() == [1.0]
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
        archive.writestr("folder/table.csv", NAMED)
    table = read_numbers(tmp_path / "table.zip", member="folder/table.csv", text=("url",))
    assert table["a"].tolist() == [1.0, -3.0]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("-3", "three", "line 3, column 'a': 'three' is not a finite number"),
        ("-3", "inf", "line 3, column 'a': inf is not a finite number"),
        ("2.5", "", "line 2, column 'b': nan is not a finite number"),
        (", 4e2", "", "line 3, column 'b': nan is not a finite number"),
        ("4e2\n", "4e2\n\nhttp://z, 1, 2\n", "line 4, column 'a': nan is not a finite number"),
        ("4e2", "4e2, 5", "Expected 3 fields"),
        ("url, a, b", "url, a", "3 columns, expected 2"),
        ("url, a, b", "url, a, b, c", "3 columns, expected 4"),
        ("\nhttp://x, 1, 2.5\nhttp://y, -3, 4e2\n", "", "No columns to parse"),
    ],
)
def test_a_bad_table_is_named(old: str, new: str, message: str, tmp_path: Path) -> None:
    path = written(tmp_path, NAMED.replace(old, new, 1))
    with pytest.raises(DataError, match=rf"table\.csv: .*{message}"):
        read_numbers(path, text=("url",))


def test_lines_are_counted_from_one_without_a_header_too(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="line 2, column 'b': 'x' is not a finite number"):
        read_numbers(written(tmp_path, "1,2\n3,x\n"), ("a", "b"))


@pytest.mark.parametrize(
    ("name", "member", "content"),
    [
        ("table.csv.gz", None, b"1,2\n"),
        ("table.csv.gz", None, gzip.compress(b"1,2\n" * 1000, mtime=0)[:30]),
        ("table.zip", "table.csv", b"PK and no more"),
        ("table.csv", None, b"\xff\xfe1,2\n"),
    ],
    ids=["no gzip", "cut gzip", "no zip", "no utf-8"],
)
def test_damaged_files_are_named(name: str, member: str | None, content: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=name):
        read_numbers(tmp_path / name, ("a", "b"), member=member)


def table_zip(folder: Path) -> bytearray:
    """The bytes of an archive with a table of zeros, deflated."""
    with zipfile.ZipFile(folder / "table.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("table.csv", "a,b\n" + "0,0\n" * 1000)
    return bytearray((folder / "table.zip").read_bytes())


def test_an_archive_of_an_unknown_kind_or_with_a_broken_stream_is_named(tmp_path: Path) -> None:
    unknown = table_zip(tmp_path)
    for signature, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        unknown[unknown.index(signature) + offset] = 77
    broken = table_zip(tmp_path)
    broken[39:49] = b"\xff" * 10
    for content, reason in ((unknown, "compression"), (broken, "Error -3")):
        (tmp_path / "table.zip").write_bytes(bytes(content))
        with pytest.raises(DataError, match=rf"table\.zip: table\.csv cannot be read: .*{reason}"):
            read_numbers(tmp_path / "table.zip", member="table.csv")


def test_an_archive_that_unpacks_to_more_than_the_limit_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "table.csv.gz").write_bytes(gzip.compress(b"1,2\n" * 1000))
    content = table_zip(tmp_path)
    monkeypatch.setattr(unpack, "MOST_BYTES", 3999)
    with pytest.raises(DataError, match=r"table\.csv\.gz: the file unpacks to more than 3999 bytes, the limit; unpack"):
        read_numbers(tmp_path / "table.csv.gz", ("a", "b"))
    with pytest.raises(DataError, match=r"table\.zip: table\.csv unpacks to more than 3999 bytes"):
        read_numbers(tmp_path / "table.zip", member="table.csv")
    # An archive may state a size that is not true.
    start = content.index(b"PK\x01\x02") + 24
    content[start : start + 4] = (100).to_bytes(4, "little")
    (tmp_path / "table.zip").write_bytes(bytes(content))
    with pytest.raises(DataError, match=r"table\.zip: "):
        read_numbers(tmp_path / "table.zip", member="table.csv")


def test_an_archive_without_the_table_is_named(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "table.zip", "w") as archive:
        archive.writestr("other.csv", NAMED)
    with pytest.raises(DataError, match=r"table\.zip: .*table\.csv"):
        read_numbers(tmp_path / "table.zip", member="table.csv")
