"""Shared by all rules: wildcards, paths, and functions from the config to a rule's parameters."""

import os
import re
import shlex
import sys
from functools import cache
from pathlib import Path
from types import SimpleNamespace

# The project's folder. The workflow may run in another one, with its own results there.
ROOT = Path(workflow.snakefile).resolve().parents[2]


def project_path(path):
    """Path of a project file, relative to the folder that the workflow runs in."""
    return os.path.relpath(ROOT / path)


# The workflow and its jobs run the files that `code` digests, whichever copy of the package is installed.
sys.path.insert(0, str(ROOT / "src"))
os.environ.update(
    PYTHONPATH=os.pathsep.join([str(ROOT / "src"), os.getenv("PYTHONPATH", "")]).strip(os.pathsep),
    # Shell rules call the python that runs snakemake, whether or not the environment is activated.
    PATH=os.pathsep.join([str(Path(sys.executable).parent), os.getenv("PATH", "")]),
)

# Slurm runs a job as a step, which Open MPI would use for its ranks: that fails without PMIx, and with PMIx at the second
# program. An MPI job starts its own step.
for name in [name for name in os.environ if name.startswith("PMIX_") or name in ("SLURM_STEP_ID", "SLURM_STEPID")]:
    del os.environ[name]

from rnshmc.masking import handed_over, masked
from rnshmc.run import internals
from rnshmc.run.config import check_config, is_selected, selected_problems
from rnshmc.run.mpi import MPI_SETTINGS
from rnshmc.run.recipes import AUTO, recipe, recipe_name
from rnshmc.run.registry import FITTED_TO_GRADIENTS, KERNELS, OWN_TARGETS, SURROGATES, TARGETS, VIEWS, target_settings
from rnshmc.run.schema import check_schema
from rnshmc.results.estimates import as_published
from rnshmc.scorecard.papers import NO_PAPER, papers_of, read_papers
from rnshmc.rerun.closure import imported_names, module_file
from rnshmc.rerun.code_digest import code_digest, own_digest

check_schema(
    config,
    load_configfile(ROOT / "workflow/schemas/config.schema.yaml"),
    dict.fromkeys([Path(project_path("config/config.yaml")), *internals.config_files(workflow)]),
)
check_config(config)
# Jobs keep freed memory for their next arrays. By default, glibc returns arrays of some MB to the system, and the next
# ones cost a page fault for every 4 kB: a quarter of a gradient of the Gaussian process regression.
MEMORY_SETTINGS = {"MALLOC_MMAP_THRESHOLD_": str(2**25), "MALLOC_TRIM_THRESHOLD_": str(2**30)}
# Settings of the user's environment take precedence.
for name, value in {**MPI_SETTINGS, **MEMORY_SETTINGS}.items():
    os.environ.setdefault(name, value)

RESULTS = f"results/{config['run']}"
LOGS = f"logs/{config['run']}"
SCRIPTS = shlex.quote(project_path("workflow/scripts"))


def with_digest(entry):
    """The entry of a problem, with the digest of a user's file, so that an edit reruns the jobs that use it."""
    target = entry["target"]
    if target["kind"] != "python":
        return entry
    return {**entry, "target": {**target, "digest": own_digest(Path(target["path"]), ROOT)}}


PROBLEMS = {name: with_digest(entry) for name, entry in selected_problems(config).items()}
# Parameters are recorded in many places, so passwords reach jobs through the environment only.
os.environ.update(handed_over(entry["target"] for entry in PROBLEMS.values()))
PROBLEMS = {name: {**entry, "target": masked(entry["target"])} for name, entry in PROBLEMS.items()}
TITLES = {name: entry["title"] for name, entry in PROBLEMS.items()}
PAPERS = read_papers(ROOT / "papers/papers.csv")
PAPER_OF = papers_of(PROBLEMS, PAPERS)
REFERRED = [name for name, entry in PROBLEMS.items() if entry["compared_with"] == "reference"]
CHAINS = [f"chain{k}" for k in range(1, config["chains"] + 1)]
# Problems with a user's model, and those sampled by `rnshmc.sample`.
OWN = [name for name, problem in PROBLEMS.items() if problem["target"]["kind"] in OWN_TARGETS]
AUTOMATIC = [name for name, problem in PROBLEMS.items() if AUTO in problem["samplers"]]
ELLIPTIC = [name for name, problem in PROBLEMS.items() if problem["target"]["kind"] == "elliptic"]
# Problems whose explorations record gradients along trajectories, for surrogates that are fitted to them.
RECORDED = [
    name
    for name, problem in PROBLEMS.items()
    if any(entry["type"] in FITTED_TO_GRADIENTS for entry in problem["surrogates"].values())
]


