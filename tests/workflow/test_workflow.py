"""The workflow: what it makes, what it makes again and when, and what it says of a bad configuration."""

import json
import os
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rnshmc.store.chains import read_chain
from tests.workflow.conftest import Project

pytestmark = [pytest.mark.workflow, pytest.mark.xdist_group("workflow")]

TEST = ("--cores", "2", "--configfile", "config/test.yaml")
PROBLEMS = ("lr_simulated", "bank", "a9a", "pde")
SAMPLERS = ("hmc", "rns_hmc")


@pytest.mark.parametrize("config", ["config", "quick", "test"])
def test_every_config_makes_a_graph(project: Project, config: str) -> None:
    jobs = project.jobs("--cores", "2", "--configfile", f"config/{config}.yaml")
    chains = 5 if config == "config" else 2
    assert jobs["sample"] == len(PROBLEMS) * len(SAMPLERS) * chains
    assert jobs["explore"] == jobs["fit"] == len(PROBLEMS) * chains
    assert jobs["timing"] == len(PROBLEMS) * len(SAMPLERS)
    assert jobs["reference"] == len(PROBLEMS)


def test_lint_is_clean(project: Project) -> None:
    done = project.snakemake("--lint")
    assert done.returncode == 0, done.stdout
    assert "Congratulations" in done.stdout


class TestFinishedRun:
    def test_chains_are_all_there(self, finished: Project) -> None:
        for problem in PROBLEMS:
            for sampler in SAMPLERS:
                for chain in (1, 2):
                    path = finished.folder / f"results/test/chains/{problem}/{sampler}/chain{chain}.nc"
                    stored = read_chain(path)
                    assert stored.draws.shape[0] == 40
                    assert stored.warmup is not None
                    assert stored.warmup.shape == (60, stored.draws.shape[1])
                    assert stored.settings["sampler"] == sampler
                    assert np.all(stored.stats["values"] == 1)

    def test_table_1_has_its_rows(self, finished: Project) -> None:
        table = pd.read_csv(finished.folder / "results/test/tables/table1.csv")
        assert list(zip(table["problem"], table["sampler"], strict=True)) == [
            (problem, sampler) for problem in PROBLEMS for sampler in SAMPLERS
        ]
        assert (table["chains"] == 2).all()
        assert table["ap"].between(0, 1).all()
        assert (table["s_per_iter"] > 0).all()

    def test_every_row_says_where_its_data_came_from(self, finished: Project) -> None:
        table = pd.read_csv(finished.folder / "results/test/tables/table1.csv").set_index("problem")
        assert set(table.loc[["lr_simulated", "pde"], "data"]) == {"simulated"}
        real = {"real"} if "RNSHMC_DATA_MIRROR" in os.environ else {"real", "stand-in"}
        assert set(table.loc[["bank", "a9a"], "data"]) <= real

    def test_the_report_opens_offline(self, finished: Project) -> None:
        folder = finished.folder / "results/test/report"
        assert "Table 1" in (folder / "index.html").read_text(encoding="utf-8")
        for name in ("index", *PROBLEMS):
            page = (folder / f"{name}.html").read_text(encoding="utf-8")
            links = re.findall(r'(?:src|href)="([^"]*)"', page)
            elsewhere = [link for link in links if not link.startswith(("data:", "#"))]
            assert all((folder / link.partition("#")[0]).exists() for link in elsewhere), elsewhere

    def test_every_job_leaves_a_log(self, finished: Project) -> None:
        for stage in ("explore", "chains", "metrics", "timing"):
            made = [path for path in (finished.folder / "results/test" / stage).rglob("*") if path.is_file()]
            kept = list((finished.folder / "logs/test" / stage).rglob("*.log"))
            assert len(made) == len(kept) > 0
        log = (finished.folder / "logs/test/explore/bank/chain1.log").read_text(encoding="utf-8")
        assert "60 of 60 iterations" in log

    def test_a_second_run_has_nothing_to_do(self, finished: Project) -> None:
        assert finished.jobs(*TEST) == {}

    def test_snakemake_report_works(self, finished: Project, tmp_path: Path) -> None:
        done = finished.snakemake(*TEST, "--report", str(tmp_path / "report.zip"))
        assert done.returncode == 0, done.stdout[-5000:]
        with zipfile.ZipFile(tmp_path / "report.zip") as report:
            text = "".join(report.read(name).decode(errors="replace") for name in report.namelist())
        for caption in ("effective sample size", "diffusion field"):
            assert caption in text


