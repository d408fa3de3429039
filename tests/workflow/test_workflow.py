"""The workflow: outputs, and messages about a bad configuration."""

import json
import os
import re
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config

from rnshmc.run.config import check_config, selected_problems
from rnshmc.run.recipes import recipe_name
from rnshmc.run.schema import check_schema
from rnshmc.run.timing import LOADED_CORES
from rnshmc.scorecard.rules import VERDICTS
from rnshmc.store.chains import read_chain
from tests.workflow.conftest import ROOT, Project

pytestmark = pytest.mark.workflow

TEST = ("--cores", "2", "--configfile", "config/test.yaml")
VARIANTS = sorted((ROOT / "config/variants").glob("*.yaml"))
PROBLEMS = {
    "lr_simulated": {"hmc": 2, "rmhmc": 1, "rns_hmc": 2, "rns_rmhmc": 1, "arns_hmc": 1},
    "a9a": {"hmc": 1, "rns_hmc": 1},
    "pde": {"hmc": 1, "rns_hmc": 1, "rns_rmhmc": 1},
}
"""Chains of each sampler of paper A's problems in the run "test", in the order of the tables."""
CHAINS = {(problem, sampler): chains for problem, samplers in PROBLEMS.items() for sampler, chains in samplers.items()}
GRADIENT_CHAINS = {
    **dict.fromkeys(("garch", "gp_regression", "lr_200"), ("hmc", "nng_hmc")),
    "cover_type": ("hmc", "nng_hmc", "sghmc_a", "sghmc_mh"),
    "news": ("hmc", "nng_hmc_10", "nng_hmc_20"),
}
"""The samplers of paper B's problems, each with one chain in the run "test"."""
TRAINED = {"nng_hmc_10": 30}
"""Iterations of HMC before those of them that do not wait for the end of the exploration."""
DRAWS = {"rmhmc": 10, "rns_rmhmc": 10}
WARMUP = {"arns_hmc": 50}
FIGURES = tuple(f"fig{k}" for k in range(1, 9))


@pytest.mark.parametrize("name", ["config", "quick", "test"])
def test_every_config_makes_a_graph(project: Project, name: str) -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    if name != "config":
        update_config(config, yaml.safe_load((ROOT / f"config/{name}.yaml").read_text(encoding="utf-8")))
    jobs = project.jobs("--cores", "2", "--configfile", f"config/{name}.yaml")
    # Chains of each sampler's entry, and of each problem.
    problems = selected_problems(config)
    most = {name: problem.get("chains", config["chains"]) for name, problem in problems.items()}
    chains = {
        (name, sampler): min(most[name], settings.get("chains", most[name]))
        for name, problem in problems.items()
        for sampler, settings in problem["samplers"].items()
    }
    assert jobs["sample"] == sum(chains.values())
    # Explorations of paper B's problems keep their gradients.
    referred = [name for name, problem in problems.items() if problem.get("paper") == "zhang2017"]
    assert jobs["explore"] == sum(most[name] for name in referred)
    assert jobs["explore_recorded"] == sum(most.values()) - jobs["explore"]
    # A whitened exploration for each chain of the sampler that is fitted to it.
    assert jobs["explore_whitened"] == sum(
        chains[name, sampler]
        for name, problem in problems.items()
        for sampler, settings in problem["samplers"].items()
        if "whitened" in problem["surrogates"].get(settings.get("surrogate"), {})
    )
    assert jobs["timing"] == len(problems)
    assert jobs["metrics"] == len(problems)
    assert jobs["fit"] - jobs["matching"] == sum(
        chains[name, sampler] for name, sampler in chains if sampler.startswith("nng_hmc")
    )
    assert jobs["reference"] == len(referred)


@pytest.mark.parametrize("path", VARIANTS, ids=lambda path: path.stem)
def test_every_variant_is_a_config_of_the_papers_graph(path: Path) -> None:
    config = yaml.safe_load((ROOT / "config/config.yaml").read_text(encoding="utf-8"))
    update_config(config, yaml.safe_load(path.read_text(encoding="utf-8")))
    check_schema(config, yaml.safe_load((ROOT / "workflow/schemas/config.schema.yaml").read_text(encoding="utf-8")))
    check_config(config)


