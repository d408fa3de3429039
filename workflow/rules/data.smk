"""Data: downloaded, normalised, projected, simulated; some of their rows."""

RAW = "data/raw"
PROCESSED = "data/processed"
STANDINS = "data/standin"
SOURCES = {  # raw data sets of each processed one
    "bank": ["bank"],
    "a9a": ["adult"],
    "census": ["adult", "adult-test"],
    "news": ["news"],
    "dota2": ["dota2", "dota2-test"],
    "cover_type": ["covertype"],
}
RECEIPTS = {f"{PROCESSED}/{name}.npz": [f"{RAW}/{raw}.json" for raw in found] for name, found in SOURCES.items()}

# Where data are read from is not what they are: the mirror is no parameter, so that another one reruns nothing.
if config["data"]["mirror"] and not os.getenv("RNSHMC_DATA_MIRROR"):
    os.environ.update(RNSHMC_DATA_MIRROR=config["data"]["mirror"])


rule download:
    """Fetch a data set's raw file from the first source that has it."""
    input:
        sources="data/sources.yaml",
    output:
        receipt=f"{RAW}/{{dataset}}.json",
    params:
        code=code("scripts/download.py"),
        spec={"policy": config["data"]["policy"]},
    wildcard_constraints:
        dataset="|".join({raw: None for found in SOURCES.values() for raw in found}),
    log:
        "logs/data/download_{dataset}.log",
    localrule: True
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=30),
    script:
        "../scripts/download.py"


rule normalize_bank:
    """Encode and standardise Bank Marketing: 40197 x 25."""
    input:
        receipt=f"{RAW}/bank.json",
        summary=f"{STANDINS}/bank.csv",
    output:
        data=f"{PROCESSED}/bank.npz",
    params:
        code=code("scripts/normalize_bank.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/normalize_bank.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/normalize_bank.py"


rule encode_a9a:
    """Encode Adult as the 123 binary columns of a9a: 32561 x 123."""
    input:
        receipt=f"{RAW}/adult.json",
        summary=f"{STANDINS}/a9a.csv",
    output:
        data=f"{PROCESSED}/a9a_encoded.npz",
    params:
        code=code("scripts/encode_a9a.py"),
        spec={"seed": config["seed"]},
    log:
        "logs/data/encode_a9a.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/encode_a9a.py"


rule project_a9a:
    """Project a9a to 60 columns, the intercept among them (paper A, section 5.1)."""
    input:
        encoded=rules.encode_a9a.output.data,
    output:
        data=f"{PROCESSED}/a9a.npz",
    params:
        code=code("scripts/project_a9a.py"),
        spec={"seed": config["seed"], "dimension": 60},
    log:
        "logs/data/project_a9a.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/project_a9a.py"


rule simulate_logistic:
    """Simulate a logistic regression with 100000 observations and 50 parameters (paper A, section 5.1)."""
    output:
        data=f"{PROCESSED}/lr_simulated.npz",
    params:
        code=code("scripts/simulate_logistic.py"),
        spec={"seed": config["seed"], "observations": 100000, "dimension": 50},
    log:
        "logs/data/simulate_logistic.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/simulate_logistic.py"


rule subset:
    """Draw some of the rows of a logistic regression: a smaller version of the problem, marked as such."""
    input:
        data=f"{PROCESSED}/{{dataset}}.npz",
    output:
        data=f"{PROCESSED}/{{dataset}}_{{rows}}_rows.npz",
    params:
        code=code("scripts/subset.py"),
        spec=lambda wc: {"seed": config["seed"], "dataset": wc.dataset, "rows": int(wc.rows)},
    wildcard_constraints:
        dataset="[a-z0-9_]+",
        rows=r"[1-9]\d*",
    log:
        "logs/data/subset_{dataset}_{rows}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=10),
    script:
        "../scripts/subset.py"