def test_one_core_gives_the_same_bytes_as_two(finished: Project, project: Project) -> None:
    done = project.snakemake("--cores", "1", "--configfile", "config/test.yaml", "--until", "sample")
    assert done.returncode == 0, done.stdout[-20000:]
    paths = sorted(finished.folder.glob("results/test/chains/*/*/*.nc"))
    assert len(paths) == len(PROBLEMS) * len(SAMPLERS) * 2
    for path in paths:
        two = read_chain(path)
        one = read_chain(project.folder / path.relative_to(finished.folder))
        assert one.draws.tobytes() == two.draws.tobytes(), path
        assert one.warmup is not None
        assert two.warmup is not None
        assert one.warmup.tobytes() == two.warmup.tobytes(), path
        for name, values in two.stats.items():
            assert one.stats[name].tobytes() == values.tobytes(), (path, name)


def test_a_stand_in_is_called_so_in_everything_made_from_it(project: Project) -> None:
    config = (project.folder / "config/test.yaml").read_text(encoding="utf-8")
    stand_in = config + "data: {policy: stand-in}\n"
    (project.folder / "config/stand-in.yaml").write_text(stand_in, encoding="utf-8")
    chain, fit = "results/test/chains/bank/rns_hmc/chain1.nc", "results/test/surrogates/bank/random_network/chain1.json"
    metrics = "results/test/metrics/bank/rns_hmc/chain1.json"
    done = project.snakemake("--cores", "2", "--configfile", "config/stand-in.yaml", "--", chain, fit, metrics)
    assert done.returncode == 0, done.stdout[-5000:]
    assert read_chain(project.folder / chain).origin == "stand-in"
    for path in (fit, metrics, "data/raw/bank.json"):
        assert json.loads((project.folder / path).read_text(encoding="utf-8"))["origin"] == "stand-in"


AFTER_CHAINS = {
    "metrics",
    "tables",
    "figures",
    "problem_figures",
    "field_figure",
    "notebook",
    "provenance",
    "report",
    "all",
}


@pytest.mark.parametrize(
    ("module", "again"),
    [
        ("surrogates/random_network.py", {"fit", "sample", "timing"}),
        ("diagnostics/reference.py", {"reference"}),
        ("run/timing.py", {"timing"}),
        ("datasets/project.py", {"project_a9a", "explore", "fit", "sample", "reference", "timing"}),
    ],
)
def test_an_edited_module_reruns_the_stages_that_use_it(
    edited: Callable[[str, str], Project], module: str, again: set[str]
) -> None:
    jobs = edited(f"src/rnshmc/{module}", "\n# edited\n").jobs(*TEST)
    assert set(jobs) - AFTER_CHAINS == again


def test_an_edited_surrogate_leaves_exact_chains_alone(edited: Callable[[str, str], Project]) -> None:
    jobs = edited("src/rnshmc/surrogates/random_network.py", "\n# edited\n").jobs(*TEST)
    assert (jobs["fit"], jobs["sample"], jobs["timing"]) == (8, 8, 4)


def test_an_edited_target_leaves_the_other_problems_alone(edited: Callable[[str, str], Project]) -> None:
    jobs = edited("src/rnshmc/targets/logistic.py", "\n# edited\n").jobs(*TEST)
    assert (jobs["explore"], jobs["reference"]) == (6, 3)
    assert "forward_model" not in jobs


def test_touching_a_module_reruns_nothing(edited: Callable[[str, str], Project]) -> None:
    project = edited("src/rnshmc/kernels/hmc.py", "")
    os.utime(project.folder / "src/rnshmc/kernels/hmc.py")
    assert project.jobs(*TEST) == {}


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        ("chainz: 3", ["chainz"]),
        ("problems: {bank: {samplers: {hmc: {stepsize: 0.1}}}}", ["bank", "stepsize"]),
        ("problems: {bank: {target: {prior_sds: 1.0}}}", ["bank", "prior_sds"]),
        ("problems: {bank: {samplers: {nuts: {step_size: 0.1, n_steps: [1, 2]}}}}", ["bank", "nuts"]),
        ("chains: 0", ["chains", "minimum"]),
        ("iterations: {discard: 5000}", ["iterations.discard", "5000"]),
        (
            "problems: {bank: {samplers: {rns_hmc: {surrogate: gp}}}}",
            ["problems.bank.samplers.rns_hmc.surrogate", "gp"],
        ),
    ],
)
def test_a_bad_config_is_refused_by_name(project: Project, setting: str, names: list[str]) -> None:
    (project.folder / "bad.yaml").write_text(setting, encoding="utf-8")
    done = project.snakemake("--dry-run", "--cores", "1", "--configfile", "bad.yaml")
    assert done.returncode != 0
    for name in names:
        assert name in done.stdout