def shown_as(problem):
    """The paper of a problem, which determines its presentation."""
    return PAPERS[PAPER_OF[problem]] if problem in PAPER_OF else NO_PAPER


# Problems with their own page, and problems in the figures over problems.
PAGED = [name for name in PROBLEMS if shown_as(name).pages == "each"]


def one_of(names):
    """Constraint of a wildcard to names; without names, it matches nothing."""
    return "|".join(map(re.escape, names)) or "(?!)"


wildcard_constraints:
    **dict.fromkeys(("cells", "d", "hidden_units", "ranks", "run", "size", "training_points"), r"\d+"),
    problem=one_of(PROBLEMS),
    sampler=one_of(sorted({s for p in PROBLEMS.values() for s in p["samplers"] if s != AUTO})),
    surrogate=one_of(sorted({s for p in PROBLEMS.values() for s in p["surrogates"]})),
    chain=r"chain\d+",
    rows=r"[1-9]\d*",


def problem_entry(wildcards):
    """The config of a job's problem."""
    return PROBLEMS[wildcards.problem]


def samplers(problem):
    """The samplers of a problem, in the order of the config."""
    return list(PROBLEMS[problem]["samplers"])


def chain_names(problem, sampler):
    """The chains of a sampler: the first ones if its entry sets a smaller number."""
    most = PROBLEMS[problem].get("chains", len(CHAINS))
    return CHAINS[: PROBLEMS[problem]["samplers"][sampler].get("chains", most)]


def chain_files(pattern, problem, sampler):
    """One file for each chain of a sampler."""
    return expand(pattern, problem=problem, sampler=sampler, chain=chain_names(problem, sampler))


def fit_files(pattern):
    """One file for each chain's fit of each surrogate that has a value and drives a sampler."""
    fits = {
        (name, entry["surrogate"], chain): None
        for name in PROBLEMS
        for sampler, entry in PROBLEMS[name]["samplers"].items()
        if "surrogate" in entry and surrogate_type(name, entry["surrogate"]) not in FITTED_TO_GRADIENTS
        for chain in chain_names(name, sampler)
    }
    return [pattern.format(problem=name, surrogate=surrogate, chain=chain) for name, surrogate, chain in fits]


def data_file(name):
    """Data file of a problem's target."""
    if name in OWN:
        return f"{RESULTS}/models/{name}.npz"
    return PROBLEMS[name]["data"].format(run=config["run"])


def data_spec(entry, stream, settings):
    """Everything that determines a processed set: its function, the names of its random stream, its settings."""
    return {"seed": config["seed"], "entry": entry, "stream": stream, "settings": settings}


def data_of(wildcards):
    """Data file of a job's target."""
    return data_file(wildcards.problem)


def surrogate_of(problem, sampler):
    """Name of the surrogate that drives a sampler; None if the exact potential does."""
    return PROBLEMS[problem]["samplers"][sampler].get("surrogate")


def chain_number(wildcards):
    """Number of a chain: 1 for chain1."""
    return int(wildcards.chain.removeprefix("chain"))


@cache
def code(script, *entries):
    """Digest of a job's code: the script, its imports, and the named registry entries.

    As a parameter of every rule it makes an edit rerun exactly the jobs that use the edited code; a file's time, its
    comments and docstrings do not count (docs/workflow.md).
    """
    return code_digest(Path("workflow", script), entries, ROOT)


def script_imports(path):
    """Modules of the package that a notebook imports, as registry entries for `code`."""
    return [name for name in imported_names(path) if module_file(name, ROOT / "src")]


