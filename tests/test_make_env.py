"""The set-up script: requests to conda and apt, reruns without work, and error messages.

The tools it calls are stand-ins on a PATH of their own, which record how they were called.
"""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
INGREDIENTS = ("scripts/make-env.sh", "apt-packages.txt", "environment.yml", "pyproject.toml", "requirements.lock")
TOOLS = ("bash", "basename", "cat", "chmod", "cmp", "cp", "dirname", "env", "grep", "mkdir", "rm")

# Makes the prefix that it is asked for, with a python that records its calls in the same place.
CONDA = """
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/bin" "$2/conda-meta"
printf '#!/bin/sh\\necho "python $*" >>"%s"\\n' "$CALLS" >"$2/bin/python"
chmod +x "$2/bin/python"
"""

debian = pytest.mark.skipif(shutil.which("apt-get") is None, reason="not a Debian system")


@dataclass(frozen=True)
class Machine:
    """A copy of the set-up's inputs, and a PATH with only the tools put there."""

    project: Path
    bin: Path

    def has(self, tool: str, script: str = "") -> None:
        file = self.bin / tool
        file.write_text(f'#!/bin/sh\necho "{tool} $*" >>"$CALLS"\n{script}')
        file.chmod(0o755)

    def make_env(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = {"PATH": str(self.bin), "CALLS": str(self.project / "calls")}
        command = [str(self.project / "scripts/make-env.sh"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    def new_calls(self) -> list[str]:
        """Calls since the last time this was called."""
        calls = self.project / "calls"
        lines = calls.read_text().splitlines() if calls.exists() else []
        calls.unlink(missing_ok=True)
        return [line.replace(str(self.project), "PROJECT") for line in lines]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    machine = Machine(tmp_path / "project", tmp_path / "bin")
    machine.bin.mkdir()
    for tool in TOOLS:
        real = shutil.which(tool)
        assert real is not None
        (machine.bin / tool).symlink_to(real)
    for name in INGREDIENTS:
        (machine.project / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, machine.project / name)
    return machine


CREATED = "{} env create --yes --prefix PROJECT/.venv --file environment.yml"
INSTALLED = "python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable ."


@pytest.mark.parametrize("tool", ["conda", "mamba", "micromamba"])
def test_conda_route_creates_the_prefix_and_installs_in_place(machine: Machine, tool: str) -> None:
    machine.has(tool, CONDA)
    assert machine.make_env("conda").returncode == 0
    assert machine.new_calls() == [CREATED.format(tool), INSTALLED]


def test_an_environment_is_made_again_only_when_its_ingredients_change(machine: Machine) -> None:
    machine.has("micromamba", CONDA)
    machine.make_env("conda")
    machine.new_calls()

    for name in INGREDIENTS:
        os.utime(machine.project / name)
    assert machine.make_env().stdout == ""
    assert machine.new_calls() == []

    with (machine.project / "pyproject.toml").open("a") as file:
        file.write("\n")
    machine.make_env()
    assert machine.new_calls() == [INSTALLED]

    with (machine.project / "environment.yml").open("a") as file:
        file.write("\n")
    leftover = machine.project / ".venv/leftover"
    leftover.touch()
    machine.make_env()
    assert not leftover.exists()
    assert machine.new_calls() == [CREATED.format("micromamba"), INSTALLED]


def test_a_failed_set_up_is_begun_again(machine: Machine) -> None:
    machine.has("micromamba", CONDA + "exit 1\n")
    assert machine.make_env("conda").returncode != 0
    machine.has("micromamba", CONDA)
    machine.new_calls()
    assert machine.make_env("conda").returncode == 0
    assert machine.new_calls() == [CREATED.format("micromamba"), INSTALLED]


def test_conda_route_without_conda_says_so(machine: Machine) -> None:
    done = machine.make_env("conda")
    assert done.returncode == 1
    assert "none of micromamba, mamba and conda" in done.stderr


def test_an_unknown_route_is_named(machine: Machine) -> None:
    done = machine.make_env("docker")
    assert done.returncode == 1
    assert "ENV=docker" in done.stderr


def test_an_unsupported_system_gets_one_message(machine: Machine) -> None:
    done = machine.make_env()
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert "make env ENV=conda" in done.stderr


APT = "install -qq --yes --no-install-recommends"


@debian
def test_missing_packages_without_root_or_sudo_are_named_in_a_command(machine: Machine) -> None:
    machine.has("apt-get")
    machine.has("dpkg-query", "case $4 in gcc) echo installed;; *) exit 1;; esac\n")
    machine.has("id", "echo 1000\n")
    done = machine.make_env()
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert "apt-get update && apt-get install --yes libc6-dev openmpi-bin python3-dolfinx-real" in done.stderr
    assert not [call for call in machine.new_calls() if call.startswith("apt-get")]


@debian
@pytest.mark.parametrize("user", ["0", "1000"])
def test_missing_packages_are_installed_and_a_failure_leaves_no_stamp(machine: Machine, user: str) -> None:
    machine.has("apt-get", 'case "$*" in install*) exit 100;; esac\n')
    machine.has("dpkg-query", "case $4 in python3-venv) exit 1;; *) echo installed;; esac\n")
    machine.has("id", f"echo {user}\n")
    machine.has("sudo", '"$@"\n')
    done = machine.make_env()
    assert done.returncode == 100
    calls = [call for call in machine.new_calls() if call.startswith(("apt-get", "sudo"))]
    expected = ["apt-get update -qq", f"apt-get {APT} python3-venv"]
    if user != "0":
        expected = [
            "sudo apt-get update -qq",
            expected[0],
            f"sudo env DEBIAN_FRONTEND=noninteractive apt-get {APT} python3-venv",
            expected[1],
        ]
    assert calls == expected
    assert not (machine.project / ".venv/.made-from").exists()


@pytest.mark.parametrize(("arguments", "route"), [(["ENV=conda"], " conda"), ([], "")])
def test_make_takes_the_route_from_its_command_line_only(arguments: list[str], route: str) -> None:
    make = shutil.which("make")
    if make is None:
        pytest.skip("make is not installed")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    command = [make, "--dry-run", "env", *arguments]
    environment = inherited | {"ENV": "elsewhere"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == f"scripts/make-env.sh{route}"
