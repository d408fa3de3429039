"""Progress reports of a run."""

import io
import logging
import re
import sys
from types import ModuleType

import numpy as np
import pytest
from tqdm import tqdm

import rnshmc
from rnshmc.inference.exact.evaluation import Progress, Spent
from rnshmc.inference.progress import LINE_EVERY_S, lines, listening, show

STAGES = (
    Progress("mode", Spent(3, 3, 1, 3), float("nan"), None),
    Progress("training", Spent(10, 10, 1, 10), 0.21, 32),
)


def test_a_callback_is_told_and_no_bar_is_drawn_into_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    reported: list[Progress] = []
    with listening(reported.append, bar=True) as report:
        for progress in STAGES:
            report(progress)
    assert tuple(reported) == STAGES
    assert capsys.readouterr().err == ""


def test_the_log_has_each_stage_and_a_line_in_ten_seconds() -> None:
    times, logged = iter([0.0, 0.0, 1.0, 2.0, 10.9, 11.0, 12.0]), list[str]()
    report = lines(logged.append, stages=True, clock=lambda: next(times))
    mode, training = STAGES
    for progress in (mode, training, training, training, training, mode):
        report(progress)
    first = "mode: 3 points, 1 failed, 6 units: 3 values, 3 gradients"
    second = (
        "training: 10 points, 1 failed, 20 units: 10 values, 10 gradients, sd(U - V) = 0.21; about 32 units expected"
    )
    assert logged == [first, second, second, first]


def test_without_a_terminal_a_line_is_written_every_ten_seconds() -> None:
    times, written = iter([0.0, 9.9, 10.0, 19.9, 20.0]), list[str]()
    report = lines(written.append, stages=False, clock=lambda: next(times))
    mode, training = STAGES
    for progress in (mode, mode, training, training):
        report(progress)
    assert written == [
        "mode: 3 points, 1 failed, 6 units: 3 values, 3 gradients",
        "training: 10 points, 1 failed, 20 units: 10 values, 10 gradients, sd(U - V) = 0.21; about 32 units expected",
    ]


@pytest.mark.parametrize("bar", [True, False])
def test_a_slow_run_shows_that_it_runs_where_no_log_does(
    bar: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert LINE_EVERY_S == 10.0
    monkeypatch.setattr("rnshmc.inference.progress.LINE_EVERY_S", 0.0)
    monkeypatch.setattr("rnshmc.inference.exact.archive.REPORT_EVERY_S", -1.0)
    rnshmc.sample(lambda x: -0.5 * float(x @ x), np.ones(2), draws=20, progress_bar=bar)
    found = re.findall(r"^rnshmc: \w+: (\d+) points, \d+ units: ", capsys.readouterr().err, re.MULTILINE)
    counts = sorted({int(count) for count in found})
    # A line after each evaluation, not after a batch of them.
    assert counts == (list(range(1, counts[-1] + 1)) if bar else [])


def test_where_there_is_no_terminal_a_run_logs_its_stages(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "rnshmc"):
        rnshmc.sample(lambda x: (-0.5 * float(x @ x), -x), np.ones(2), draws=20)
    lines = [record.getMessage() for record in caplog.records if record.name == "rnshmc.inference.progress"]
    assert len({line.split(":")[0] for line in lines}) > 2
    assert all(re.match(r"[\w ]+: \d+ points, \d+ units: \d+ values, \d+ gradients", line) for line in lines)


def test_the_bar_shows_stage_costs_and_what_is_expected() -> None:
    with tqdm(file=io.StringIO()) as bar:
        for progress in STAGES:
            show(bar, progress)
        assert (bar.n, bar.total, bar.desc) == (20, 32, "training: ")
        assert bar.postfix == "points=10, sd(U-V)=0.21, failed=1"


def test_in_a_notebook_there_is_a_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class ZMQInteractiveShell:
        """Named as the shell of a kernel of Jupyter."""

    ipython = ModuleType("IPython")
    monkeypatch.setattr(ipython, "get_ipython", ZMQInteractiveShell, raising=False)
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr("rnshmc.inference.progress.tqdm", tqdm)
    with listening(None, bar=True) as report:
        report(STAGES[1])
    assert "training" in capsys.readouterr().err
    monkeypatch.setattr(ipython, "get_ipython", lambda: None)
    with listening(None, bar=True) as report:
        report(STAGES[1])
    assert capsys.readouterr().err == ""


def test_on_a_terminal_there_are_both(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, reported = Terminal(), list[Progress]()
    monkeypatch.setattr(sys, "stderr", terminal)
    with listening(reported.append, bar=True) as report:
        report(STAGES[1])
    assert reported == [STAGES[1]]
    assert "training" in terminal.getvalue()
