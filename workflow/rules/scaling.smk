"""How independent solves, and a likelihood whose rows are shared out, get faster with more MPI ranks."""

SCALING = config["scaling"]
SCALING_RANKS = SCALING["ranks"]


rule scaling_ensemble:
    """Make a training set from solves at many states, and check its gradients by differences, on so many ranks."""
    input:
        data=data_of,
        forms=target_inputs,
    output:
        evaluations=f"{RESULTS}/scaling/ensemble/{{problem}}/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/scaling/ensemble/{{problem}}/ranks{{ranks}}.csv",
    params:
        code=code("scripts/scaling_ensemble.py", TARGETS["elliptic"]),
        spec=lambda wc: json.dumps(
            {
                "seed": config["seed"],
                "problem": wc.problem,
                "target": problem(wc)["target"],
                "repeats": SCALING["repeats"],
                **SCALING["ensemble"],
            }
        ),
    wildcard_constraints:
        problem="|".join(ELLIPTIC) or "none",
        ranks=r"\d+",
    log:
        f"{LOGS}/scaling/ensemble/{{problem}}/ranks{{ranks}}.log",
    conda:
        "../../environment.yml"
    # Not its ranks alone: what is measured has the machine to itself.
    threads: workflow.cores
    resources:
        mpi=launcher,
        tasks=ranks,
        timing=1,
        **demand(mem_mb=2000, runtime=30),
    shell:
        on_ranks(
            "scaling_ensemble.py --spec {params.spec:q} --data {input.data}"
            " --output {output.evaluations} --seconds {output.seconds}"
        )


rule scaling_logistic:
    """Simulate a logistic regression whose rows are shared among ranks, evaluate it and run a chain on it."""
    output:
        results=f"{RESULTS}/scaling/logistic/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/scaling/logistic/ranks{{ranks}}.csv",
    params:
        code=code("scripts/scaling_logistic.py", KERNELS["hmc"]),
        spec=json.dumps({"seed": config["seed"], **SCALING["logistic"]}),
    wildcard_constraints:
        ranks=r"\d+",
    log:
        f"{LOGS}/scaling/logistic/ranks{{ranks}}.log",
    conda:
        "../../environment.yml"
    threads: workflow.cores
    resources:
        mpi=launcher,
        tasks=ranks,
        timing=1,
        # Twice what the rows take: they are copied into blocks.
        **demand(
            mem_mb=1000 + 20 * SCALING["logistic"]["rows"] * SCALING["logistic"]["dimension"] // 1_000_000, runtime=30
        ),
    shell:
        on_ranks(
            "scaling_logistic.py --spec {params.spec:q} --output {output.results} --seconds {output.seconds}"
        )


rule scaling_table:
    """Check that results do not depend on the number of ranks, and gather the seconds."""
    input:
        logistic=expand(rules.scaling_logistic.output.results, ranks=SCALING_RANKS),
        ensembles=expand(rules.scaling_ensemble.output.evaluations, problem=ELLIPTIC, ranks=SCALING_RANKS),
        seconds=[
            *expand(rules.scaling_ensemble.output.seconds, problem=ELLIPTIC, ranks=SCALING_RANKS),
            *expand(rules.scaling_logistic.output.seconds, ranks=SCALING_RANKS),
        ],
    output:
        table=f"{RESULTS}/tables/scaling.csv",
        agreement=f"{RESULTS}/tables/scaling_agreement.csv",
        gradients=f"{RESULTS}/tables/gradient_check.csv",
    params:
        code=code("scripts/scaling_table.py"),
        spec={
            "seed": config["seed"],
            "problems": ELLIPTIC,
            "ranks": SCALING_RANKS,
            "checked": SCALING["ensemble"]["checked"],
        },
    log:
        f"{LOGS}/scaling/table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/scaling_table.py"


rule scaling:
    """Draw seconds and speed-up over the number of ranks."""
    input:
        table=rules.scaling_table.output.table,
    output:
        figure=report(
            f"{RESULTS}/figures/scaling.png",
            caption="../report/scaling.rst",
            category="Figures",
            labels={"figure": "scaling"},
        ),
        pdf=f"{RESULTS}/figures/scaling.pdf",
    params:
        code=code("scripts/scaling.py"),
    log:
        f"{LOGS}/scaling/figure.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/scaling.py"


# Without numbers of ranks the study is left out, as on a machine without MPI.
SCALING_OUTPUTS = [*rules.scaling_table.output, *rules.scaling.output] if SCALING_RANKS else []
