"""Problems of a folder such as the collection Benchmark-Models-PEtab: a folder for each, with a YAML file in it.

The YAML file is ``problem.yaml`` or has the name of the folder: ``Boehm_JProteomeRes2014/Boehm_JProteomeRes2014.yaml``.
"""

from pathlib import Path

from rnshmc.errors import DataError


def names(folder: Path) -> list[str]:
    """The problems of a folder; the clone of the collection has them in ``Benchmark-Models``.

    Raises
    ------
    DataError
        If there are none.
    """
    found = sorted(own.name for own in root(folder).iterdir() if own.is_dir() and _yaml(own) is not None)
    if not found:
        raise DataError(f"{folder}: no folder in it has a problem.yaml or <its name>.yaml")
    return found


def root(folder: Path) -> Path:
    """Where the problems are: ``Benchmark-Models`` of a clone, or the folder itself."""
    inside = folder / "Benchmark-Models"
    return inside if inside.is_dir() else folder


def yaml_of(problem: Path) -> Path:
    """The YAML file of a problem by its folder.

    Raises
    ------
    DataError
        If it has none.
    """
    found = _yaml(problem)
    if found is None:
        raise DataError(f"{problem}: neither problem.yaml nor {problem.name}.yaml in this folder")
    return found


def _yaml(problem: Path) -> Path | None:
    candidates = (problem / f"{problem.name}.yaml", problem / "problem.yaml")
    return next((path for path in candidates if path.is_file()), None)
