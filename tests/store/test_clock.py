"""The seconds of a killed job are kept, like its evaluations."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from rnshmc.errors import StoreError
from rnshmc.store.clock import kept_stopwatch

EVERY_S = 0.05
# It prints what the file has after the first write by the thread.
PROGRAM = f"""
import time
from pathlib import Path
from sys import argv
from rnshmc.store.clock import kept_stopwatch
path = Path(argv[1])
with kept_stopwatch(path, every_s={EVERY_S}):
    begun = path.read_text()
    while (written := path.read_text()) == begun:
        time.sleep({EVERY_S})
    print(" ".join(written.split()), flush=True)
    time.sleep(600)
"""


def test_a_killed_start_leaves_its_seconds(tmp_path: Path) -> None:
    path, begun = tmp_path / "chain1.json", time.perf_counter()
    with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path)], stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        written = json.loads(started.stdout.readline())
        started.send_signal(signal.SIGKILL)
        started.wait()
    with kept_stopwatch(path) as watch:
        first = watch.read()
        time.sleep(EVERY_S)
        later = watch.read()
    assert written["wall_s"] >= EVERY_S
    assert all(first[name] >= written[name] for name in ("wall_s", "cpu_s"))
    assert later["wall_s"] >= first["wall_s"] + EVERY_S
    assert later["wall_s"] <= time.perf_counter() - begun


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
