"""A problem of one's own, in a folder of one's own: the example of the documentation, and what an edit of it reruns."""

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config

from rnshmc.store.chains import read_chain
from tests.workflow.conftest import ROOT, Project, copy_project
from tests.workflow.test_changes import Edit, edited

pytestmark = pytest.mark.workflow

EXAMPLE = Path("docs/example-own-problem")
TWO = ("--cores", "2")
# One chain of each of two samplers, without a reference run.
SHORT = {
    "chains": 1,
    "timing": {"blocks": 2, "block_iterations": 20},
    "problems": {"counts": {"without": ["rns_hmc"], "compared_with": "hmc"}},
}
PAGE, TABLE = "results/mine/report/counts.html", "results/mine/tables/results.csv"


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """The example in a copy of the project."""
    project = copy_project(tmp_path_factory.mktemp("own") / "project")
    shutil.copytree(ROOT / EXAMPLE, project.folder / EXAMPLE, ignore=shutil.ignore_patterns(".*", "results", "logs"))
    file = project.folder / EXAMPLE / "config.yaml"
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    update_config(config, SHORT)
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    return Project(project.folder / EXAMPLE)


@pytest.fixture(scope="module")
def ended(own: Project) -> Project:
    """The example with its page and its table. Tests leave it as it is."""
    done = own.snakemake(*TWO, "--", PAGE, TABLE)
    assert done.returncode == 0, done.stdout[-10000:]
    return own


def test_a_model_that_cannot_be_used_is_told_before_any_chain_runs(own: Project) -> None:
    model = Edit("my_model.py", "first + second - 80.0,", "80.0 - first - second,")
    with edited(own, model):
        done = own.snakemake(*TWO, "--", "results/mine/explore/counts/chain1.nc")
    assert done.returncode != 0
    assert "problems.counts (my_model.py): potential: its gradient is wrong" in done.stdout
    assert not (own.folder / "results/mine/explore/counts/chain1.nc").exists()


def test_it_ends_with_a_page_and_a_row_for_each_sampler(ended: Project) -> None:
    table = pd.read_csv(ended.folder / TABLE).set_index("sampler")
    assert list(table.index) == ["hmc", "auto"]
    assert set(table["data"]) == {"user"}
    chain = read_chain(ended.folder / "results/mine/chains/counts/auto/chain1.nc")
    spent = table.loc["auto", ["values_per_iter", "gradients_per_iter"]].to_numpy(dtype=float) * len(chain.draws)
    np.testing.assert_allclose(spent, [chain.stats[name].sum() for name in ("values", "gradients")], rtol=1e-12)
    assert spent.max() < len(chain.draws)
    assert "What auto said of chain 1" in (ended.folder / PAGE).read_text(encoding="utf-8")


def test_nothing_of_it_goes_to_the_project(ended: Project) -> None:
    project = ended.folder.parents[1]
    assert not (project / "results").exists()
    assert not (project / "data/processed").exists()
    assert (ended.folder / "results/mine/records.json").exists()


def test_an_edit_of_the_model_reruns_all_that_use_it_and_a_comment_nothing(ended: Project) -> None:
    goals = (*TWO, "--", PAGE, TABLE)
    with edited(ended, Edit("my_model.py", new="\n# A comment.\n")):
        assert ended.jobs(*goals) == {}
    with edited(ended, Edit("my_model.py", "40.0 * q[1]", "41.0 * q[1]")):
        jobs = ended.jobs(*goals)
    uses = ("model", "explore", "sample", "sample_auto", "timing", "timing_auto")
    assert {rule: jobs.pop(rule, 0) for rule in uses} == dict.fromkeys(uses, 1)
    # And what is made of their results.
    assert jobs == {"metrics": 1, "tables": 1, "figure": 4, "notebook": 1}
