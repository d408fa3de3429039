"""Provenance of a result: versions, commit, machine, settings and data."""

import json
import os
import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, get_args

import scipy.linalg  # noqa: F401  # loads SciPy's BLAS, so that threadpoolctl sees it
from threadpoolctl import threadpool_info

from rnshmc.errors import DataError
from rnshmc.files import read_npz
from rnshmc.masking import masked
from rnshmc.types import Origin

_DISTRIBUTIONS = (
    *("rnshmc", "numpy", "scipy", "pandas", "xarray", "h5netcdf", "arviz", "scikit-learn", "matplotlib", "seaborn"),
    *("snakemake", "papermill", "fenics-dolfinx", "petsc4py", "mpi4py"),
)
_BLAS_FIELDS = ("internal_api", "version", "threading_layer", "architecture", "num_threads")


def provenance(config: Mapping[str, Any] | None = None, data_hashes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Everything needed to judge and to reproduce a result.

    Ready for JSON: ``created`` (UTC, ISO 8601; nothing else depends on the time), ``python``, ``packages`` (version by
    distribution, None if not installed; dolfinx among them, without importing it), ``mpi``, ``git`` (commit and whether
    tracked files differ from it, None outside a clone), ``machine`` (platform, CPU, cores), ``blas``, and ``config``
    and ``data`` if given. Passwords in ``config`` are masked; ``data_hashes`` are SHA-256 of data files.
    """
    content: dict[str, Any] = {
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _DISTRIBUTIONS},
        "mpi": _first_line("mpiexec", "--version"),
        "git": _git(Path(__file__)),
        "machine": {
            "platform": platform.platform(),
            "cpu": _cpu_model(),
            "cores": os.cpu_count(),
            "usable_cores": _usable_cores(),
        },
        "blas": _blas(),
    }
    if config is not None:
        content["config"] = json.loads(json.dumps(masked(config)))
    if data_hashes is not None:
        content["data"] = dict(data_hashes)
    return content


def _version(distribution: str) -> str | None:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return None


def _git(file: Path) -> dict[str, Any] | None:
    """Commit of the repository that tracks a file; None for an untracked file, even inside another project's clone."""
    git = ("git", "--no-optional-locks", "-C", str(file.parent))
    if _first_line(*git, "ls-files", "--error-unmatch", file.name) is None:
        return None
    commit = _first_line(*git, "rev-parse", "HEAD")
    if commit is None:
        return None
    return {"commit": commit, "dirty": _first_line(*git, "status", "--porcelain", "--untracked-files=no") != ""}


def _first_line(*command: str) -> str | None:
    """First line of a command's output, empty if there is none; None if it fails or does not exist."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.partition("\n")[0]


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def _usable_cores() -> int | None:
    """Cores available to this process: in a container or cluster job, fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count()


def _blas() -> list[dict[str, Any]]:
    """Properties of the loaded BLAS libraries, without their paths."""
    loaded = [
        {field: library.get(field) for field in _BLAS_FIELDS}
        for library in threadpool_info()
        if library["user_api"] == "blas"
    ]
    return sorted(loaded, key=lambda library: json.dumps(library, sort_keys=True))


ORIGINS = get_args(Origin)


def read_origin(path: Path) -> str:
    """The ``origin`` recorded in a processed data file, one of `ORIGINS`.

    Raises `DataError` if the file has no origin, or an unknown one.
    """
    origin = str(read_npz(path, "origin", says="cannot read where its data came from (key 'origin'): {}")["origin"])
    if origin not in ORIGINS:
        raise DataError(f"{path}: origin is {origin!r}, expected one of {', '.join(ORIGINS)}")
    return origin
