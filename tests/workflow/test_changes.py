"""Each edit reruns exactly the jobs of its column in changes.csv, and touching reruns nothing."""

import csv
import os
import re
import shutil
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.workflow.conftest import Project

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
    "errors": Edit("src/rnshmc/errors.py"),
    "project": Edit("src/rnshmc/datasets/project.py"),
    "diffusion": Edit("src/rnshmc/fem/diffusion.py"),
    "logistic": Edit("src/rnshmc/targets/logistic.py"),
    "random_network": Edit("src/rnshmc/surrogates/random_network.py"),
    "rmhmc": Edit("src/rnshmc/kernels/rmhmc.py"),
    "registry": Edit("src/rnshmc/run/registry.py"),
    "RECIPES": Edit(
        "src/rnshmc/run/recipes.py",
        'kernel="sghmc_mh", surrogate=None, minibatches=True',
        'kernel="sghmc_mh", surrogate=None',
    ),
    "KERNELS": Edit("src/rnshmc/run/registry.py", ":AdaptiveHMC", ":ARNSHMC"),
    "READERS": Edit("src/rnshmc/datasets/registry.py", "adult:read_either", "adult:read_svmlight"),
    "STANDARDISED": Edit("src/rnshmc/datasets/registry.py", 'frozenset({"dota2"})', "frozenset()"),
    "SAMPLERS": Edit("src/rnshmc/results/names.py", '"nng_hmc": "NNg-HMC"', '"nng_hmc": "NNgHMC"'),
    "MEASURES": Edit("src/rnshmc/scorecard/measures/registry.py", "cells.ess,", ""),
    "run/timing": Edit("src/rnshmc/run/timing.py"),
    "reference": Edit("src/rnshmc/diagnostics/reference.py"),
    "one_dimension": Edit("src/rnshmc/experiments/one_dimension.py"),
    "adaptation": Edit("src/rnshmc/results/adaptation.py"),
    "efficiency": Edit("src/rnshmc/plots/efficiency.py"),
    # The workflow: a script, a shell command, a template.
    "metrics.py": Edit("workflow/scripts/metrics.py"),
    "warm_forms": Edit("workflow/rules/mpi.smk", "warm_forms.py {{output", "warm_forms.py  {{output"),
    "index.html.j2": Edit("workflow/report/index.html.j2"),
    # The config: a step size, which RNS-HMC has for itself; the number of draws; a title.
    "step_size": Edit("config/config.yaml", "rns_hmc: {step_size: 0.045", "rns_hmc: {step_size: 0.044"),
    "keep": Edit("config/test.yaml", "keep: 40\n", "keep: 39\n"),
    # What the papers print, and the columns of their tables.
    "zhang2017": Edit("papers/zhang2017.csv", "lr_simulated,hmc,ap,0.76,", "lr_simulated,hmc,ap,0.77,"),
    "views": Edit("papers/views.csv", "table1,ap,ap,fixed 3,", "table1,ap,ap,fixed 2,"),
    # Data: one address in the table of sources, what one of them became, the statistics of a stand-in.
    "sources": Edit("data/sources.yaml", "libsvmtools/datasets/binary/a9a\n", "libsvmtools/datasets/a9a\n"),
    "a9a.npz": Edit("data/processed/a9a.npz"),
    "a9a.csv": Edit("data/standin/a9a.csv", new="\n"),
    "lock": Edit("requirements.lock"),
}

UNCHANGED = {
    "a comment": Edit("src/rnshmc/types.py", new="\n# A comment.\n"),
    "a docstring": Edit("src/rnshmc/kernels/hmc.py", '"""', '"""Once more: '),
    "a comment in a script": Edit("workflow/scripts/sample.py", new="\n# A comment.\n"),
    "a comment in the config": Edit("config/test.yaml", new="\n# A comment.\n"),
    "a licence of a source": Edit("data/sources.yaml", ", of which it is an encoding)", ")  # A comment."),
    "another mirror": Edit("config/config.yaml", "mirror: null", "mirror: /elsewhere"),
    "resources": Edit("workflow/rules/sample.smk", "mem_mb=2000", "mem_mb=2001"),
}


@pytest.fixture(scope="module")
def copies(finished: Project, tmp_path_factory: pytest.TempPathFactory) -> list[Project]:
    """Finished runs to edit; who edits leaves the contents of the files as they were."""
    folder = tmp_path_factory.mktemp("changes")
    made = [Project(folder / name) for name in ("one", "other")]
    for project in made:
        shutil.copytree(finished.folder, project.folder, symlinks=True)
    return made


@pytest.fixture(scope="module")
def copy(copies: list[Project]) -> Project:
    """One of them."""
    return copies[0]


@pytest.fixture(scope="module")
def rerun(copies: list[Project]) -> dict[str, dict[str, int]]:
    """How many jobs of each rule each edit reruns; both copies are edited at the same time."""

    def jobs(project: Project, edits: list[str]) -> dict[str, dict[str, int]]:
        found = {}
        for edit in edits:
            with edited(project, EDITS[edit]):
                found[edit] = project.jobs(*TEST)
        return found

    names = list(EDITS)
    with ThreadPoolExecutor() as pool:
        parts = pool.map(jobs, copies, (names[0::2], names[1::2]))
    return {edit: found for part in parts for edit, found in part.items()}


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
def test_an_edit_reruns_what_the_table_says(rerun: dict[str, dict[str, int]], edit: str) -> None:
    assert rerun[edit] == expected(edit)


def test_what_does_not_shape_results_reruns_nothing(copy: Project) -> None:
    """All of them at once: what does not count alone does not count together."""
    assert len({edit.file for edit in UNCHANGED.values()}) == len(UNCHANGED)
    with ExitStack() as edits:
        for edit in UNCHANGED.values():
            edits.enter_context(edited(copy, edit))
        assert copy.jobs(*TEST) == {}


def test_touching_everything_reruns_nothing(copy: Project) -> None:
    for path in copy.folder.rglob("*"):
        if path.is_file() and ".snakemake" not in path.parts:
            os.utime(path)
    assert copy.jobs(*TEST) == {}
