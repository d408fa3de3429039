"""pyproject.toml is the one list of dependencies; environment.yml and the files of pinned versions follow it."""

import re
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).resolve().parents[1]

LOCK = (ROOT / "requirements.lock").read_text()
NEWEST = (ROOT / "requirements-newest.txt").read_text()

# Where conda calls a package otherwise, mostly the part of it that is needed here.
CONDA_NAMES = {"matplotlib": "matplotlib-base", "nbconvert": "nbconvert-core", "snakemake": "snakemake-minimal"}
# What conda has to be told and pip need not: the interpreter, the installer, the form compiler's C compiler.
CONDA_ONLY = {"python", "pip", "setuptools", "c-compiler"}
# What comes from Debian, not from the lock: it shares HDF5, MPI and PETSc with dolfinx.
FROM_DEBIAN = {"fenics-dolfinx", "h5py", "mpi4py", "petsc4py"}
# Extras that the environment of the project has. The others are for users: tests of them run where they are installed.
INSTALLED = ("pipeline", "pde", "dev")

Requirements = dict[str, Requirement]


def by_name(lines: Iterable[str]) -> Requirements:
    requirements = [Requirement(line) for line in lines]
    assert len({r.name for r in requirements if applies(r)}) == len([r for r in requirements if applies(r)])
    return {canonicalize_name(r.name): r for r in requirements if applies(r)}


def applies(requirement: Requirement) -> bool:
    """Whether a requirement holds on this Python, without any extra."""
    return requirement.marker is None or requirement.marker.evaluate({"extra": ""})


@pytest.fixture(scope="module")
def declared() -> Requirements:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return by_name([*project["dependencies"], *(line for name in INSTALLED for line in extras[name])])


@pytest.fixture(scope="module")
def conda() -> Requirements:
    return by_name(yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"])


@pytest.fixture(scope="module")
def lock_lines() -> list[str]:
    """The pins, without the hashes that follow each."""
    return [line.removesuffix(" \\") for line in LOCK.splitlines() if not line.startswith(("#", " "))]


@pytest.fixture(scope="module")
def locked(lock_lines: list[str]) -> dict[str, str]:
    """Pinned version by name, on this Python."""
    return {name: str(r.specifier).removeprefix("==") for name, r in by_name(lock_lines).items()}


def test_conda_environment_is_in_step_with_pyproject(declared: Requirements, conda: Requirements) -> None:
    expected = {CONDA_NAMES.get(name, name): r.specifier for name, r in declared.items()}
    assert {name: r.specifier for name, r in conda.items() if name not in CONDA_ONLY} == expected


def test_conda_environment_has_what_builds_and_runs_the_package(conda: Requirements) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert conda.keys() >= CONDA_ONLY
    assert str(conda["python"].specifier) == project["project"]["requires-python"]
    assert f"setuptools{conda['setuptools'].specifier}" in project["build-system"]["requires"]


def test_lock_satisfies_pyproject(declared: Requirements, locked: dict[str, str]) -> None:
    build = Requirement(tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"][0])
    wanted = {name: r for name, r in declared.items() if name not in FROM_DEBIAN} | {build.name: build}
    assert wanted.keys() - locked.keys() == set()
    assert [name for name, r in wanted.items() if not r.specifier.contains(locked[name], prereleases=True)] == []


def test_newest_environment_satisfies_pyproject_without_dolfinx(declared: Requirements, locked: dict[str, str]) -> None:
    lines = [line for line in NEWEST.splitlines() if not line.startswith("#")]
    pins = {name: str(r.specifier).removeprefix("==") for name, r in by_name(lines).items()}
    wanted = {name: r for name, r in declared.items() if name not in {"fenics-dolfinx", "mpi4py"}}
    assert wanted.keys() - pins.keys() == set()
    assert [name for name, r in wanted.items() if not r.specifier.contains(pins[name], prereleases=True)] == []
    assert [name for name in ("numpy", "scipy") if Version(pins[name]) < Version(locked[name])] == []
    assert Version(pins["numpy"]) > Version(locked["numpy"])


def test_lock_leaves_to_debian_what_is_debians(locked: dict[str, str]) -> None:
    assert locked.keys() & FROM_DEBIAN == set()


def test_lock_pins_everything_and_names_no_place(lock_lines: list[str]) -> None:
    pin = re.compile(r"[a-z0-9-]+==[0-9][0-9a-z.+]*( ; python_full_version (<|>=) '3\.\d+')?")
    assert [line for line in lock_lines if not pin.fullmatch(line)] == []
    assert "/" not in "".join(lock_lines)
    assert lock_lines == sorted(lock_lines, key=lambda line: line.split("=="))


def test_lock_has_hashes_of_every_pin() -> None:
    """Of the wheel or the source distribution at least; pip refuses a file that has another."""
    pins = re.split(r"\n(?=\w)", LOCK.rpartition("\n#")[2].partition("\n")[2])
    hashes = re.compile(r"[^\n]+==[^\n]+( \\\n    --hash=sha256:[0-9a-f]{64})+\n?")
    assert [pin for pin in pins if not hashes.fullmatch(pin)] == []
    assert len(pins) > 100
    assert "--require-hashes" in (ROOT / "scripts/make-env.sh").read_text()


@pytest.mark.skipif((Path(sys.prefix) / "conda-meta").exists(), reason="this environment is conda's, not the lock's")
def test_lock_is_complete(locked: dict[str, str]) -> None:
    """It is installed without looking at dependencies, so every dependency of a pinned package has to be pinned too."""
    missing = {
        f"{name} needs {needed.name}"
        for name in locked
        for needed in map(Requirement, metadata.requires(name) or [])
        if applies(needed) and canonicalize_name(needed.name) not in locked.keys() | FROM_DEBIAN
    }
    assert missing == set()


def test_system_packages_hold_what_the_lock_leaves_out() -> None:
    lines = (ROOT / "apt-packages.txt").read_text().splitlines()
    packages = {line for line in lines if not line.startswith("#")}
    assert packages >= {"gcc", "libc6-dev", "openmpi-bin", "python3-dolfinx-real", "python3-h5py", "python3-venv"}
    assert lines[1:] == sorted(packages)