def test_a_plan_prints_nothing_but_the_jobs(project: Project) -> None:
    said = project.snakemake("--dry-run", "--configfile", "config/test.yaml").stdout
    assert re.search(r"^Building DAG of jobs...\nJob stats:$", said, re.MULTILINE)


def test_lint_is_clean(project: Project) -> None:
    done = project.snakemake("--lint")
    assert done.returncode == 0, done.stdout
    assert "Congratulations" in done.stdout


def test_jobs_that_measure_seconds_run_one_at_a_time(project: Project) -> None:
    done = project.snakemake("--dry-run", *TEST, "--quiet", "host")
    jobs = re.findall(r"^rule (\w+):\n((?: .*\n)+)", done.stdout, re.MULTILINE)
    timed = {rule for rule, text in jobs if re.search(r"^    resources: .*\btiming=1\b", text, re.MULTILINE)}
    assert timed == {"timing", "mesh_study_point", "scaling_ensemble", "scaling_logistic"}
    profile = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text(encoding="utf-8"))
    assert "timing=1" in profile["resources"]


class TestFinishedRun:
    def test_chains_are_all_there(self, finished: Project) -> None:
        for (problem, sampler), chains in CHAINS.items():
            folder = finished.folder / f"results/test/chains/{problem}/{sampler}"
            assert len(list(folder.glob("*.nc"))) == chains
            for chain in range(1, chains + 1):
                stored = read_chain(folder / f"chain{chain}.nc")
                assert stored.draws.shape[0] == DRAWS.get(sampler, 40)
                assert stored.warmup is not None
                assert stored.warmup.shape == (WARMUP.get(sampler, 60), stored.draws.shape[1])
                assert stored.settings["sampler"] == sampler
                assert np.all(stored.stats["values"] == ~stored.stats["solver_failed"])

    def test_chains_of_paper_b_are_all_there(self, finished: Project) -> None:
        for problem, samplers in GRADIENT_CHAINS.items():
            for sampler in samplers:
                stored = read_chain(finished.folder / f"results/test/chains/{problem}/{sampler}/chain1.nc")
                assert stored.warmup is not None
                assert (len(stored.warmup), len(stored.draws)) == (TRAINED.get(sampler, 60), 40)
                drives = "surrogate_" if sampler.startswith("nng_hmc") else "minibatch_" if "sghmc" in sampler else ""
                kinds = {"gradients", "surrogate_gradients", "minibatch_gradients"}
                assert {kind for kind in kinds if stored.stats[kind].any()} == {f"{drives}gradients"}
                assert np.isnan(stored.stats["potential"]).all() == sampler.startswith("sghmc_a")

    def test_table_1_has_its_rows(self, finished: Project) -> None:
        table = pd.read_csv(finished.folder / "results/test/tables/table1.csv")
        assert list(zip(table["problem"], table["sampler"], table["chains"], strict=True)) == [
            (*cell, chains) for cell, chains in CHAINS.items()
        ]
        assert table["ap"].between(0, 1).all()
        assert (table["s_per_iter"] > 0).all()

    def test_rows_timed_on_a_busy_machine_are_marked_everywhere(self, finished: Project) -> None:
        results = finished.folder / "results/test"
        table = pd.read_csv(results / "tables/table1.csv")
        other_cores = {
            (problem, measured["sampler"]): measured["other_cores"]
            for problem in PROBLEMS
            for measured in json.loads((results / f"timing/{problem}.json").read_text(encoding="utf-8"))["samplers"]
        }
        # Those whose kernel is HMC once more as published, and on the elliptic problem none in this run.
        again = {("lr_simulated", f"{sampler}_as_published") for sampler in ("hmc", "rns_hmc")}
        assert {cell for cell in other_cores if cell[1].endswith("_as_published")} == again
        assert other_cores.keys() == CHAINS.keys() | again
        cells = zip(table["problem"], table["sampler"], strict=True)
        assert table["loaded"].tolist() == [other_cores[cell] > LOADED_CORES for cell in cells]
        rows = (results / "tables/table1.md").read_text(encoding="utf-8").splitlines()[2 : 2 + len(table)]
        assert ["\N{NO-BREAK SPACE}† |" in row for row in rows] == table["loaded"].tolist()
        report = (results / "report/index.html").read_text(encoding="utf-8")
        assert report.count(" †</td>") == sum(table["loaded"])
        assert ("Busy machine." in report) == any(pd.read_csv(results / "tables/results.csv")["loaded"])

    def test_every_figure_is_there_with_its_table(self, finished: Project) -> None:
        results = finished.folder / "results/test"
        for figure in FIGURES:
            assert {path.suffix for path in (results / "figures").glob(f"{figure}.*")} == {".png", ".pdf"}
            assert list((results / "tables").glob(f"{figure}*.csv"))

    def test_the_scorecard_has_every_cell_of_table_1_and_a_verdict_for_each_number(self, finished: Project) -> None:
        card = pd.read_csv(finished.folder / "results/test/tables/scorecard.csv")
        cells = card["item"].str.startswith("table1/") & (card["paper"] == "zhang2017")
        assert cells.sum() == 12 * 7
        assert set(card["verdict"]) <= set(VERDICTS)
        # This run has no point near the published settings of sweeps and Table 4, networks that saw another share,
        # and not all step sizes of Fig. 9. Fig. 8 ends with the first sampler that is through, be it before RNS-HMC
        # takes over.
        late = card["quantity"] == "early_error_over_hmc"
        not_run = card.loc[card["note"].str.contains("not run") & ~late, "item"]
        far = not_run.str.startswith(("table4/", "section4", "table5/"))
        far |= not_run.str.contains("/nng_hmc_|_unscaled|/rmhmc|/rns_rmhmc|/arns_hmc")
        assert {item.partition("/")[0] for item in not_run[~far]} <= {"fig1", "fig3", "fig4", "fig5"}

    def test_every_row_says_where_its_data_came_from(self, finished: Project) -> None:
        table = pd.read_csv(finished.folder / "results/test/tables/table1.csv").set_index("problem")
        assert set(table.loc[["lr_simulated"], "data"]) == {"subset"}
        mirrored = "RNSHMC_DATA_MIRROR" in os.environ
        assert set(table.loc[["pde"], "data"]) <= ({"published"} if mirrored else {"published", "simulated"})
        assert set(table.loc[["a9a"], "data"]) <= ({"real"} if mirrored else {"real", "stand-in"})

    def test_the_report_opens_offline(self, finished: Project) -> None:
        folder = finished.folder / "results/test/report"
        assert "Table 1" in (folder / "index.html").read_text(encoding="utf-8")
        pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("*.html")}
        assert {"gradients.html", "parallel.html", *(f"{name}.html" for name in PROBLEMS)} <= pages.keys()
        for page in pages.values():
            links = re.findall(r'(?:src|href)="([^"]*)"', page)
            elsewhere = [link for link in links if not link.startswith(("data:", "#"))]
            assert all((folder / link.partition("#")[0]).exists() for link in elsewhere), elsewhere

    def test_every_figure_has_its_caption_on_one_page(self, finished: Project) -> None:
        results = finished.folder / "results/test"
        captions = [
            path.read_text(encoding="utf-8").count("<figcaption>") for path in (results / "report").glob("*.html")
        ]
        assert sum(captions) == len(list((results / "figures").glob("*.png")))

    def test_every_job_leaves_a_log(self, finished: Project) -> None:
        for stage in ("explore", "chains", "metrics", "timing"):
            files = [path for path in (finished.folder / "results/test" / stage).rglob("*") if path.is_file()]
            # An exploration that keeps its gradients leaves two files.
            made = [path for path in files if not path.name.endswith("_gradients.npz")]
            kept = list((finished.folder / "logs/test" / stage).rglob("*.log"))
            assert len(made) == len(kept) > 0
        log = (finished.folder / "logs/test/explore/a9a/chain1.log").read_text(encoding="utf-8")
        assert "60 of 60 iterations" in log

    def test_a_second_run_has_nothing_to_do(self, finished: Project) -> None:
        assert finished.jobs(*TEST) == {}

    def test_snakemake_report_works(self, finished: Project, tmp_path: Path) -> None:
        done = finished.snakemake(*TEST, "--report", str(tmp_path / "report.zip"))
        assert done.returncode == 0, done.stdout[-5000:]
        with zipfile.ZipFile(tmp_path / "report.zip") as report:
            text = "".join(report.read(name).decode(errors="replace") for name in report.namelist())
        for caption in ("effective sample size", "diffusion field", "executed notebook of lr_simulated"):
            assert caption in text


