"""Cluster resources of jobs: every rule sets memory and time, and requests more at each retry."""

import re
import shutil

import pytest

from tests.workflow.conftest import ROOT, Project

pytestmark = pytest.mark.workflow

TEST = ("--cores", "2", "--configfile", "config/test.yaml")
# Nothing is run for them.
TARGETS = ("all", "searches")
# The run "test" does without the largest data sets.
LARGE = [f"data/processed/{name}.npz" for name in ("census", "cover_type", "dota2", "lr_200")]


def jobs(project: Project, *arguments: str) -> list[tuple[str, dict[str, str]]]:
    """The rule of each job of a dry run, and what the job asks for; its threads, too, where it says how many."""
    # The profile keeps rules quiet; what a job asks for is among what it would say.
    done = project.snakemake("--dry-run", *TEST, "--quiet", "host", *arguments)
    assert done.returncode == 0, done.stdout
    found = []
    for rule, text in re.findall(r"^(?:local)?rule (\w+):\n((?: .*\n)+)", done.stdout, re.MULTILINE):
        lines = re.findall(r"^    (?:resources: (.*)|(threads): (\d+))$", text, re.MULTILINE)
        items = [item for line, *threads in lines for item in (line.split(", ") if line else ["=".join(threads)])]
        found.append((rule, dict(item.split("=", 1) for item in items if "=" in item)))
    return [(rule, asked) for rule, asked in found if rule not in TARGETS]


def resources(project: Project, attempt: int) -> dict[str, dict[str, str]]:
    """Resources of a job of each rule at its n-th attempt."""
    return dict(jobs(project, "--attempt", str(attempt), "--", *TARGETS, *LARGE))


def test_every_rule_asks_for_memory_and_time_and_for_more_at_each_attempt(project: Project) -> None:
    listed = project.snakemake(*TEST, "--list-rules")
    rules = set(re.findall(r"^(\w+) \(.*\)$", listed.stdout, re.MULTILINE)) - set(TARGETS)
    assert {"download", "forward_model", "sample", "report"} < rules
    # Inputs of searches.
    shutil.copytree(ROOT / "benchmarks", project.folder / "benchmarks", ignore=shutil.ignore_patterns("results"))
    first, third = resources(project, 1), resources(project, 3)
    assert set(first) == set(third) == rules
    for name in ("mem_mb", "runtime"):
        assert {rule for rule in rules if name not in first[rule]} == set()
        stays = {rule for rule in rules if int(third[rule][name]) <= int(first[rule][name])}
        assert stays == set(), f"{name} does not grow"


def test_more_memory_and_time_rerun_nothing(project: Project) -> None:
    """Resources do not affect results."""
    receipt, rules = "data/processed/lr_simulated.npz", project.folder / "workflow/rules/data.smk"
    done = project.snakemake(*TEST, "--", receipt)
    assert done.returncode == 0, done.stdout
    text = rules.read_text(encoding="utf-8")
    changed = re.sub(r"demand\(mem_mb=\d+, runtime=\d+\)", "demand(mem_mb=3000, runtime=77)", text)
    assert changed != text
    rules.write_text(changed, encoding="utf-8")
    assert project.jobs(*TEST, "--", receipt) == {}


def test_on_slurm_every_mpi_job_is_launched_by_srun_with_one_core_for_each_rank(project: Project) -> None:
    """With threads of its own, each rank would be given so many cores, and the job might wait for ever."""
    asked = [(rule, what) for rule, what in jobs(project, "--profile", "profiles/slurm") if "mpi" in what]
    assert "forward_model" in dict(asked)
    for rule, what in asked:
        launcher = "srun" if int(what["tasks"]) > 1 else ""
        assert (what["mpi"], what.get("threads", "1")) == (launcher, "1"), f"{rule}: add it to profiles/slurm"
