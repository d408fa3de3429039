"""The file of evaluations: what is written is read, and a killed writer costs the line it was writing at most."""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from rnshmc.errors import DataError, ParameterError, StoreError
from rnshmc.inference.exact.evaluation import Evaluation
from rnshmc.inference.exact.evaluation_log import EvaluationLog

NAMES = ["a", "b"]
FOUND = (
    Evaluation(np.array([1 / 3, -1e-300]), math.pi, np.array([0.1, math.e])),
    Evaluation(np.array([2.0, 0.0]), math.inf, with_gradient=False),
    Evaluation(np.array([3.0, 0.0]), math.inf, None, 'ValueError: "no"\nconvergence \N{GREEK SMALL LETTER MU}'),
    Evaluation(np.array([4.0, 0.0]), 2.0, None, "the gradient is nan in entry 0"),
)


def content(found: Evaluation) -> tuple[object, ...]:
    """An evaluation to the last bit."""
    gradient = None if found.gradient is None else found.gradient.tobytes()
    value = np.float64(found.value).tobytes()
    return found.point.tobytes(), value, gradient, found.failure, found.with_gradient


def same(one: Evaluation, other: Evaluation) -> bool:
    return content(one) == content(other)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    evaluation_log = EvaluationLog(tmp_path / "new/evaluations.jsonl", NAMES)
    assert evaluation_log.records == ()
    for found in FOUND:
        evaluation_log.append(found)
    evaluation_log.close()
    return tmp_path / "new/evaluations.jsonl"


def reopened(path: Path, names: list[str] = NAMES, *, resume: bool = True) -> tuple[Evaluation, ...]:
    evaluation_log = EvaluationLog(path, names, resume=resume)
    evaluation_log.close()
    return evaluation_log.records


def test_evaluations_are_read_back_to_the_last_bit(path: Path) -> None:
    assert all(map(same, reopened(path), FOUND))
    assert len(reopened(path)) == len(FOUND)
    assert all(json.loads(line) for line in path.read_text().splitlines())


@pytest.mark.parametrize("cut", range(1, 60, 7))
def test_an_incomplete_last_line_is_removed_and_the_next_one_is_complete(path: Path, cut: int) -> None:
    path.write_bytes(path.read_bytes()[:-cut])
    evaluation_log = EvaluationLog(path, NAMES)
    assert all(map(same, evaluation_log.records, FOUND[:-1]))
    assert len(evaluation_log.records) == len(FOUND) - 1
    evaluation_log.append(FOUND[-1])
    evaluation_log.close()
    assert len(reopened(path)) == len(FOUND)


@pytest.mark.parametrize("kept", [0, 1, 5, 20])
def test_an_incomplete_first_line_is_written_again(path: Path, kept: int) -> None:
    path.write_bytes(path.read_bytes()[:kept])
    assert reopened(path) == ()
    assert path.read_text() == '{"format": "rnshmc evaluations 1", "names": ["a", "b"]}\n'


def test_a_file_has_log_densities_as_the_user_gave_them(path: Path) -> None:
    first, zero, failed, _ = map(json.loads, path.read_text().splitlines()[1:])
    assert (first["log_density"], first["gradient"]) == (-math.pi, [-0.1, -math.e])
    assert (zero["log_density"], "gradient" in zero) == ("-inf", False)
    assert (failed["log_density"], failed["gradient"]) == (None, None)


def test_files_of_another_kind_are_refused_and_unchanged(tmp_path: Path) -> None:
    other = '{"format": "other", "names": []}\n'
    unsized = '{"format": "rnshmc runs 1", "names": ["a", "b"], "outputs": [3]}\n'
    for text in ("x,y\n1,2\n", "something else", other, unsized, "[1]\n", '{"format": "my config"}', '{"format": 1}\n'):
        file = tmp_path / "other.txt"
        file.write_text(text)
        with pytest.raises(DataError, match=r"other\.txt is not a file of evaluations"):
            EvaluationLog(file, NAMES)
        assert file.read_text() == text


def test_other_parameters_are_refused(path: Path) -> None:
    with pytest.raises(StoreError, match="evaluations of the parameters a, b, this target has a, c"):
        EvaluationLog(path, ["a", "c"])


def test_a_damaged_line_is_named(path: Path) -> None:
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:2], '{"x": [1.0], "log_density": 2.0}', *lines[2:]]) + "\n")
    with pytest.raises(DataError, match=r"line 3: expected 2 parameters"):
        EvaluationLog(path, NAMES)
    path.write_text("\n".join([*lines[:2], "nonsense", *lines[2:]]) + "\n")
    with pytest.raises(DataError, match=r"line 3: not an evaluation"):
        EvaluationLog(path, NAMES)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"x": [1.0, 2.0], "log_density": NaN}', "NaN is not a finite number"),
        ('{"x": [1.0, 2.0], "log_density": -Infinity}', "-Infinity is not a finite number"),
        ('{"x": [1.0, 2.0], "log_density": 1e400}', "log_density is inf, expected a finite number, null or"),
        ('{"x": [1.0, 2.0], "log_density": 1' + "0" * 400 + "}", "too large"),
        ('{"x": [1.0, 2.0], "log_density": "nan"}', "log_density is 'nan'"),
        ('{"x": [1.0, 2.0], "log_density": true}', "log_density is True"),
        ('{"x": [1.0, -1e400], "log_density": 1.0}', "a number is not finite"),
        ('{"x": [1.0, null], "log_density": 1.0}', "a number is not finite"),
        ('{"x": [1.0, 2.0], "log_density": 1.0, "gradient": [1e400, 0.0]}', "a number is not finite"),
    ],
)
def test_numbers_that_are_not_finite_are_refused(path: Path, line: str, reason: str) -> None:
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(DataError, match=rf"jsonl, line 6: not an evaluation \(.*{reason}.*\); remove the line"):
        EvaluationLog(path, NAMES)