def test_one_core_gives_the_same_bytes_as_two(finished: Project, project: Project) -> None:
    # Of each recipe one chain: another of the same code would show the same.
    samplers = PROBLEMS["lr_simulated"]
    paths = [finished.folder / f"results/test/chains/lr_simulated/{sampler}/chain1.nc" for sampler in samplers]
    paths += sorted(finished.folder.glob("results/test/chains/cover_type/*/chain1.nc"))
    chains = {recipe_name(path.parent.name): path for path in paths}
    assert chains.keys() == {recipe_name(name) for names in (samplers, *GRADIENT_CHAINS.values()) for name in names}
    targets = [str(path.relative_to(finished.folder)) for path in chains.values()]
    shutil.copytree(finished.folder / "data", project.folder / "data", dirs_exist_ok=True)
    done = project.snakemake("--cores", "1", "--configfile", "config/test.yaml", "--", *targets)
    assert done.returncode == 0, done.stdout[-20000:]
    for path in chains.values():
        two = read_chain(path)
        one = read_chain(project.folder / path.relative_to(finished.folder))
        assert one.draws.tobytes() == two.draws.tobytes(), path
        assert one.warmup is not None
        assert two.warmup is not None
        assert one.warmup.tobytes() == two.warmup.tobytes(), path
        for name, values in two.stats.items():
            assert one.stats[name].tobytes() == values.tobytes(), (path, name)


