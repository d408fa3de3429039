"""What is run again: each edit reruns exactly the jobs of its column in changes.csv, and touching reruns nothing."""

import csv
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.workflow.conftest import Project, copy_project

pytestmark = pytest.mark.workflow

TEST = ("--cores", "2", "--configfile", "config/test.yaml")
TABLE = Path(__file__).with_name("changes.csv")


class Edit(NamedTuple):
    """Another text in one file."""

    file: str
    old: str = ""
    """What is replaced; nothing: the new text goes to the end."""
    new: str = "\nedited = True\n"


EDITS = {
    # Modules of the library, from the bottom up.
    "types": Edit("src/rnshmc/types.py"),
    "project": Edit("src/rnshmc/datasets/project.py"),
    "diffusion": Edit("src/rnshmc/fem/diffusion.py"),
    "logistic": Edit("src/rnshmc/targets/logistic.py"),
    "random_network": Edit("src/rnshmc/surrogates/random_network.py"),
    "rmhmc": Edit("src/rnshmc/kernels/rmhmc.py"),
    "registry": Edit("src/rnshmc/run/registry.py"),
    "run/timing": Edit("src/rnshmc/run/timing.py"),
    "reference": Edit("src/rnshmc/diagnostics/reference.py"),
    "one_dimension": Edit("src/rnshmc/experiments/one_dimension.py"),
    "adaptation": Edit("src/rnshmc/store/adaptation.py"),
    "comparison": Edit("src/rnshmc/plots/comparison.py"),
    # The workflow: a script, a shell command, a template.
    "metrics.py": Edit("workflow/scripts/metrics.py"),
    "warm_forms": Edit("workflow/rules/pde.smk", "warm_forms.py --output", "warm_forms.py  --output"),
    "index.html.j2": Edit("workflow/report/index.html.j2"),
    # The config: a step size, which RNS-HMC has for itself; the number of draws; a title.
    "step_size": Edit("config/config.yaml", "rns_hmc: {step_size: 0.045", "rns_hmc: {step_size: 0.044"),
    "keep": Edit("config/test.yaml", "keep: 40\n", "keep: 39\n"),
    # Data: the table of sources, what one of them became, the statistics of a stand-in.
    "sources": Edit("data/sources.yaml", new="\n# edited\n"),
    "bank.npz": Edit("data/processed/bank.npz"),
    "bank.csv": Edit("data/standin/bank.csv", new="\n"),
    "lock": Edit("requirements.lock"),
}

UNCHANGED = {
    "a comment": Edit("src/rnshmc/types.py", new="\n# A comment.\n"),
    "a docstring": Edit("src/rnshmc/kernels/hmc.py", '"""', '"""Once more: '),
    "a comment in a script": Edit("workflow/scripts/sample.py", new="\n# A comment.\n"),
    "a comment in the config": Edit("config/test.yaml", new="\n# A comment.\n"),
    "another kernel": Edit("src/rnshmc/run/registry.py", "KERNELS = {", 'KERNELS = {"other": "rnshmc.other:Other",'),
    "another sampler": Edit("src/rnshmc/run/recipes.py", "RECIPES = {", 'RECIPES = {"other": Recipe("hmc", None),'),
    "another mirror": Edit("config/config.yaml", "mirror: null", "mirror: /elsewhere"),
    "resources": Edit("workflow/rules/sample.smk", "mem_mb=2000", "mem_mb=2001"),
}


@pytest.fixture(scope="module")
def copy(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A finished run to edit; each test leaves the contents of its files as they were."""
    folder = tmp_path_factory.mktemp("changes") / "project"
    shutil.copytree(finished.folder, folder, symlinks=True)
    return Project(folder)


@contextmanager
def edited(project: Project, edit: Edit) -> Iterator[None]:
    """The project while one file has another text."""
    file = project.folder / edit.file
    before = file.read_bytes()
    old, new = edit.old.encode(), edit.new.encode()
    if old:
        assert old in before
        file.write_bytes(before.replace(old, new, 1))
    else:
        file.write_bytes(before + new)
    try:
        yield
    finally:
        file.write_bytes(before)


def expected(edit: str) -> dict[str, int]:
    """How many jobs of each rule an edit reruns, from the written table."""
    with TABLE.open(encoding="utf-8", newline="") as file:
        return {row["rule"]: int(row[edit]) for row in csv.DictReader(file) if row[edit]}


def test_the_table_has_a_column_for_each_edit_and_a_row_for_each_rule(copy: Project) -> None:
    with TABLE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["rule", *EDITS]
    listed = copy.snakemake(*TEST, "--list-rules").stdout
    assert [row[0] for row in rows] == re.findall(r"^(\w+) \(.*\)$", listed, re.MULTILINE)


@pytest.mark.parametrize("edit", EDITS)
def test_an_edit_reruns_what_the_table_says(copy: Project, edit: str) -> None:
    with edited(copy, EDITS[edit]):
        assert copy.jobs(*TEST) == expected(edit)


@pytest.mark.parametrize("edit", UNCHANGED)
def test_what_does_not_shape_results_reruns_nothing(copy: Project, edit: str) -> None:
    with edited(copy, UNCHANGED[edit]):
        assert copy.jobs(*TEST) == {}


def test_touching_everything_reruns_nothing(copy: Project) -> None:
    for path in copy.folder.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path)
    assert copy.jobs(*TEST) == {}


def fresh_clone(finished: Project, folder: Path, *parts: str) -> Project:
    """A fresh copy of the project into which parts of a finished one are copied; all files have new times."""
    clone = copy_project(folder)
    for part in parts:
        shutil.copytree(finished.folder / part, folder / part, copy_function=shutil.copyfile, dirs_exist_ok=True)
    return clone


@pytest.fixture(scope="module")
def clone(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh copy of the project that got results and data from the finished one."""
    return fresh_clone(finished, tmp_path_factory.mktemp("clone") / "project", "results", "data")


class TestFreshClone:
    def test_copied_results_rerun_nothing(self, clone: Project) -> None:
        assert clone.jobs(*TEST) == {}

    @pytest.mark.parametrize("edit", ["rmhmc", "metrics.py", "warm_forms", "keep", "bank.npz"])
    def test_an_edit_then_reruns_what_the_table_says(self, clone: Project, edit: str) -> None:
        with edited(clone, EDITS[edit]):
            assert clone.jobs(*TEST) == expected(edit)

    def test_results_alone_rerun_and_download_nothing(self, finished: Project, tmp_path: Path) -> None:
        clone = fresh_clone(finished, tmp_path / "project", "results")
        assert clone.jobs(*TEST) == {}
        assert not (clone.folder / "data/processed").exists()

    def test_data_that_are_made_again_rerun_nothing(self, finished: Project, tmp_path: Path) -> None:
        clone = fresh_clone(finished, tmp_path / "project", "results")
        done = clone.snakemake(*TEST, "--", "data/processed/lr_simulated.npz")
        assert done.returncode == 0, done.stdout[-5000:]
        assert clone.jobs(*TEST) == {}