def test_infinite_outputs_of_a_run_are_refused_and_null_is_read(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    first = '{"format": "rnshmc runs 1", "names": ["a", "b"], "outputs": {"": 2}}\n{"x": [1, 2], "outputs": '
    path.write_text(first + "[1.0, null]}\n")
    evaluation_log = EvaluationLog(path, NAMES, outputs={"": 2})
    evaluation_log.close()
    assert evaluation_log.records[0].run is not None
    np.testing.assert_array_equal(evaluation_log.records[0].run.outputs, [1.0, np.nan])
    path.write_text(first + "[1.0, 1e400]}\n")
    with pytest.raises(DataError, match="line 2: not a run"):
        EvaluationLog(path, NAMES, outputs={"": 2})


def test_evaluations_are_never_overwritten(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="has 4 evaluations already"):
        EvaluationLog(path, NAMES, resume=False)
    assert path.read_bytes() == before


def test_one_process_writes(path: Path) -> None:
    evaluation_log = EvaluationLog(path, NAMES)
    program = (
        f"from rnshmc.inference.exact.evaluation_log import EvaluationLog; EvaluationLog({str(path)!r}, ['a', 'b'])"
    )
    other = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert "is being written by another run" in other.stderr
    evaluation_log.close()
    subprocess.run([sys.executable, "-c", program], check=True)


def test_one_run_of_a_process_writes_and_readers_do_not_release_its_lock(path: Path) -> None:
    first = EvaluationLog(path, NAMES)
    first.append(FOUND[0])
    for _ in range(2):
        with pytest.raises(StoreError, match=r"is being written by another run; wait for it, or name another file"):
            EvaluationLog(path, NAMES)
        path.read_text()  # as a callback might; the lock outlasts it
        other = subprocess.run([sys.executable, "-c", OPENED.format(path=path)], capture_output=True, check=False)
        assert b"is being written by another run" in other.stderr
    first.close()
    assert len(reopened(path)) == len(FOUND) + 1


OPENED = "from rnshmc.inference.exact.evaluation_log import EvaluationLog; EvaluationLog('{path}', ['a', 'b'])"


def test_a_forked_process_that_outlives_the_run_holds_no_lock(path: Path) -> None:
    evaluation_log = EvaluationLog(path, NAMES)
    end, begin = os.pipe()
    if (child := os.fork()) == 0:
        os.read(end, 1)
        os._exit(0)
    try:
        evaluation_log.close()
        assert len(reopened(path)) == len(FOUND)
    finally:
        os.write(begin, b"x")
        os.waitpid(child, 0)
        os.close(end)
        os.close(begin)


def test_a_forked_process_that_has_not_run_yet_holds_no_lock(path: Path) -> None:
    evaluation_log = EvaluationLog(path, NAMES)
    [file] = [int(one.name) for one in Path("/proc/self/fd").iterdir() if one.exists() and one.samefile(path)]
    inherited = os.dup(file)
    try:
        evaluation_log.close()
        assert reopened(path) is not None
    finally:
        os.close(inherited)


def test_lines_appended_by_another_run_are_not_removed(path: Path) -> None:
    """On a file system without locks, or with a program that does not request them."""
    evaluation_log = EvaluationLog(path, NAMES)
    evaluation_log.append(FOUND[0])
    with path.open("a") as file:
        file.write('{"x": [5.0, 5.0], "log_density": 1.0}\n')
    before = path.read_bytes()
    evaluation_log.forget()
    evaluation_log.close()
    assert path.read_bytes() == before


def test_a_file_removed_during_the_run_is_written_again(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    evaluation_log = EvaluationLog(path, NAMES)
    path.unlink()
    evaluation_log.append(FOUND[0])
    evaluation_log.append(FOUND[1])
    with pytest.raises(StoreError, match="is being written by another run"):
        EvaluationLog(path, NAMES)
    evaluation_log.close()
    assert all(map(same, reopened(path), (*FOUND, FOUND[0], FOUND[1])))
    assert f"filepath: {path} was removed or replaced during the run; all evaluations are in {path}" in caplog.text


def test_a_file_that_replaced_it_is_unchanged(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    evaluation_log = EvaluationLog(path, NAMES)
    (path.parent / "another").write_text("another")
    (path.parent / "another").replace(path)
    evaluation_log.append(FOUND[0])
    evaluation_log.close()
    assert path.read_text() == "another"
    assert evaluation_log.path != path
    assert all(map(same, reopened(evaluation_log.path), (*FOUND, FOUND[0])))
    assert f"all evaluations are in {evaluation_log.path}" in caplog.text


def test_evaluations_are_written_to_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    monkeypatch.setattr("rnshmc.inference.exact.evaluation_log.SYNC_S", 0.0)
    evaluation_log = EvaluationLog(path, NAMES)
    evaluation_log.append(FOUND[0])
    assert len(synced) == 1
    evaluation_log.close()
    assert len(synced) == 2
