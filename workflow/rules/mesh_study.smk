"""The elliptic problem on finer and finer meshes: error, price, and what RNS-HMC gains as the model gets dearer."""

MESH_STUDY = config["mesh_study"]
# The problem whose chains, effective sample sizes and surrogate serve on every mesh.
STUDIED = "pde"
MESH_POINTS = [
    (cells, solver, ranks)
    for solver in ("direct", "multigrid")
    for cells in MESH_STUDY[solver]
    for ranks in MESH_STUDY["ranks"]
]
MESH_SAMPLERS = ("hmc", "rns_hmc")


rule mesh_study_point:
    """Solve the elliptic problem on one mesh, on so many ranks; time evaluations, and iterations of both samplers."""
    input:
        data=f"{RESULTS}/forward/{STUDIED}.npz",
        forms=rules.warm_forms.output.stamp,
        chain=f"{RESULTS}/chains/{STUDIED}/hmc/{CHAINS[0]}.nc",
        surrogate=lambda wc: "{}/surrogates/{}/{}/{}.npz".format(
            RESULTS, STUDIED, config["problems"][STUDIED]["samplers"]["rns_hmc"]["surrogate"], CHAINS[0]
        ),
    output:
        solutions=f"{RESULTS}/mesh_study/{{solver}}/cells{{cells}}/ranks{{ranks}}.npz",
        seconds=f"{RESULTS}/mesh_study/{{solver}}/cells{{cells}}/ranks{{ranks}}.csv",
    params:
        code=code("scripts/mesh_study_point.py", TARGETS["elliptic"], KERNELS["hmc"], SURROGATES["random_network"]),
        spec=lambda wc: json.dumps(
            {
                **{key: MESH_STUDY[key] for key in ("states", "repeats", "work")},
                "seed": config["seed"],
                "model": {
                    **target_settings(config["problems"][STUDIED]["target"]),
                    "cells": int(wc.cells),
                    "solver": wc.solver,
                },
                "samplers": {
                    name: {key: config["problems"][STUDIED]["samplers"][name][key] for key in ("step_size", "n_steps")}
                    for name in MESH_SAMPLERS
                },
            }
        ),
    wildcard_constraints:
        solver="direct|multigrid",
        cells=r"\d+",
        ranks=r"\d+",
    log:
        f"{LOGS}/mesh_study/{{solver}}/cells{{cells}}/ranks{{ranks}}.log",
    conda:
        "../../environment.yml"
    # Not its ranks alone: what is measured has the machine to itself.
    threads: workflow.cores
    resources:
        mpi=launcher,
        tasks=ranks,
        timing=1,
        runtime=lambda wildcards, attempt: 30 * attempt,
        # Two kB for each cell.
        mem_mb=lambda wildcards, attempt: attempt * (1000 + int(wildcards.cells) ** 2 // 500),
    shell:
        on_ranks(
            "mesh_study_point.py --spec {params.spec:q} --data {input.data} --chain {input.chain}"
            " --surrogate {input.surrogate} --output {output.solutions} --seconds {output.seconds}"
        )


rule mesh_study_table:
    """Check that numbers of ranks agree on every mesh, and gather errors, seconds and gains."""
    input:
        solutions=[
            rules.mesh_study_point.output.solutions.format(cells=cells, solver=solver, ranks=ranks)
            for cells, solver, ranks in MESH_POINTS
        ],
        seconds=[
            rules.mesh_study_point.output.seconds.format(cells=cells, solver=solver, ranks=ranks)
            for cells, solver, ranks in MESH_POINTS
        ],
        metrics=[f"{RESULTS}/metrics/{STUDIED}.json"],
    output:
        table=f"{RESULTS}/tables/mesh_study.csv",
    params:
        code=code("scripts/mesh_study_table.py"),
        spec={"points": MESH_POINTS},
    log:
        f"{LOGS}/mesh_study/table.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/mesh_study_table.py"


rule mesh_study:
    """Draw the mesh study from its table."""
    input:
        table=rules.mesh_study_table.output.table,
    output:
        figure=report(
            f"{RESULTS}/figures/mesh_study.png",
            caption="../report/mesh_study.rst",
            category="Figures",
            labels={"figure": "mesh_study"},
        ),
        pdf=f"{RESULTS}/figures/mesh_study.pdf",
    params:
        code=code("scripts/mesh_study.py"),
        spec={"states": MESH_STUDY["states"]},
    log:
        f"{LOGS}/mesh_study/figure.log",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        **demand(mem_mb=1000, runtime=10),
    script:
        "../scripts/mesh_study.py"


MESH_STUDY_OUTPUTS = [*rules.mesh_study.output, *rules.mesh_study_table.output] if STUDIED in PAGED else []
