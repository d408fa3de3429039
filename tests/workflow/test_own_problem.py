"""A user's problem in a user's folder: the example of the documentation, and the jobs rerun by its edit."""

import html
import re
import shlex
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from snakemake.utils import update_config

from rnshmc.store.chains import read_chain
from rnshmc.store.clock import EVERY_S
from tests.workflow.conftest import ROOT, Project, copy_project
from tests.workflow.test_changes import Edit, edited
from tests.workflow.test_resume import job_process

pytestmark = pytest.mark.workflow

TWO = ("--cores", "2")
EXAMPLE = Path("docs/example-own-problem")
CLONE = "a clone"
"""In a folder with a space, as some are."""
PROMISED = re.findall(r"^    (\S+)(.*)$", (ROOT / EXAMPLE / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
COMMAND = next(shlex.split(rest) for word, rest in PROMISED if word == "snakemake")
"""What the page says to run, without the program's name."""
OUTPUTS = [word for word, _ in PROMISED if word.startswith("results/")]
"""What the page says that it ends with."""
PAGE, TABLE = "results/mine/report/counts.html", "results/mine/tables/results.csv"
AUTO = "chains/counts/auto/chain1"
PASSWORD = "hunter2"
RATIO = "log_ratio <i>$ | 1"
# One chain of each of two samplers, without a reference run; a title, a name and settings that do harm where they are
# not escaped, or not masked.
SHORT = {
    "chains": 1,
    "data": {"mirror": f"http://me:{PASSWORD}@localhost:9/data"},
    "timing": {"blocks": 2, "block_iterations": 20},
    "problems": {
        "counts": {
            "title": r"Two rates of events <script>alert(1)</script> | \input{secret} $\frac{ 5$ of a_b",
            "names": ["log_rate", RATIO],
            "target": {"settings": {"api_key": PASSWORD}},
            "without": ["rns_hmc"],
            "compared_with": "hmc",
        }
    },
}
PAUSE_S = 0.1
KILLED_AFTER = 45
"""Evaluations, of some 70."""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A copy of the example beside a copy of the project."""
    base = tmp_path_factory.mktemp("own")
    copy_project(base / CLONE)
    shutil.copytree(ROOT / EXAMPLE, base / "mine", ignore=shutil.ignore_patterns(".*", "results", "logs"))
    snakefile, file = base / "mine/Snakefile", base / "mine/config.yaml"
    text = snakefile.read_text(encoding="utf-8")
    assert '"../../workflow/Snakefile"' in text
    snakefile.write_text(text.replace('"../../workflow/Snakefile"', f'"{base}/{CLONE}/workflow/Snakefile"'))
    config = yaml.safe_load(file.read_text(encoding="utf-8"))
    update_config(config, SHORT)
    file.write_text(yaml.safe_dump(config), encoding="utf-8")
    model = base / "mine/my_model.py"
    source = model.read_text(encoding="utf-8")
    assert "def posterior(prior_sd):\n" in source
    opened = f"def posterior(prior_sd, api_key):\n    assert len(api_key) == {len(PASSWORD)}\n"
    model.write_text(source.replace("def posterior(prior_sd):\n", opened), encoding="utf-8")
    return Project(base / "mine")


@pytest.fixture(scope="module")
def ended(own: Project) -> Project:
    """The example after the command of its page. Tests do not change it."""
    done = own.snakemake(*COMMAND)
    assert done.returncode == 0, done.stdout[-10000:]
    return own


def shown(page: Path) -> str:
    """What a page shows, without its folded parts."""
    text = re.sub(r"<(style|details)\b.*?</\1>", " ", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def test_the_command_of_the_page_makes_what_it_promises(ended: Project) -> None:
    assert COMMAND == ["--cores", "all"]
    assert OUTPUTS
    assert [path for path in OUTPUTS if not (ended.folder / path).exists()] == []
    assert ended.jobs(*COMMAND) == {}


def test_names_of_the_config_are_on_the_page(ended: Project) -> None:
    text = shown(ended.folder / PAGE)
    table = text[text.index("Posterior") : text.index("What was run")]
    assert re.search(r"log_rate HMC 1\.3\d+ ± 0\.\d+ 0\.1\d+ ± 0\.\d+ log_rate auto", table)
    assert f"{html.escape(RATIO)} auto" in table
    # x0 is what the verdict calls the start.
    assert not re.search(r"\b(?:x1|q\d)\b", text)


@pytest.mark.parametrize("name", ["index.html", "counts.html"])
def test_no_page_speaks_of_a_paper(name: str, ended: Project) -> None:
    text = shown(ended.folder / "results/mine/report" / name)
    assert "Two rates of events" in text
    assert re.findall(r"\b(?:papers?|published|printed|Table 1)\b", text, re.IGNORECASE) == []


@pytest.mark.parametrize("name", ["index.html", "counts.html"])
def test_title_and_names_of_the_config_are_no_markup(name: str, ended: Project) -> None:
    page = (ended.folder / "results/mine/report" / name).read_text(encoding="utf-8")
    assert "Two rates of events &lt;script&gt;alert(1)&lt;/script&gt; |" in page
    assert "<script>alert" not in page
    assert "<i>" not in page


def test_title_and_names_of_the_config_are_no_commands_or_columns(ended: Project) -> None:
    tables = ended.folder / "results/mine/tables"
    latex, markdown = ((tables / f"table1.{suffix}").read_text(encoding="utf-8") for suffix in ("tex", "md"))
    assert r"\input" not in latex
    assert r"\textbackslash{}input\{secret\} \$" in latex
    assert r"events \<script\>alert(1)\</script\> \| \\input{secret} \$" in markdown
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in markdown.splitlines() if line.startswith("|")}) == 1


def test_no_file_of_the_run_has_a_password(ended: Project) -> None:
    written = [path for path in ended.folder.rglob("*") if path.is_file() and path.name != "config.yaml"]
    assert {"counts.html", "provenance.json"} <= {path.name for path in written}
    assert [path for path in written if PASSWORD.encode() in path.read_bytes()] == []
    assert '"api_key": "***"' in (ended.folder / "results/mine/provenance.json").read_text(encoding="utf-8")


def test_the_baseline_moves(ended: Project) -> None:
    table = pd.read_csv(ended.folder / TABLE).set_index("sampler")
    acceptance, least = table.loc["hmc", ["ap", "ess_min"]].to_numpy(dtype=float)
    assert 0.6 < acceptance < 0.99
    assert least > 100


def test_shell_commands_find_their_scripts_in_a_folder_with_a_space(own: Project) -> None:
    said = own.snakemake(*TWO, "--dry-run", "--printshellcmds", "--", "results/mine/forward/forms.json").stdout
    scripts = [word for word in shlex.split(said[said.index("python ") :]) if word.endswith("warm_forms.py")]
    assert len(scripts) == 2
    assert all((own.folder / script).is_file() for script in scripts)


def test_a_job_that_fails_in_a_module_leaves_the_result_that_it_was_to_replace(own: Project) -> None:
    model = "results/failed/models/counts.npz"
    goal = (*TWO, "--config", "run=failed", "--", model)
    assert own.snakemake(*goal).returncode == 0
    before = (own.folder / model).read_bytes()
    with edited(own, Edit("my_model.py", "[second, second]", "[-second, second]")):
        done = own.snakemake(*goal)
        assert done.returncode != 0
        assert "Finished results are kept;" in done.stdout
        assert own.jobs(*goal) == {"model": 1}
    assert (own.folder / model).read_bytes() == before
    assert own.jobs(*goal) == {}


def test_as_many_names_as_parameters_are_asked_for(own: Project) -> None:
    with edited(own, Edit("config.yaml", f"    - {RATIO}\n", "")):
        done = own.snakemake(*TWO, "--config", "run=named", "--", "results/named/models/counts.npz")
    assert done.returncode != 0
    assert "problems.counts (my_model.py): names has 1 entries, but the model has dim 2" in done.stdout


def test_a_killed_run_of_auto_counts_its_seconds_from_the_first_start(own: Project) -> None:
    goal = (*TWO, "--config", "run=killed", "--", f"results/killed/{AUTO}.nc")
    kept = own.folder / "results/killed/checkpoints/counts/auto"
    slow = Edit("my_model.py", "a, b = x", f'a, b = x; __import__("time").sleep({PAUSE_S})')
    with edited(own, slow):
        with ThreadPoolExecutor() as pool:
            run = pool.submit(own.snakemake, *goal)
            while sum(len(file.read_bytes().splitlines()) for file in kept.glob("*.jsonl")) < KILLED_AFTER:
                assert not run.done(), run.result().stdout
                time.sleep(PAUSE_S)
            job_process(own, "sample_auto").kill()
        assert run.result().returncode != 0
        done = own.snakemake(*goal)
    assert done.returncode == 0, done.stdout
    chain = read_chain(own.folder / f"results/killed/{AUTO}.nc")
    assert chain.phases["sample"]["wall_s"] > chain.stats["values"].sum() * PAUSE_S - EVERY_S
    assert list(kept.iterdir()) == []


def test_a_model_that_cannot_be_used_is_told_before_any_chain_runs(own: Project) -> None:
    model = Edit("my_model.py", "[second, second]", "[-second, second]")
    with edited(own, model):
        done = own.snakemake(*TWO, "--config", "run=wrong", "--", "results/wrong/explore/counts/chain1.nc")
    assert done.returncode != 0
    assert "problems.counts (my_model.py): potential: its gradient is wrong" in done.stdout
    assert not (own.folder / "results/wrong/explore/counts/chain1.nc").exists()


def test_it_ends_with_a_page_and_a_row_for_each_sampler(ended: Project) -> None:
    table = pd.read_csv(ended.folder / TABLE).set_index("sampler")
    assert list(table.index) == ["hmc", "auto"]
    assert set(table["data"]) == {"user"}
    chain = read_chain(ended.folder / f"results/mine/{AUTO}.nc")
    spent = table.loc["auto", ["values_per_iter", "gradients_per_iter"]].to_numpy(dtype=float) * len(chain.draws)
    np.testing.assert_allclose(spent, [chain.stats[name].sum() for name in ("values", "gradients")], rtol=1e-12)
    assert spent.max() < len(chain.draws)
    assert "What auto said of chain 1" in (ended.folder / PAGE).read_text(encoding="utf-8")


def test_nothing_of_it_goes_to_the_project(ended: Project) -> None:
    project = ended.folder.parent / CLONE
    assert not (project / "results").exists()
    assert not (project / "data/processed").exists()
    assert (ended.folder / "results/mine/provenance.json").exists()


def test_other_names_sample_nothing_again_but_auto(ended: Project) -> None:
    with edited(ended, Edit("config.yaml", f"- {RATIO}\n", "- log_quotient\n")):
        jobs = ended.jobs(*COMMAND)
    assert jobs["sample_auto"] == 1
    assert not {"model", "explore", "sample", "timing"} & jobs.keys()


def test_an_edit_of_the_model_reruns_all_that_use_it_and_a_comment_nothing(ended: Project) -> None:
    with edited(ended, Edit("my_model.py", new="\n# A comment.\n")):
        assert ended.jobs(*COMMAND) == {}
    with edited(ended, Edit("my_model.py", "[40, 40]", "[40, 41]")):
        jobs = ended.jobs(*COMMAND)
    uses = ("model", "explore", "sample", "sample_auto", "timing")
    assert {rule: jobs.pop(rule, 0) for rule in uses} == dict.fromkeys(uses, 1)
    # And what is made of their results.
    assert jobs == {"metrics": 1, "tables": 1, "figure": 7, "notebook": 1, "report": 1, "provenance": 1, "all": 1}
