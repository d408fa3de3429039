"""Write requirements.lock: the newest versions that pyproject.toml and Debian's dolfinx allow, with hashes.

With the argument ``newest``: write requirements-newest.txt, the newest versions without dolfinx (`make test-rounding`).
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# Debian 12's dolfinx is built against numpy 1.24 and does not work with numpy 2; Python 3.13 has no numpy 1.26.
NUMPY = ('numpy==1.26.4; python_version < "3.13"', 'numpy==2.2.6; python_version >= "3.13"')
# These share HDF5, MPI and PETSc with dolfinx, so they have to come from the same source as dolfinx.
FROM_DEBIAN = {"fenics-dolfinx", "h5py", "mpi4py", "petsc4py"}

HEADER = """\
# Every Python package that rnshmc needs beside Debian's dolfinx. Written by `make lock`; not to be edited.
# h5py, mpi4py, petsc4py and dolfinx itself are left out: they come from apt-packages.txt, because the HDF5 inside the
# wheel of h5py clashes with the one that dolfinx is linked to.
# setuptools builds rnshmc itself, which is installed in place. Hashes are those of all files of a version.
"""
OLDEST_PYTHON = "3.11"
NEWEST_HEADER = """\
# The newest environment of `make test-rounding`. Written by `make lock PART=newest`; not to be edited.
"""


def resolve(*wanted: str) -> dict[str, str]:
    """Names and versions of a complete installation, independent of the installed packages."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        pip = [sys.executable, "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet"]
        command = [*pip, "--report", str(report), *wanted, "setuptools>=77", f"{ROOT}[pipeline,dev]"]
        subprocess.run(command, check=True)
        chosen = [item["metadata"] for item in json.loads(report.read_text())["install"]]
    names = {re.sub(r"[-_.]+", "-", item["name"]).lower(): item["version"] for item in chosen}
    return {name: names[name] for name in sorted(names.keys() - {"rnshmc"})}


def with_hashes(pins: list[str]) -> str:
    """Pinned requirements with the hashes of all their files for every platform, which uv can list but pip cannot."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "uv"], check=True)
        uv = [f"{folder}/bin/uv", "pip", "compile", "--quiet", "--no-deps", "--universal", "--generate-hashes"]
        plain = ["--no-header", "--no-annotate", "--python-version", OLDEST_PYTHON, "-"]
        return subprocess.run([*uv, *plain], input="\n".join(pins), text=True, check=True, capture_output=True).stdout


def write_lock() -> None:
    """Resolve and write requirements.lock."""
    pins = resolve(*NUMPY)
    others = [name for name in pins if name not in FROM_DEBIAN | {"numpy"}]
    locked = with_hashes([*NUMPY, *(f"{name}=={pins[name]}" for name in others)])
    (ROOT / "requirements.lock").write_text(HEADER + locked)


def write_newest() -> None:
    """Resolve and write requirements-newest.txt."""
    lines = [f"{name}=={version}\n" for name, version in resolve().items()]
    (ROOT / "requirements-newest.txt").write_text(NEWEST_HEADER + "".join(lines))


if __name__ == "__main__":
    write_newest() if sys.argv[1:] == ["newest"] else write_lock()
