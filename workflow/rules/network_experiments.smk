"""Figures 2 and 3 and Table 4 of paper B: networks of gradients on a banana and on Gaussians."""

NNG_TABLE4 = EXPERIMENTS["nng_table4"]
NNG_METHODS = ["hmc", *NNG_TABLE4["surrogates"]]
NNG_ENTRIES = [*ENTRIES["hmc"], *ENTRIES["nng_hmc"]]


rule nng_fig2_table:
    """Run HMC and NNg-HMC on a banana-shaped distribution."""
    output:
        field=f"{RESULTS}/tables/nng_fig2_field.csv",
        draws=f"{RESULTS}/tables/nng_fig2_draws.csv",
        trajectories=f"{RESULTS}/tables/nng_fig2_trajectories.csv",
        acceptance=f"{RESULTS}/tables/nng_fig2_acceptance.csv",
    params:
        code=code("scripts/nng_fig2_table.py", *NNG_ENTRIES),
        spec=network_experiment("nng_fig2"),
    log:
        f"{LOGS}/experiments/nng_fig2_table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/nng_fig2_table.py"


rule nng_fig2:
    """Draw paper B's Fig. 2 from its tables."""
    input:
        field=rules.nng_fig2_table.output.field,
        draws=rules.nng_fig2_table.output.draws,
        trajectories=rules.nng_fig2_table.output.trajectories,
        acceptance=rules.nng_fig2_table.output.acceptance,
    output:
        figure=report(
            f"{RESULTS}/figures/nng_fig2.png",
            caption="../report/nng_fig2.rst",
            category="Figures",
            labels={"figure": "nng_fig2"},
        ),
        pdf=f"{RESULTS}/figures/nng_fig2.pdf",
    params:
        code=code("scripts/nng_fig2.py"),
        spec=EXPERIMENTS["nng_fig2"],
    log:
        f"{LOGS}/experiments/nng_fig2.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/nng_fig2.py"


rule nng_fig3_table:
    """Run HMC and NNg-HMC on an ill-conditioned Gaussian."""
    output:
        draws=f"{RESULTS}/tables/nng_fig3_draws.csv",
        acceptance=f"{RESULTS}/tables/nng_fig3_acceptance.csv",
    params:
        code=code("scripts/nng_fig3_table.py", *NNG_ENTRIES),
        spec=network_experiment("nng_fig3"),
    log:
        f"{LOGS}/experiments/nng_fig3_table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=20),
    script:
        "../scripts/nng_fig3_table.py"


rule nng_fig3:
    """Draw paper B's Fig. 3 from its tables."""
    input:
        draws=rules.nng_fig3_table.output.draws,
        acceptance=rules.nng_fig3_table.output.acceptance,
    output:
        figure=report(
            f"{RESULTS}/figures/nng_fig3.png",
            caption="../report/nng_fig3.rst",
            category="Figures",
            labels={"figure": "nng_fig3"},
        ),
        pdf=f"{RESULTS}/figures/nng_fig3.pdf",
    params:
        code=code("scripts/nng_fig3.py"),
        spec=EXPERIMENTS["nng_fig3"],
    log:
        f"{LOGS}/experiments/nng_fig3.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/nng_fig3.py"


rule nng_table4_point:
    """Train and run one sampler in one dimension, with training sets of every size."""
    output:
        point=f"{RESULTS}/experiments/nng_table4/{{method}}/d{{d}}.csv",
    params:
        code=lambda wc: code("scripts/nng_table4_point.py", *ENTRIES[wc.method]),
        spec=lambda wc: {
            "seed": config["seed"],
            "entries": ENTRIES[wc.method],
            "settings": {key: NNG_TABLE4[key] for key in ("step_size", "n_steps", "iterations", "repeats")},
            "point": {
                "method": wc.method,
                "d": int(wc.d),
                # Exact HMC is trained on nothing.
                "sizes": NNG_TABLE4["sizes"] if wc.method in NNG_TABLE4["surrogates"] else [0],
                "settings": NNG_TABLE4["surrogates"].get(wc.method),
            },
        },
    wildcard_constraints:
        method="|".join(NNG_METHODS),
        d=r"\d+",
    log:
        f"{LOGS}/experiments/nng_table4/{{method}}/d{{d}}.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=2000, runtime=60),
    script:
        "../scripts/nng_table4_point.py"


rule nng_table4:
    """Gather paper B's Table 4."""
    input:
        points=expand(rules.nng_table4_point.output.point, method=NNG_METHODS, d=NNG_TABLE4["dimensions"]),
    output:
        table=report(
            f"{RESULTS}/tables/nng_table4.csv",
            caption="../report/nng_table4.rst",
            category="Tables",
            labels={"table": "B 4"},
        ),
    params:
        code=code("scripts/nng_table4.py"),
        spec=NNG_TABLE4,
    log:
        f"{LOGS}/experiments/nng_table4.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/nng_table4.py"


NETWORK_EXPERIMENT_OUTPUTS = [
    *rules.nng_fig2.output,
    *rules.nng_fig2_table.output,
    *rules.nng_fig3.output,
    *rules.nng_fig3_table.output,
    rules.nng_table4.output.table,
]
