"""Snakemake's private interfaces work as the workflow expects; `make test-snakemake` tests two versions."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from rnshmc.run import internals

ROOT = Path(__file__).resolve().parents[2]
LONG = f"results/{'x' * 190}.txt"
PARTS = f"""
import json
from pathlib import Path
from rnshmc.run import internals
from snakemake.common.configfile import load_configfile
from snakemake.logging import logger

configs = [load_configfile(file) for file in internals.config_files(workflow)]

rule all:
    default_target: True
    input: "results/shell.txt", "results/script.txt", "results/run.txt", "{LONG}"

rule shell_:
    output: "results/shell.txt"
    shell:
        "echo {{params.command}} > {{output}};"
        "timeout 60 sh -c 'until ls .snakemake/incomplete | grep . > {{log}}; do sleep 0.1; done'"

rule script_:
    output: "results/script.txt"
    log: "own.log"
    conda: "own.yml"
    script: "make.py"

rule coded:
    output: "results/coded.txt"
    params: code="own"
    script: "make.py"

rule run_:
    output: "results/run.txt"
    run:
        Path(output[0]).touch()

rule long_:
    output: "{LONG}"
    shell: "touch {{output}}"

rule broken:
    output: "results/broken.txt"
    shell: "echo the reason > {{log}}; exit 137"

facts = {{}}
for rule_ in internals.own_rules(workflow):
    internals.complete(rule_, lambda script: f"digest of {{script}}", "all.yml")
    facts[rule_.name] = {{
        "params": dict(rule_.params.items()),
        "environment": str(rule_.conda_env),
        "log": str(rule_.log[0]),
    }}
main = internals.is_main_process(workflow)
Path("configs.json").write_text(json.dumps(configs))
Path("main.json" if main else "other.json").write_text(json.dumps(facts))
Path("cores.json" if main else "other_cores.json").write_text(json.dumps(internals.local_cores(workflow)))
logger.addHandler(internals.JobErrors(logger, Path("configs.json")))

onstart:
    Path("replaced.json").write_text(json.dumps(internals.replaced_outputs(workflow)))
"""
INCLUDING = """
rule first:
    output: "results/first.txt"
    shell: "touch {output}"

include: "parts.smk"

internals.set_default_target(workflow, rules.all)
"""
USING = """
rule outside:
    output: "results/outside.txt"
    shell: "touch {output}"

module inner:
    snakefile: "parts.smk"

use rule * from inner
"""
SCRIPT = """
from rnshmc.run.internals import is_locked
open(snakemake.output[0], "w").write(f"{is_locked()} {snakemake.params.code}")
"""


class Ended(NamedTuple):
    """A folder in which Snakemake ran, with its status and output."""

    folder: Path
    status: int
    output: str

    def read(self, name: str) -> Any:
        """A file that the workflow left."""
        text = (self.folder / name).read_text(encoding="utf-8")
        return json.loads(text) if name.endswith(".json") else text.strip()


def snakemake(folder: Path, snakefile: str, *arguments: str) -> Ended:
    files = {"Snakefile": snakefile, "parts.smk": PARTS, "make.py": SCRIPT, "own.yml": "{}", "all.yml": "{}"}
    files |= {"1.yaml": "one: 1e-3", "2.yaml": "one: 2"}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "snakemake", "--cores", "1", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        command, cwd=folder, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
    return Ended(folder, done.returncode, done.stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Ended:
    """A run of all rules but the broken one."""
    ended = snakemake(tmp_path_factory.mktemp("made"), INCLUDING, "--configfile", "1.yaml", "2.yaml")
    assert ended.status == 0, ended.output
    return ended


def test_config_files_are_listed_in_their_order_and_read(made: Ended) -> None:
    assert made.read("configs.json") == [{"one": "1e-3"}, {"one": 2}]


def test_the_default_target_outlives_an_inclusion(made: Ended) -> None:
    assert (made.folder / "results/shell.txt").exists()
    assert not (made.folder / "results/first.txt").exists()


def test_the_rules_of_a_workflow_that_uses_this_one_are_left_alone(tmp_path: Path) -> None:
    ended = snakemake(tmp_path, USING, "outside")
    assert ended.status == 0, ended.output
    assert ended.read("main.json").keys() == {"shell_", "script_", "coded", "run_", "long_", "broken"}


def test_a_rule_gets_an_environment_unless_it_has_one(made: Ended) -> None:
    environments = {rule: Path(facts["environment"]).name for rule, facts in made.read("main.json").items()}
    assert environments["script_"] == "own.yml"
    assert environments["shell_"] == "all.yml"


def test_a_rule_gets_digests_of_its_script_and_command_unless_it_has_one(made: Ended) -> None:
    found = {rule: facts["params"] for rule, facts in made.read("main.json").items()}
    assert found["script_"] == {"code": "digest of scripts/make.py"}
    assert found["coded"] == {"code": "own"}
    assert found["broken"] == {"command": hashlib.sha256(b"echo the reason > {log}; exit 137").hexdigest()}
    assert found["run_"] == {}
    assert made.read("results/shell.txt") == found["shell_"]["command"]
    assert made.read("results/script.txt").endswith(" digest of scripts/make.py")


def test_a_log_is_named_after_the_first_output_unless_it_has_a_name(made: Ended) -> None:
    assert (made.folder / "logs/shell.log").exists()
    assert made.read("main.json")["script_"]["log"] == "own.log"


def test_the_process_of_a_job_is_not_the_main_one(made: Ended) -> None:
    assert (made.folder / "main.json").exists()
    assert (made.folder / "other.json").exists()


def test_cores_are_those_of_a_run_on_this_machine_and_of_none_of_its_jobs(made: Ended, tmp_path: Path) -> None:
    assert (made.read("cores.json"), made.read("other_cores.json")) == (1, None)
    on_a_cluster = snakemake(tmp_path, INCLUDING, "--jobs", "5", "--dry-run")
    assert on_a_cluster.status == 0, on_a_cluster.output
    assert on_a_cluster.read("cores.json") is None


def test_outputs_of_the_jobs_to_run_are_listed(made: Ended) -> None:
    assert set(made.read("replaced.json")) == {f"results/{name}.txt" for name in ("shell", "script", "run")} | {LONG}


def test_the_folder_is_locked_while_a_run_works(made: Ended, monkeypatch: pytest.MonkeyPatch) -> None:
    assert made.read("results/script.txt").startswith("True ")
    monkeypatch.chdir(made.folder)
    assert not internals.is_locked()


@pytest.mark.parametrize("output", ["results/shell.txt", LONG])
def test_the_record_of_an_output_is_found(made: Ended, output: str) -> None:
    assert json.loads((made.folder / internals.record_path(output)).read_text())["rule"] in ("shell_", "long_")


def test_an_output_is_marked_while_a_job_makes_it(made: Ended) -> None:
    # Snakemake marks the output after it has started the job: the job of rule shell_ waits for that.
    mark = internals.incomplete_mark("results/shell.txt")
    assert mark.parent == Path(".snakemake/incomplete")
    assert mark.name in made.read("logs/shell.log").split()
    assert not (made.folder / mark).exists()


def test_a_failed_job_is_explained(tmp_path: Path) -> None:
    ended = snakemake(tmp_path, INCLUDING, "results/broken.txt")
    assert ended.status != 0
    assert "Rule broken failed to make results/broken.txt; log: logs/broken.log\n  | the reason\n" in ended.output
    assert "It was killed, probably because memory ran out" in ended.output
    assert "Finished results are kept; run the same command again" in ended.output
