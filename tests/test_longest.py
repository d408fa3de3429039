"""The order in which files of tests start."""

from pathlib import Path

from tests.conftest import LONGEST


def test_files_that_start_first_exist() -> None:
    """A name that no file has would let a renamed file start last, and the others wait for it."""
    assert [name for name in LONGEST if not (Path(__file__).parent / name).is_file()] == []
