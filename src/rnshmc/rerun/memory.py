"""What the analysis of source texts gave, remembered between runs.

Each plan of a workflow analyses the package, which takes a second: every command of a user, every job on a cluster.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

_ANALYSIS = ("closure.py", "code_digest.py", "error_classes.py")
"""Files beside this one: what they compute is forgotten when they change."""


class Memory:
    """Answers about source texts, in a file if one is given.

    Parameters
    ----------
    file
        Where answers are kept, one per line, each written as it is computed. What cannot be read counts as unknown,
        and a file that cannot be written costs only the time.
    """

    def __init__(self, file: Path | None = None) -> None:
        self._file = file
        self._answers = dict(_read(file)) if file else {}

    def recall(self, question: str, text: str, answer: Callable[[], str]) -> str:
        """The answer to a question about a text: remembered, or computed by ``answer``."""
        key = f"{_version()} {question} {hashlib.sha256(text.encode()).hexdigest()}"
        if key not in self._answers:
            self._answers[key] = answer()
            if self._file:
                _append(self._file, key, self._answers[key])
        return self._answers[key]


def _append(file: Path, key: str, answer: str) -> None:
    with contextlib.suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps([key, answer]) + "\n")


def _read(file: Path) -> Iterator[tuple[str, str]]:
    """The answers in a file, without lines that another process was stopped in or wrote at the same time."""
    with contextlib.suppress(OSError):
        for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(ValueError, TypeError):
                key, answer = json.loads(line)
                yield str(key), str(answer)


@cache
def _version() -> str:
    files = (Path(__file__).with_name(name) for name in _ANALYSIS)
    return hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:16]