def target_entry(problem):
    """Registry entry of a problem's target."""
    return TARGETS[PROBLEMS[problem]["target"]["kind"]]


def sampler_code(wildcards):
    """Registry entries of a problem's target, and of a sampler's kernel, surrogate and view."""
    chosen = recipe(wildcards.sampler)
    surrogate = [SURROGATES[chosen.surrogate]] if chosen.surrogate else []
    view = [VIEWS[chosen.view]] if chosen.view else []
    return [target_entry(wildcards.problem), KERNELS[chosen.kernel], *surrogate, *view]


def iterations(problem, phase):
    """Iterations of a phase: from the problem's entry, or else the common setting."""
    return {**config["iterations"], **PROBLEMS[problem].get("iterations", {})}[phase]


def surrogate_type(problem, surrogate):
    """Name of a surrogate's class in the registry."""
    return PROBLEMS[problem]["surrogates"][surrogate]["type"]


def training_end(problem, surrogate):
    """The iteration of the exploration at which a surrogate's training set ends, and its chains begin."""
    explore, discard = iterations(problem, "explore"), iterations(problem, "discard")
    return min(explore, discard + PROBLEMS[problem]["surrogates"][surrogate].get("states", explore))


def exploration_of(problem, surrogate):
    """The exploration that a surrogate is fitted to and its chains begin with: its own, or the problem's."""
    own = surrogate is not None and "whitened" in PROBLEMS[problem]["surrogates"][surrogate]
    pattern = rules.explore_whitened.output.chain if own else rules.explore.output.chain
    return pattern.format(problem=problem, surrogate=surrogate, chain="{chain}")


def kept(wildcards):
    """Number of kept draws of a sampler's chain: from its entry, or else the problem's."""
    return problem_entry(wildcards)["samplers"][wildcards.sampler].get("keep", iterations(wildcards.problem, "keep"))


def fitted_surrogate(problem, sampler, chain, suffix="npz"):
    """The file of the surrogate that drives a sampler's chain; none if the exact potential does."""
    name = surrogate_of(problem, sampler)
    return f"{RESULTS}/surrogates/{problem}/{name}/{chain}.{suffix}" if name else []


def sampler_files(problem, *recipes):
    """The chains of all samplers of a problem, or of those with one of the recipes."""
    return [
        path
        for sampler in samplers(problem)
        if not recipes or (sampler != AUTO and recipe_name(sampler) in recipes)
        for path in chain_files(rules.sample.output.chain, problem, sampler)
    ]


def demand(mem_mb, runtime):
    """Cluster resources of a job, in megabytes and minutes, which grow with each retry. Changing them reruns nothing."""
    return {
        "mem_mb": lambda wildcards, attempt: mem_mb * attempt,
        "runtime": lambda wildcards, attempt: runtime * attempt,
    }


# Resources of a job that is timed on a number of ranks, alone on the machine. One rank has no launcher, since the Slurm
# plugin rejects MPI jobs of one task.
TIMED_ON_RANKS = {
    "mpi": lambda wildcards: config["mpi"]["launcher"] if int(wildcards.ranks) > 1 else "",
    "tasks": lambda wildcards: int(wildcards.ranks),
    "timing": 1,
}
# Cores of this machine; on a cluster, the config alone decides.
CORES = internals.local_cores(workflow)


def on_cores(ranks):
    """The numbers of ranks that have a core for each rank."""
    return [count for count in ranks if CORES is None or count <= CORES]


def on_ranks(script):
    """The shell command that runs a script with its arguments on a job's ranks."""
    # One BLAS thread per rank; mpi4py's runner ends all ranks when one raises.
    return (
        "launcher='{resources.mpi}'; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"
        " ${{launcher:+$launcher -n {resources.tasks}}}"
        f" python -m mpi4py {SCRIPTS}/{script} > {{log}} 2>&1"
    )


def shown_table(name, label=None):
    """A table of the run, included in Snakemake's own report."""
    return report(
        f"{RESULTS}/tables/{name}.csv",
        caption=f"../report/{name}.rst",
        category="Tables",
        labels={"table": label or name},
    )
