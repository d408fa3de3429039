"""Figures 1 to 3 of paper A: surrogates in one dimension, on a banana, on a Gaussian in 32 dimensions."""

EXPERIMENTS = config["experiments"]
FIG3_SURROGATES = EXPERIMENTS["fig3"]["surrogates"]
# Exact HMC is trained on nothing.
FIG3_POINTS = [("hmc", 0), *((method, size) for method in FIG3_SURROGATES for size in EXPERIMENTS["fig3"]["sizes"])]
NOT_SHARED = ("surrogates", "sizes", "repeats")
# Registry entries of each sampler's kernel and surrogate.
ENTRIES = {"hmc": [KERNELS["hmc"]]} | {
    sampler: [KERNELS[recipe(sampler).kernel], SURROGATES[recipe(sampler).surrogate]]
    for sampler in sorted({name for figure in EXPERIMENTS.values() for name in figure.get("surrogates", {})})
}
FIG1_ENTRIES = [SURROGATES[recipe(sampler).surrogate] for sampler in EXPERIMENTS["fig1"]["surrogates"]]
FIG2_ENTRIES = [*ENTRIES["hmc"], *ENTRIES["rns_hmc"]]


rule fig1_table:
    """Fit surrogates to few observations of a parabola."""
    input:
        published=[f"{RAW}/fig1-observations.json"] if EXPERIMENTS["fig1"]["published"] else [],
    output:
        points=f"{RESULTS}/tables/fig1_points.csv",
        curves=f"{RESULTS}/tables/fig1.csv",
        errors=f"{RESULTS}/tables/fig1_errors.csv",
    params:
        code=code("scripts/fig1_table.py", *FIG1_ENTRIES),
        spec={
            "seed": config["seed"],
            "entries": FIG1_ENTRIES,
            "settings": {key: value for key, value in EXPERIMENTS["fig1"].items() if key != "published"},
        },
    log:
        f"{LOGS}/experiments/fig1_table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/fig1_table.py"


rule fig1:
    """Draw Fig. 1 from its tables."""
    input:
        points=rules.fig1_table.output.points,
        curves=rules.fig1_table.output.curves,
    output:
        figure=report(
            f"{RESULTS}/figures/fig1.png",
            caption="../report/fig1.rst",
            category="Figures",
            labels={"figure": "fig1"},
        ),
        pdf=f"{RESULTS}/figures/fig1.pdf",
    params:
        code=code("scripts/fig1.py"),
        spec=EXPERIMENTS["fig1"],
    log:
        f"{LOGS}/experiments/fig1.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/fig1.py"


rule fig2_table:
    """Run HMC and RNS-HMC on a banana-shaped posterior."""
    output:
        field=f"{RESULTS}/tables/fig2_field.csv",
        trajectories=f"{RESULTS}/tables/fig2_trajectories.csv",
        acceptance=f"{RESULTS}/tables/fig2_acceptance.csv",
    params:
        code=code("scripts/fig2_table.py", *FIG2_ENTRIES),
        spec={
            "seed": config["seed"],
            "entries": FIG2_ENTRIES,
            "settings": {key: value for key, value in EXPERIMENTS["fig2"].items() if key != "surrogates"},
            "surrogate": EXPERIMENTS["fig2"]["surrogates"]["rns_hmc"],
        },
    log:
        f"{LOGS}/experiments/fig2_table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/fig2_table.py"


rule fig2:
    """Draw Fig. 2 from its tables."""
    input:
        field=rules.fig2_table.output.field,
        trajectories=rules.fig2_table.output.trajectories,
        acceptance=rules.fig2_table.output.acceptance,
    output:
        figure=report(
            f"{RESULTS}/figures/fig2.png",
            caption="../report/fig2.rst",
            category="Figures",
            labels={"figure": "fig2"},
        ),
        pdf=f"{RESULTS}/figures/fig2.pdf",
    params:
        code=code("scripts/fig2.py"),
        spec=EXPERIMENTS["fig2"],
    log:
        f"{LOGS}/experiments/fig2.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/fig2.py"


rule fig3_point:
    """Train and run one sampler with training sets of one size, all repeats."""
    output:
        point=f"{RESULTS}/experiments/fig3/{{method}}/n{{size}}.csv",
    params:
        code=lambda wc: code("scripts/fig3_point.py", *ENTRIES[wc.method]),
        spec=lambda wc: {
            "seed": config["seed"],
            "entries": ENTRIES[wc.method],
            "settings": {key: value for key, value in EXPERIMENTS["fig3"].items() if key not in NOT_SHARED},
            "point": {
                "sampler": wc.method,
                "size": int(wc.size),
                "repeats": EXPERIMENTS["fig3"]["repeats"],
                "settings": FIG3_SURROGATES.get(wc.method),
            },
        },
    wildcard_constraints:
        method="|".join(["hmc", *FIG3_SURROGATES]),
        size=r"\d+",
    log:
        f"{LOGS}/experiments/fig3/{{method}}/n{{size}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=60),
    script:
        "../scripts/fig3_point.py"


rule fig3_table:
    """Gather the points of Fig. 3."""
    input:
        points=[rules.fig3_point.output.point.format(method=method, size=size) for method, size in FIG3_POINTS],
    output:
        table=f"{RESULTS}/tables/fig3.csv",
    params:
        code=code("scripts/fig3_table.py"),
    log:
        f"{LOGS}/experiments/fig3_table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/fig3_table.py"


rule fig3:
    """Draw Fig. 3 from its table."""
    input:
        table=rules.fig3_table.output.table,
    output:
        figure=report(
            f"{RESULTS}/figures/fig3.png",
            caption="../report/fig3.rst",
            category="Figures",
            labels={"figure": "fig3"},
        ),
        pdf=f"{RESULTS}/figures/fig3.pdf",
    params:
        code=code("scripts/fig3.py"),
        spec=EXPERIMENTS["fig3"],
    log:
        f"{LOGS}/experiments/fig3.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/fig3.py"


EXPERIMENT_OUTPUTS = [*rules.fig1.output, rules.fig1_table.output.errors, *rules.fig2.output, *rules.fig3.output]
