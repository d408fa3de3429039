"""The seconds of a killed job are kept, like its evaluations."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rnshmc.errors import StoreError
from rnshmc.store.clock import kept_stopwatch

EVERY_S = 0.05
PROGRAM = f"""
import time
from pathlib import Path
from sys import argv
from rnshmc.store.clock import kept_stopwatch
with kept_stopwatch(Path(argv[1]), every_s={EVERY_S}):
    print("runs", flush=True)
    time.sleep(600)
"""
RAN_S = 1.0


def test_a_killed_start_leaves_its_seconds(tmp_path: Path) -> None:
    path = tmp_path / "chain1.json"
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        assert started.stdout.readline() == "runs\n"
        begun = time.perf_counter()
        time.sleep(RAN_S)
        started.send_signal(signal.SIGKILL)
        started.wait()
        ran = time.perf_counter() - begun
    with kept_stopwatch(path) as watch:
        first = watch.read()
        time.sleep(EVERY_S)
        later = watch.read()
    # The writer may have been kept from writing for a while on a busy machine, but not for half of the time.
    assert RAN_S / 2 < first["wall_s"] < ran + RAN_S
    assert first["cpu_s"] < first["wall_s"]
    assert later["wall_s"] >= first["wall_s"] + EVERY_S


def test_an_error_leaves_its_seconds(tmp_path: Path) -> None:
    path = tmp_path / "chain1.json"

    def fails() -> None:
        with kept_stopwatch(path):
            time.sleep(EVERY_S)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    with kept_stopwatch(path) as watch:
        assert watch.read()["wall_s"] >= EVERY_S


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "chain1.json"
    path.write_text("{")
    with pytest.raises(StoreError, match=r"chain1\.json: cannot read seconds"), kept_stopwatch(path):
        pass
