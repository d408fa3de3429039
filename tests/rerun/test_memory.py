"""Answers about source texts are remembered between runs, and damage to their file costs no more than time."""

from pathlib import Path

import pytest

from rnshmc.rerun import memory
from rnshmc.rerun.code_digest import code_digest
from rnshmc.rerun.memory import Memory


def refuse() -> str:
    raise AssertionError("this was known")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "folder/memory.jsonl"


def test_an_answer_is_computed_once(file: Path) -> None:
    assert Memory(file).recall("length", "abc", lambda: "3") == "3"
    assert Memory(file).recall("length", "abc", refuse) == "3"


@pytest.mark.parametrize(("question", "text"), [("length", "abcd"), ("first", "abc")])
def test_another_question_or_text_has_its_own_answer(file: Path, question: str, text: str) -> None:
    Memory(file).recall("length", "abc", lambda: "3")
    assert Memory(file).recall(question, text, lambda: "other") == "other"


def test_answers_are_forgotten_when_the_analysis_changes(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory(file).recall("length", "abc", lambda: "3")
    monkeypatch.setattr(memory, "_version", lambda: "another")
    assert Memory(file).recall("length", "abc", lambda: "4") == "4"


@pytest.mark.parametrize("damage", ['["cut', "[1", "{}", "\x00", '["a", "b", "c"]'])
def test_a_damaged_line_is_unknown_and_the_others_are_not(file: Path, damage: str) -> None:
    Memory(file).recall("length", "abc", lambda: "3")
    file.write_text(f"{damage}\n{file.read_text(encoding='utf-8')}{damage}", encoding="utf-8")
    kept = Memory(file)
    assert kept.recall("length", "abc", refuse) == "3"
    kept.recall("length", "abcd", lambda: "4")  # on the line that was cut
    assert Memory(file).recall("length", "abc", refuse) == "3"


def test_a_file_that_cannot_be_written_costs_time_only(tmp_path: Path) -> None:
    (tmp_path / "folder").write_text("not a folder", encoding="utf-8")
    assert Memory(tmp_path / "folder/memory.jsonl").recall("length", "abc", lambda: "3") == "3"


def test_a_digest_is_the_same_from_memory_and_follows_an_edit(tmp_path: Path, file: Path) -> None:
    package, script = tmp_path / "src/rnshmc", tmp_path / "script.py"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "a.py").write_text("A = 1\n", encoding="utf-8")
    script.write_text("from rnshmc.a import A\n", encoding="utf-8")

    def digest(memory: Memory | None) -> str:
        return code_digest(Path("script.py"), (), tmp_path, memory=memory)

    before = digest(Memory(file))
    assert digest(Memory(file)) == before == digest(None)
    (package / "a.py").write_text("A = 2\n", encoding="utf-8")
    assert digest(Memory(file)) == digest(None) != before
