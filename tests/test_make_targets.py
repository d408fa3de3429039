"""Every target in `make help` is run by a CI job, or CONTRIBUTING.md gives the reason why not."""

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
EVERY_CHANGE = ROOT / ".ci/run"


def offered() -> set[str]:
    """Targets that `make help` lists."""
    done = subprocess.run(
        ["make", "--no-print-directory", "help"], cwd=ROOT, check=True, capture_output=True, text=True
    )
    return set(re.findall(r"^  make ([a-z-]+) ", done.stdout, re.MULTILINE))


def made_by(commands: str) -> set[str]:
    """Targets that lines of a shell script make."""
    return set(re.findall(r"^\s*make ([a-z-]+)", commands, re.MULTILINE))


def made_in_ci() -> set[str]:
    """Targets that the steps of all jobs make, themselves or by `.ci/run`."""
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text(encoding="utf-8"))["jobs"].values()
    commands = [step["run"] for job in jobs for step in job["steps"] if "run" in step]
    assert ".ci/run" in commands
    return made_by("\n".join([*commands, EVERY_CHANGE.read_text(encoding="utf-8")]))


def excepted() -> dict[str, str]:
    """Targets that no job makes, with the reasons: the table of CONTRIBUTING.md."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").split("### What CI runs")[1].split("\n## ")[0]
    return dict(re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", page, re.MULTILINE))


def test_help_lists_every_target_with_a_description() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert offered() == set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    assert {"env", "run", "test"} <= offered()


def test_every_target_is_made_in_ci_or_excepted_with_a_reason() -> None:
    assert made_in_ci() | excepted().keys() == offered()
    assert made_in_ci() & excepted().keys() == set()
