"""What a run tells while it runs."""

import io
import sys

import pytest
from tqdm import tqdm

from rnshmc.inference.exact.archive import Progress
from rnshmc.inference.exact.evaluations import Spent
from rnshmc.inference.progress import listening, show

STAGES = (Progress("mode", Spent(3, 3, 1), float("nan"), None), Progress("training", Spent(10, 10, 1), 0.21, 12))


def test_a_callback_is_told_and_no_bar_is_drawn_into_a_log(capsys: pytest.CaptureFixture[str]) -> None:
    told: list[Progress] = []
    with listening(told.append, bar=True) as tell:
        for progress in STAGES:
            tell(progress)
    assert tuple(told) == STAGES
    assert capsys.readouterr().err == ""


def test_the_bar_shows_stage_costs_and_what_is_expected() -> None:
    with tqdm(file=io.StringIO()) as bar:
        for progress in STAGES:
            show(bar, progress)
        assert (bar.n, bar.total, bar.desc) == (20, 32, "training: ")
        assert bar.postfix == "sd(U-V)=0.21, failed=1"


def test_on_a_terminal_there_are_both(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal, told = Terminal(), list[Progress]()
    monkeypatch.setattr(sys, "stderr", terminal)
    with listening(told.append, bar=True) as tell:
        tell(STAGES[1])
    assert told == [STAGES[1]]
    assert "training" in terminal.getvalue()
