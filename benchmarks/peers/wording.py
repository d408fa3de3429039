"""Words of the pages: medians over seeds, counts, seconds, the machine."""

import os
import platform
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from peers.judge import Verdict

CLOSED = ("", "</details>", "")
"""Lines that end what `opened` begins."""


def opened(summary: str) -> tuple[str, ...]:
    """Lines that fold what follows, on the site and on GitHub."""
    return ('<details markdown="1">', f"<summary>{summary}</summary>", "")


def machine() -> str:
    """What the runs were made on, and with what."""
    return (
        f"{processor()}, {os.cpu_count()} processors, one BLAS thread per run; {platform.system()}, "
        f"Python {platform.python_version()}, NumPy {np.__version__}"
    )


def versions(runs: Sequence[Verdict]) -> str:
    """Every sampler with its version."""
    return ", ".join(dict.fromkeys(f"{run.peer} {run.version}" for run in sorted(runs, key=lambda run: run.peer)))


def processor() -> str:
    names = [
        line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line
    ]
    return names[0] if names else platform.machine()


def median(runs: Sequence[Verdict], field: str) -> float:
    """The median, the upper one of two: a value that was seen, infinite ones among them."""
    return float(sorted(getattr(run, field) for run in runs)[len(runs) // 2])


def spread(runs: Sequence[Verdict], field: str) -> str:
    """Median, and the largest in parentheses if that is another number."""
    middle, largest = count(median(runs, field)), count(max(getattr(run, field) for run in runs))
    return middle if middle == largest else f"{middle} ({largest})"


def count(number: float) -> str:
    if not np.isfinite(number):
        return "not reached"
    return f"{number:.0f}" if number < 1e5 else f"{number:.2g}"


def seconds(number: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if number >= scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number / 1e-6:.3g} µs"