def test_the_data_that_the_run_test_does_without_can_be_prepared(project: Project) -> None:
    sizes = {
        "bank": (40197, 25),
        "census": (48842, 123),
        "cover_type": (581012, 54),
        "dota2": (102944, 116),
        "lr_200": (50000, 200),
    }
    done = project.snakemake("--cores", "2", "--", *(f"data/processed/{name}.npz" for name in sizes))
    assert done.returncode == 0, done.stdout[-5000:]
    for name, shape in sizes.items():
        with np.load(project.folder / f"data/processed/{name}.npz") as data:
            assert data["X"].shape == shape


@pytest.mark.parametrize(
    ("setting", "names"),
    [
        ("chainz: 3", ["chainz: there is no such key; did you mean 'chains'?", "/bad.yaml, line 1)"]),
        ("chains: 1\nchains: 2", ["bad.yaml, line 2: the key 'chains' appears twice"]),
        ("problems: {bank: {samplers: {hmc: {keep: 30.0}}}}", ["problems.bank.samplers.hmc.keep: 30.0 is not of type"]),
        ("problems: {bank: {samplers: {hmc: {step_size: .nan}}}}", ["hmc.step_size: nan is not of type 'number'"]),
        ("problems: {bank: {samplers: {hmc: {stepsize: 0.1}}}}", ["bank", "stepsize"]),
        ("problems: {bank: {target: {prior_sds: 1.0}}}", ["bank", "prior_sds"]),
        ("problems: {bank: {samplers: {nuts: {step_size: 0.1, n_steps: [1, 2]}}}}", ["bank", "nuts"]),
        ("chains: 0", ["chains", "minimum"]),
        ("problems: {garch: {paper: li2091}}", ["problems.garch.paper", "'li2091'", "has li2019, zhang2017"]),
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
